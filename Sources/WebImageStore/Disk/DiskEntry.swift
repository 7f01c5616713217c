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
    /// When it was stored.
    public var stored: Date

    /// Creates an entry.
    public init(
        key: CacheKey, head: StoredHead? = nil, probe: ImageProbe? = nil, payload: Data, attachment: Data? = nil,
        stored: Date
    ) {
        self.key = key
        self.head = head
        self.probe = probe
        self.payload = payload
        self.attachment = attachment
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
}
