// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// The form in which ``DiskCache/export(to:as:where:progress:)`` writes entries.
package enum DiskExportForm: Sendable, Hashable, CaseIterable {
    /// The original data as `<32 hex>.<extension>`, and a `manifest.json` with keys, heads, times, tags, and
    /// attachments.
    ///
    /// Entries that aren't images are skipped.
    case images
    /// Entry files for ``DiskCache/Configuration/readOnlyDirectories``.
    case entries
}

/// An image file to import into the cache under a key.
package struct DiskImport: Sendable, Hashable {
    /// The path of the file.
    package var path: String
    /// The key of the new entry.
    package var key: CacheKey
    /// The tags of the new entry.
    package var tags: Set<String>

    /// Creates a description of a file to import.
    package init(path: String, key: CacheKey, tags: Set<String> = []) {
        self.path = path
        self.key = key
        self.tags = tags
    }
}

/// The manifest of a directory with exported images.
struct ExportManifest: Codable {
    struct Entry: Codable {
        var file: String
        var key: String
        var digest: String
        /// The store time in seconds since 1970.
        var stored: Double
        var tags: [String]?
        /// The time to live in seconds, or `nil` if the entry has none of its own.
        var lifetime: Double?
        var attachment: Data?
        var head: StoredResponseHead?
    }

    static let name = "manifest.json"
    static let format = "webimage-cache"
    static let version = 1
    /// The maximum size of a manifest in bytes. Larger files aren't valid manifests.
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
