// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// What ``DiskCache/export(to:as:where:progress:)`` writes.
public enum DiskExportForm: Sendable, Hashable, CaseIterable {
    /// The original bytes as `<32 hex>.<extension>` and a `manifest.json` with keys, heads, times, tags and attachments.
    /// What is no picture is left out.
    case pictures
    /// Entry files, for ``DiskCacheConfiguration/extraDirectories``.
    case entries
}

/// A picture file that goes into the cache under a key.
public struct DiskImport: Sendable, Hashable {
    /// Where the file is.
    public var path: String
    /// What it will be found by.
    public var key: CacheKey
    /// Tags of the entry.
    public var tags: Set<String>

    /// Creates an order.
    public init(path: String, key: CacheKey, tags: Set<String> = []) {
        self.path = path
        self.key = key
        self.tags = tags
    }
}

/// What an export or an import did.
public struct DiskTransfer: Sendable {
    /// A file that was not taken, and why.
    public struct Failure: Sendable {
        /// The file's name.
        public let name: String
        /// What is wrong with it.
        public let error: ImageError
    }

    /// Entries written.
    public var entries = 0
    /// Bytes of their pictures.
    public var bytes = 0
    /// Entries left as they were: no picture on export, not newer than what is there on import.
    public var skipped = 0
    /// What was refused on import, or could not be read.
    public var failures: [Failure] = []

    /// Nothing.
    public init() {}

    mutating func add(_ part: DiskTransfer) {
        entries += part.entries
        bytes += part.bytes
        skipped += part.skipped
        failures += part.failures
    }
}

/// The list beside exported pictures.
struct ExportManifest: Codable {
    struct Entry: Codable {
        /// A name in the manifest's folder.
        var file: String
        /// Canonical text of the key.
        var key: String
        /// XXH3-128 of the file, hexadecimal.
        var digest: String
        /// Seconds since 1970.
        var stored: Double
        var tags: [String]?
        var attachment: Data?
        var head: StoredHead?
    }

    static let name = "manifest.json"
    static let format = "webimage-cache"
    static let version = 1
    /// Larger ones are no manifest of ours.
    static let limit = 1 << 30

    var format = Self.format
    var version = Self.version
    var entries: [Entry]
}

extension ContentDigest {
    var text: String {
        [high, low].map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
