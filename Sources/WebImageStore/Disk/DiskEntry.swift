// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// One entry of the disk cache: bytes and what is known about them.
public struct DiskEntry: Sendable, Equatable {
    /// What it is found by.
    public var key: CacheKey
    /// The HTTP exchange the bytes came from; nil for pictures from elsewhere. After a 304 the updated one.
    public var head: StoredHead?
    /// What the header of the picture said; nil where it was not probed.
    public var probe: ImageProbe?
    /// The encoded picture.
    public var payload: Data
    /// A small value of the app's own, kept with the entry; nil where there is none.
    public var attachment: Data?
    /// Words of the app's own, by which entries are found and removed together. At most ``tagLimit``.
    public var tags: Set<String>
    /// When it was stored.
    public var stored: Date

    /// Tags an entry may have.
    public static let tagLimit = 64

    /// Creates an entry.
    public init(
        key: CacheKey, head: StoredHead? = nil, probe: ImageProbe? = nil, payload: Data, attachment: Data? = nil,
        tags: Set<String> = [], stored: Date
    ) {
        self.key = key
        self.head = head
        self.probe = probe
        self.payload = payload
        self.attachment = attachment
        self.tags = tags
        self.stored = stored
    }
}

/// A line of the disk cache's list.
public struct DiskEntrySummary: Sendable, Hashable {
    /// Canonical text of the key; ``CacheKey/init(canonical:)`` makes the key again.
    public var key: String
    /// Bytes the entry's file occupies on disk.
    public var bytes: Int
    /// Bytes of the encoded picture.
    public var payloadBytes: Int
    /// When it was stored.
    public var stored: Date
    /// When it was last stored or read.
    public var lastAccess: Date
    /// When its answer stops being fresh (RFC 9111 4.2); nil where nothing is known.
    public var expires: Date?
    /// What the bytes are; nil where they were not probed.
    public var format: ImageFormat?
    /// The tags it was stored with.
    public var tags: Set<String>

    /// What the key says the bytes came from: the first of its fields that is a URL; the whole key where none is.
    public var source: String { CacheKey.source(ofKey: key) ?? key }

    /// The host of ``source`` in lower case; nil where there is none.
    public var host: String? { CacheKey.source(ofKey: key).flatMap(CacheKey.host) }
}
