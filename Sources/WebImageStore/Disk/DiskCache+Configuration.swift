// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency

extension DiskCache {
    /// The location and the limits of a ``DiskCache``.
    public struct Configuration: Sendable, Hashable {
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

        /// The file URL of a directory that only the cache uses.
        ///
        /// If the directory doesn't exist, the cache creates it with mode 0700.
        ///
        /// The directory and its contents must belong to the user of the process or to root, other users must not be
        /// able to write to them, and symbolic links in it aren't followed. If it belongs to root and the process can't
        /// write to it, the cache only serves reads.
        public var directory: URL
        /// A Boolean value that indicates whether several users share ``directory``. The default is `false`.
        ///
        /// If it's `true`, the group may write to the directory, and all users may write to it if the sticky bit is
        /// set. The entries of each user are in a subdirectory that only this user can access.
        public var isShared = false
        /// The maximum number of bytes that all entries may occupy on disk. The default is 512 MiB.
        public var sizeLimit = 512 << 20
        /// The maximum number of entries. The default is unlimited.
        public var countLimit = Int.max
        /// The maximum size of one entry in bytes. The default is `nil`, which means one tenth of ``sizeLimit``, up to
        /// 32 MiB.
        public var entrySizeLimit: Int?
        /// The age after which an entry is deleted. The default is 30 days.
        ///
        /// ``expiration`` decides how the age is counted.
        public var maxAge = Duration.seconds(30 * 86_400)
        /// The event from which the age of an entry is counted. The default is ``CacheExpiration/sinceStored``, so an
        /// entry that was neither stored nor revalidated for ``maxAge`` is deleted.
        ///
        /// The index contains the times of the last uses. If it's lost, the ages are counted from the store dates.
        public var expiration = CacheExpiration.sinceStored
        /// The fraction of the file system that remains free, from 0 to 1. The default is 0.05.
        public var minimumFreeFraction = 0.05
        /// The data that survives a power failure. The default is ``DiskCache/Configuration/Durability/none``.
        public var durability = Durability.none
        /// The maximum total size, in bytes, of the entries that wait to be written. The default is 64 MiB.
        ///
        /// Beyond this limit, or if 1,024 entries are waiting, new entries are dropped.
        public var maxPendingBytes = 64 << 20
        /// The file URLs of read-only directories with entries, for example entries that are shipped with an app.
        ///
        /// Use directories that ``DiskCache/exportEntries(to:decrypting:where:)`` or another cache created. If the cache itself
        /// doesn't have an entry, it searches these directories in order. It never writes to them and doesn't count
        /// them toward its limits. Any user may own the directories, and the cache doesn't follow symbolic links in
        /// them. You can't remove their entries, but an entry stored under the same key takes precedence. The default
        /// is an empty array.
        public var readOnlyDirectories: [URL] = []
        /// The key that encrypts all files of the cache. The default is `nil`, which means that the files aren't
        /// encrypted.
        ///
        /// With a key, file names, URLs, header fields, tags, custom values, and images are encrypted and authenticated
        /// (AES-256-GCM and HMAC-SHA-256). A modified entry is a cache miss. The number of entries, their sizes, and the
        /// times of their uses aren't secret.
        ///
        /// The entries of each key are in a subdirectory of ``directory``, and each of them has its own limits. Opening
        /// the cache with a key deletes the unencrypted entries in the directory. Entries of other keys are deleted when
        /// they weren't used for ``maxAge``. Both happen only if no other process uses these entries.
        ///
        /// The entries of ``readOnlyDirectories`` aren't encrypted.
        public var encryptionKey: EncryptionKey?
        /// The maximum number of entries that wait to be written.
        package var maxPendingEntries = 1_024
        /// The number of seconds for which a refreshed index proves that an entry doesn't exist. Afterward, lookups also
        /// check the files of entries that aren't in the index, because another process may have stored them.
        ///
        /// Together with the delay before other processes change the index, it's less than one second.
        package var refreshInterval = 0.5
        /// The clock of the cache.
        package var clock = TimeSource.system
        package var fileSystem: any FileSystem = SystemFileSystem()

        /// Creates a configuration with the default limits.
        ///
        /// - Parameter directory: The file URL of the directory. The default is `nil`, which means
        ///   ``defaultDirectory(for:)`` for the name of the process.
        public init(directory: URL? = nil) {
            self.directory = directory ?? Self.defaultDirectory(for: ProcessInfo.processInfo.processName)
        }

        /// Creates a configuration for the directory at a path, which is absolute or relative to the working directory.
        package init(path: String, sizeLimit: Int = 512 << 20, minimumFreeFraction: Double = 0.05) {
            directory = URL(filePath: path, directoryHint: .isDirectory)
            self.sizeLimit = sizeLimit
            self.minimumFreeFraction = minimumFreeFraction
        }

        /// Returns the default cache directory of an application.
        ///
        /// The directory is `$CACHE_DIRECTORY/webimage` under systemd (the first path of the list, see systemd.exec).
        /// Otherwise, it's `$XDG_CACHE_HOME/<application>/webimage`, or `~/.cache/<application>/webimage` if that
        /// variable isn't set. Values that aren't absolute paths are ignored (XDG Base Directory Specification 0.8).
        public static func defaultDirectory(for applicationName: String) -> URL {
            defaultDirectory(for: applicationName, environment: ProcessInfo.processInfo.environment)
        }

        /// Returns the default cache directory of an application in an environment.
        package static func defaultDirectory(for application: String, environment: [String: String]) -> URL {
            let safe = application.filter { $0 != "/" && $0 != "\0" }
            let name = ["", ".", ".."].contains(safe) ? "webimage" : safe
            func absolute(_ variable: String) -> String? {
                environment[variable]?.split(separator: ":").first.map(String.init).flatMap {
                    $0.hasPrefix("/") ? $0 : nil
                }
            }
            func directory(_ path: String) -> URL { URL(filePath: path, directoryHint: .isDirectory) }
            if let service = absolute("CACHE_DIRECTORY") { return directory("\(service)/webimage") }
            if let cache = environment["XDG_CACHE_HOME"], cache.hasPrefix("/") {
                return directory("\(cache)/\(name)/webimage")
            }
            let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
            return directory("\(home)/.cache/\(name)/webimage")
        }

        /// Returns a Boolean value that indicates whether the locations and the limits of two configurations are equal.
        public static func == (left: Configuration, right: Configuration) -> Bool {
            left.directory == right.directory && left.isShared == right.isShared
                && left.sizeLimit == right.sizeLimit
                && left.countLimit == right.countLimit && left.entrySizeLimit == right.entrySizeLimit
                && left.maxAge == right.maxAge && left.expiration == right.expiration
                && left.minimumFreeFraction == right.minimumFreeFraction && left.durability == right.durability
                && left.maxPendingBytes == right.maxPendingBytes
                && left.maxPendingEntries == right.maxPendingEntries
                && left.readOnlyDirectories == right.readOnlyDirectories
                && left.encryptionKey == right.encryptionKey
        }

        /// Hashes the location and the limits.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(directory)
            hasher.combine(isShared)
            hasher.combine(sizeLimit)
            hasher.combine(countLimit)
            hasher.combine(entrySizeLimit)
            hasher.combine(maxAge)
            hasher.combine(expiration)
            hasher.combine(minimumFreeFraction)
            hasher.combine(durability)
            hasher.combine(maxPendingBytes)
            hasher.combine(maxPendingEntries)
            hasher.combine(readOnlyDirectories)
            hasher.combine(encryptionKey)
        }
    }
}
