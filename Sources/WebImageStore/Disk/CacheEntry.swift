// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// An entry of the disk cache, which consists of data and metadata.
public struct CacheEntry: Sendable, Equatable {
    /// The key of the entry.
    public var key: CacheKey
    /// The HTTP exchange from which the data originates, or `nil` if the data doesn't come from HTTP. A 304 response
    /// updates it.
    public var head: StoredResponseHead?
    /// The properties from the header of the image, or `nil` if the image wasn't probed.
    public var probe: ImageInfo?
    /// The encoded image.
    public var data: Data
    /// A small custom value that is stored with the entry, or `nil` if there is none.
    public var userData: Data?
    /// The tags that the app sets to find and remove entries together. An entry can have up to ``tagLimit`` tags.
    public var tags: Set<String>
    /// The store date.
    public var storedAt: Date

    /// The maximum number of tags of an entry.
    public static let tagLimit = 64

    /// Creates an entry.
    public init(
        key: CacheKey, head: StoredResponseHead? = nil, probe: ImageInfo? = nil, data: Data, userData: Data? = nil,
        tags: Set<String> = [], storedAt: Date
    ) {
        self.key = key
        self.head = head
        self.probe = probe
        self.data = data
        self.userData = userData
        self.tags = tags
        self.storedAt = storedAt
    }
}

extension DiskCache {
    /// A summary of an entry in the disk cache, for listings.
    public struct EntryInfo: Sendable, Hashable {
        /// The canonical text of the key. To create the key from it, use ``CacheKey/init(canonical:)``.
        public var key: String
        /// The number of bytes that the file of the entry occupies on disk.
        public var diskSize: Int
        /// The size of the encoded image in bytes.
        public var dataSize: Int
        /// The store date.
        public var storedAt: Date
        /// The date when the entry was last stored or read.
        public var lastAccessedAt: Date
        /// The date when the response becomes stale (RFC 9111, section 4.2), or `nil` if it's unknown.
        public var expiresAt: Date?
        /// The format of the image, or `nil` if it wasn't probed.
        public var format: ImageFormat?
        /// The tags with which the entry was stored.
        public var tags: Set<String>

        /// The source of the data according to the key. This is the first field that is a URL, or the whole key if no
        /// field is a URL.
        public var source: String { CacheKey.source(ofKey: key) ?? key }

        /// The lowercase host of ``source``, or `nil` if it has none.
        public var host: String? { CacheKey.source(ofKey: key).flatMap(CacheKey.host) }
    }
}
