// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency

/// How a ``DiskCache`` behaves.
public struct DiskCacheConfiguration: Sendable {
    /// What survives a loss of power.
    public enum Durability: Sendable, Hashable {
        /// Nothing is forced out; a checksum finds what was torn. Fifty times faster than the others.
        case none
        /// The bytes of an entry are on disk before its name is.
        case data
        /// Bytes, name and directory are on disk before the entry counts as written.
        case full
    }

    /// Absolute path of the cache's own folder; made with mode 0700 where it is missing.
    public var directory: String
    /// Bytes all entries may occupy on disk. Default 512 MiB.
    public var sizeLimit: Int
    /// Seconds after which an entry that was neither stored nor revalidated is deleted. Default 30 days.
    public var maxAge: Double
    /// Share of the file system that is left free, 0…1. Default 0.05.
    public var minFreeFraction: Double
    /// Bytes one entry may have; default a tenth of `sizeLimit`, at most 32 MiB.
    public var entryLimit: Int
    /// What survives a loss of power. Default `.none`.
    public var durability: Durability
    /// Entries that may wait to be written, with their bytes. Default 1,024 and 64 MiB; beyond, the newest is dropped.
    public var stagingLimit: (entries: Int, bytes: Int)
    /// Absolute paths of folders of entries that came with the application, as ``DiskCache/export(to:as:where:progress:)``
    /// or another cache makes them. What the cache itself does not have is looked for there, in this order. They are
    /// never written, limits do not count for them, and they may belong to anybody; links in them are not followed.
    /// Entries in them cannot be removed, but one stored under the same key takes precedence. Default none.
    public var extraDirectories: [String] = []
    /// Where the time comes from.
    package var clock = TimeSource.system
    package var fileSystem: any FileSystem

    /// A configuration with the defaults.
    public init(
        directory: String, sizeLimit: Int = 512 << 20, maxAge: Double = 30 * 86_400, minFreeFraction: Double = 0.05,
        entryLimit: Int? = nil, durability: Durability = .none
    ) {
        self.directory = directory
        self.sizeLimit = sizeLimit
        self.maxAge = maxAge
        self.minFreeFraction = minFreeFraction
        self.entryLimit = entryLimit ?? min(sizeLimit / 10, 32 << 20)
        self.durability = durability
        self.stagingLimit = (1_024, 64 << 20)
        self.fileSystem = SystemFileSystem()
    }

    /// Where `application` keeps its pictures: `$CACHE_DIRECTORY/webimage` under systemd (systemd.exec, first of the
    /// list), else `$XDG_CACHE_HOME/<application>/webimage`, else `~/.cache/<application>/webimage`. Values that
    /// are not absolute paths are ignored (XDG Base Directory Specification 0.8).
    public static func defaultDirectory(
        application: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        let safe = application.filter { $0 != "/" && $0 != "\0" }
        let name = ["", ".", ".."].contains(safe) ? "webimage" : safe
        func absolute(_ variable: String) -> String? {
            environment[variable]?.split(separator: ":").first.map(String.init).flatMap {
                $0.hasPrefix("/") ? $0 : nil
            }
        }
        if let service = absolute("CACHE_DIRECTORY") { return "\(service)/webimage" }
        if let cache = environment["XDG_CACHE_HOME"], cache.hasPrefix("/") { return "\(cache)/\(name)/webimage" }
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
        return "\(home)/.cache/\(name)/webimage"
    }
}
