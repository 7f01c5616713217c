// SPDX-License-Identifier: MIT

import CSQLite
import Glibc

/// The state of a cache directory, determined without creating or repairing anything.
package struct DiskCacheInspection: Sendable, Hashable {
    /// The state of the index.
    package enum Index: Sendable, Hashable {
        /// There's no index, so the cache creates it.
        case missing
        /// The index passes the check of SQLite.
        case sound(version: Int)
        /// The index belongs to another version of WebImage, so the cache upgrades or rebuilds it.
        case otherVersion(Int)
        /// The index is corrupt or isn't an index, so the cache rebuilds it.
        case damaged(String)
        /// The index can't be checked, for example because another process has locked it.
        case unchecked(String)
    }

    /// The properties of the directory, or `nil` if it doesn't exist.
    package struct Directory: Sendable, Hashable {
        /// Whether the path is a symbolic link.
        package var isLink = false
        /// Whether the path, after following links, is a directory.
        package var isDirectory = true
        package var owner: UInt32 = 0
        /// The nine permission bits and the three special bits.
        package var permissions: UInt32 = 0o700
        /// The names of the cache's own files and directories that are symbolic links or special files, or
        /// that belong to a user other than that of the cache and root.
        package var foreignNames: [String] = []
        /// The index.
        package var index = Index.missing
        /// The number of entries according to the index, or `nil` if it's unknown.
        package var entryCount: Int?
        /// The number of bytes of the entries according to the index, or `nil` if it's unknown.
        package var size: Int?

        package init() {}
    }

    /// The absolute path of the directory.
    package var path: String
    /// The directory, or `nil` if it doesn't exist.
    package var directory: Directory?
    /// The reason why the directory can't be inspected, or `nil`.
    package var failure: String?
    /// Whether the directory, or the nearest existing parent, is on a network file system.
    package var isRemote = false
    /// The free bytes of the file system, or `nil` if they're unknown.
    package var freeBytes: Int?
    /// The total bytes of the file system, or `nil` if they're unknown.
    package var totalBytes: Int?

    /// The version of the index that this build reads and writes.
    package static let indexVersion = CacheIndex.version
    /// The version of SQLite, such as `3.40.1`.
    package static var libraryVersion: String { String(cString: sqlite3_libversion()) }

    package init(path: String) { self.path = path }

    /// Inspects the directory at an absolute path, which `user` should own. Blocks.
    package init(inspecting path: String, user: UInt32 = geteuid()) {
        self.init(path: path)
        let files = SystemFileSystem()
        var existing = path
        while access(existing, F_OK) != 0, let slash = existing.lastIndex(of: "/"), slash > existing.startIndex {
            existing = String(existing[..<slash])
        }
        isRemote = (try? files.isRemote(existing)) ?? false
        if let space = try? files.freeSpace(at: existing) {
            freeBytes = space.free
            totalBytes = space.total
        }
        do throws(SystemCallError) {
            directory = try Self.directory(path, files, user)
        } catch {
            guard error.code != ENOENT else { return }
            failure = "\(error.operation): \(String(cString: strerror(error.code)))"
        }
    }

    private static func directory(
        _ path: String, _ files: SystemFileSystem, _ user: UInt32
    ) throws(SystemCallError) -> Directory {
        var directory = Directory()
        directory.isLink = try files.status(at: path).kind == .link
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw SystemCallError("stat", path, errno) }
        directory.isDirectory = facts.st_mode & S_IFMT == S_IFDIR
        directory.owner = facts.st_uid
        directory.permissions = facts.st_mode & 0o7777
        guard directory.isDirectory else { return directory }
        // The cache doesn't follow links in its directory, but the directory itself may be one.
        guard let resolved = realpath(path, nil) else { throw SystemCallError("realpath", path, errno) }
        defer { free(resolved) }
        let path = String(cString: resolved)
        let layout = CacheLayout(root: path)
        let isPrivate = [user, 0].contains(directory.owner) && directory.permissions & 0o022 == 0
        var isIndexTrusted = true
        for name in try files.names(in: path).sorted() {
            guard let status = try? files.status(at: "\(path)/\(name)") else { continue }
            // The administrator can read and change everything anyway.
            let isForeign = status.owner != user && status.owner != 0
            guard status.kind == .link || status.kind == .other || isForeign else { continue }
            directory.foreignNames.append(name)
            if name.hasPrefix("index.sqlite") { isIndexTrusted = false }
        }
        // Don't let SQLite read a database that another user may have prepared.
        guard isPrivate, isIndexTrusted else {
            let reason = isPrivate ? "it’s a link or belongs to another user" : "other users can change the directory"
            directory.index = .unchecked(reason)
            return directory
        }
        inspectIndex(layout.index, files, &directory)
        return directory
    }

    private static func inspectIndex(_ path: String, _ files: SystemFileSystem, _ directory: inout Directory) {
        guard let status = try? files.status(at: path), status.kind == .file else { return }
        do throws(IndexError) {
            let index = try CacheIndex(reading: path)
            let application = try index.connection.number("PRAGMA application_id") ?? 0
            let version = try index.connection.number("PRAGMA user_version") ?? 0
            guard application == CacheIndex.applicationID else {
                directory.index = .damaged("the application ID is \(application)")
                return
            }
            guard try index.isSound() else {
                directory.index = .damaged("the integrity check of SQLite failed")
                return
            }
            guard version == CacheIndex.version else {
                directory.index = .otherVersion(version)
                return
            }
            let totals = try index.totals()
            directory.entryCount = totals.entries
            directory.size = totals.bytes
            directory.index = .sound(version: version)
        } catch {
            directory.index = error.isDamage ? .damaged(error.message) : .unchecked(error.message)
        }
    }
}
