// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency

extension DiskCache {
    /// The configuration of a ``DiskCache``.
    public struct Configuration: Sendable {
        /// The data that survives a power failure.
        public enum Durability: Sendable, Hashable {
            /// Data isn't flushed to disk. Checksums detect incompletely written entries. This option is 50 times
            /// faster than the others.
            case none
            /// The data of an entry is on disk before its file name is.
            case data
            /// The data, the file name, and the directory are on disk before the entry counts as written.
            case full
        }

        /// The absolute path of a directory that only the cache uses.
        ///
        /// If the directory doesn't exist, the cache creates it with mode 0700.
        public var directory: String
        /// The maximum number of bytes that all entries may occupy on disk. The default is 512 MiB.
        public var sizeLimit: Int
        /// The number of seconds after which an entry that was neither stored nor revalidated is deleted. The default
        /// is 30 days.
        public var maxAge: Double
        /// The fraction of the file system that remains free, from 0 to 1. The default is 0.05.
        public var minimumFreeFraction: Double
        /// The maximum size of one entry in bytes. The default is one tenth of `sizeLimit`, up to 32 MiB.
        public var entrySizeLimit: Int
        /// The data that survives a power failure. The default is ``DiskCache/Configuration/Durability/none``.
        public var durability: Durability
        /// The maximum number of entries that wait to be written, and their maximum total size in bytes.
        ///
        /// The default is 1,024 entries and 64 MiB. Beyond these limits, new entries are dropped.
        public var stagingLimit: (entries: Int, bytes: Int)
        /// The absolute paths of read-only directories with entries, for example entries that are shipped with an app.
        ///
        /// Use directories that ``DiskCache/exportEntries(to:where:)`` or another cache created. If the cache
        /// itself doesn't have an entry, it searches these directories in order. It never writes to them and doesn't
        /// count them toward its limits. Any user may own the directories, and the cache doesn't follow symbolic links
        /// in them. You can't remove their entries, but an entry stored under the same key takes precedence. The
        /// default is an empty array.
        public var readOnlyDirectories: [String] = []
        /// The clock of the cache.
        package var clock = TimeSource.system
        package var fileSystem: any FileSystem

        /// Creates a configuration with the default values.
        public init(
            directory: String, sizeLimit: Int = 512 << 20, maxAge: Double = 30 * 86_400,
            minimumFreeFraction: Double = 0.05,
            entrySizeLimit: Int? = nil, durability: Durability = .none
        ) {
            self.directory = directory
            self.sizeLimit = sizeLimit
            self.maxAge = maxAge
            self.minimumFreeFraction = minimumFreeFraction
            self.entrySizeLimit = entrySizeLimit ?? min(sizeLimit / 10, 32 << 20)
            self.durability = durability
            self.stagingLimit = (1_024, 64 << 20)
            self.fileSystem = SystemFileSystem()
        }

        /// Returns the default directory for the images of an app.
        ///
        /// The directory is `$CACHE_DIRECTORY/webimage` under systemd (the first path of the list, see systemd.exec).
        /// Otherwise, it's `$XDG_CACHE_HOME/<application>/webimage`, or `~/.cache/<application>/webimage` if that
        /// variable isn't set. Values that aren't absolute paths are ignored (XDG Base Directory Specification 0.8).
        public static func defaultDirectory(
            for application: String, environment: [String: String] = ProcessInfo.processInfo.environment
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
}
