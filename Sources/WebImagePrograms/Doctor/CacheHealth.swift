// SPDX-License-Identifier: MIT

import Glibc
import WebImageCommand
import WebImageStore

/// The checks of a cache directory.
package enum CacheHealth {
    /// Returns the checks of a directory that should belong to the effective user of the process.
    package static func checks(_ inspection: DiskCacheInspection, user: UInt32) -> [DoctorReport.Check] {
        var checks = [directory(inspection, user: user)]
        if let directory = inspection.directory, directory.isDirectory {
            checks.append(permissions(directory, inspection.path, user: user))
            checks.append(links(directory, inspection.path))
            checks.append(index(directory))
        }
        checks.append(fileSystem(inspection))
        checks.append(freeSpace(inspection))
        return checks
    }

    private static func directory(_ inspection: DiskCacheInspection, user: UInt32) -> DoctorReport.Check {
        if let failure = inspection.failure {
            return .init(
                "directory", .note, "directory", "\(inspection.path) can’t be inspected: \(failure).",
                remedy: "Run the command as the user of the cache.")
        }
        guard let directory = inspection.directory else {
            return .init("directory", .ok, "directory", "\(inspection.path) doesn’t exist yet.")
        }
        guard directory.isDirectory else {
            return .init(
                "directory", .unsafe, "directory", "\(inspection.path) isn’t a directory.",
                remedy: "Remove the file, or select another directory with --cache-dir.")
        }
        guard directory.isLink else { return .init("directory", .ok, "directory", inspection.path) }
        return .init(
            "directory", .unsafe, "directory", "\(inspection.path) is a symbolic link, which the cache rejects.",
            remedy: "Use the path of the directory itself, so that no one else can redirect it.")
    }

    private static func permissions(
        _ directory: DiskCacheInspection.Directory, _ path: String, user: UInt32
    ) -> DoctorReport.Check {
        let mode = String(directory.permissions, radix: 8)
        let text = "owner \(directory.owner), mode \(mode)"
        // The administrator can read and change everything anyway.
        if directory.owner != user, directory.owner != 0 {
            return .init(
                "permissions", .unsafe, "permissions", "\(text): the directory belongs to another user.",
                remedy: "Select a directory of user \(user) with --cache-dir.")
        }
        if directory.permissions & 0o022 != 0 {
            return .init(
                "permissions", .unsafe, "permissions", "\(text): other users can replace images.",
                remedy: "Run chmod 700 \(path), then webimage cache clear.")
        }
        guard directory.permissions & 0o055 == 0 else {
            return .init(
                "permissions", .note, "permissions", "\(text): other users can read images and URLs.",
                remedy: "Run chmod 700 \(path).")
        }
        return .init("permissions", .ok, "permissions", text)
    }

    private static func links(_ directory: DiskCacheInspection.Directory, _ path: String) -> DoctorReport.Check {
        let names = directory.foreignNames
        guard !names.isEmpty else {
            return .init("links", .ok, "links", "All files are regular files and directories of their user.")
        }
        let list = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", and \(names.count - 5) more" : "")
        return .init(
            "links", .unsafe, "links",
            "\(path) contains links, special files, or files of other users: \(list).",
            remedy: "Remove the directory. The cache creates it again.")
    }

    private static func index(_ directory: DiskCacheInspection.Directory) -> DoctorReport.Check {
        switch directory.index {
        case .missing: return .init("index", .ok, "index", "There’s no index yet.")
        case .sound(let version):
            let size = directory.size.map { ", \(NumberFormatting.bytes($0))" } ?? ""
            let entries = directory.entryCount.map { ", \(NumberFormatting.entries($0))\(size)" } ?? ""
            return .init("index", .ok, "index", "Version \(version)\(entries). The integrity check succeeded.")
        case .otherVersion(let version):
            return .init(
                "index", .note, "index",
                "Version \(version), but this build uses version \(DiskCacheInspection.indexVersion).",
                remedy: "None is necessary. The cache upgrades or rebuilds the index when it’s opened.")
        case .damaged(let reason):
            return .init(
                "index", .note, "index", "The index is corrupt: \(reason).",
                remedy: "Run webimage cache verify. The cache then rebuilds the index from the files.")
        case .unchecked(let reason):
            return .init(
                "index", .note, "index", "The index wasn’t checked: \(reason).",
                remedy: "Resolve the other findings, and run the command again when no other process uses the cache.")
        }
    }

    private static func fileSystem(_ inspection: DiskCacheInspection) -> DoctorReport.Check {
        guard inspection.isRemote else { return .init("fileSystem", .ok, "file system", "local") }
        return .init(
            "fileSystem", .note, "file system",
            "The directory is on a network file system, where locks are unreliable. The index is kept in memory.",
            remedy: "Select a local directory with --cache-dir or XDG_CACHE_HOME.")
    }

    private static func freeSpace(_ inspection: DiskCacheInspection) -> DoctorReport.Check {
        guard let free = inspection.freeBytes, let total = inspection.totalBytes else {
            return .init("freeSpace", .note, "free space", "The free space is unknown.")
        }
        let text = "\(NumberFormatting.bytes(free)) of \(NumberFormatting.bytes(total))"
        let fraction = DiskCache.Configuration(path: inspection.path).minimumFreeFraction
        guard Double(free) < Double(total) * fraction else { return .init("freeSpace", .ok, "free space", text) }
        return .init(
            "freeSpace", .note, "free space",
            "\(text). The cache stores nothing below \(NumberFormatting.decimal(fraction * 100, digits: 0))%.",
            remedy: "Free space on the file system, or select another directory with --cache-dir.")
    }
}
