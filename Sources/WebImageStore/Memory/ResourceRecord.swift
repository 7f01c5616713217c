// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageCore
import WebImageHTTP

/// What is known of the bytes that pictures in memory were made of. All sizes of one picture share the record, so
/// that one 304 makes all of them fresh again. Thread-safe.
public final class ResourceRecord: Sendable {
    /// The bytes' digest.
    public let digest: ContentDigest
    /// Size of the original in bytes.
    public let byteCount: Int
    private let state: Mutex<StoredHead?>

    /// Creates a record; `head` is nil for sources without HTTP.
    public init(digest: ContentDigest, byteCount: Int, head: StoredHead?) {
        self.digest = digest
        self.byteCount = byteCount
        self.state = Mutex(head)
    }

    /// Status and fields of the last answer that these bytes were, or were confirmed by.
    public var head: StoredHead? { state.withLock { $0 } }

    /// Takes the head of a newer answer for the same bytes.
    public func update(head: StoredHead) { state.withLock { $0 = head } }
}

/// A picture in memory with what is known of its bytes.
public struct CachedImage: Sendable {
    /// The picture.
    public var image: Image
    /// What it was made of; nil for pictures an app put there itself.
    public var resource: ResourceRecord?

    /// Creates an entry.
    public init(image: Image, resource: ResourceRecord? = nil) {
        self.image = image
        self.resource = resource
    }
}
