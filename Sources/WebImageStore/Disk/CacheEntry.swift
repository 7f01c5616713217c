// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// Encoded data in a cache, with its metadata.
public struct CacheEntry: Sendable, Hashable {
    /// The key of the entry.
    public package(set) var key: CacheKey
    /// The HTTP exchange from which the data originates, or `nil` if the data doesn't come from HTTP. A 304 response
    /// updates it.
    package var head: StoredResponseHead?
    /// The properties from the header of the image, or `nil` if the image wasn't probed.
    package var probe: ImageInfo?
    /// The encoded image.
    public var data: Data
    /// A small custom value that is stored with the entry, or `nil` if there is none.
    public var userData: Data?
    /// The tags that the app sets to find and remove entries together. An entry can have up to 64 tags, and the cache
    /// doesn't store entries with more.
    public var tags: Set<String>
    /// The store date.
    public var storedAt: Date
    /// The time after which the disk cache deletes the entry, counted as
    /// ``DiskCache/Configuration/expiration`` specifies. Negative values count as zero. The default is `nil`, which means
    /// ``DiskCache/Configuration/maxAge``. If both are set, the shorter one applies.
    public var timeToLive: Duration?

    /// The longest ``lifetime`` in seconds, which is about 68 years. A longer one isn't distinguishable from no limit.
    static let longestLifetime = Double(1 << 31)

    /// The ``timeToLive`` in seconds within its limits, in whole milliseconds. So a file that is written from a decoded
    /// entry has the same value again.
    var lifetime: Double? {
        timeToLive.map { (min(max(0, $0 / .seconds(1)), Self.longestLifetime) * 1_000).rounded() / 1_000 }
    }

    /// The maximum number of tags of an entry.
    package static let tagLimit = 64

    /// Creates an entry.
    package init(
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

    /// Creates an entry for data that doesn't come from HTTP. Its store date is the current date.
    ///
    /// - Parameters:
    ///   - key: The key of the entry.
    ///   - data: The encoded image.
    ///   - tags: The tags of the entry. The default is no tags.
    ///   - userData: A small custom value that is stored with the entry. The default is `nil`.
    public init(key: CacheKey, data: Data, tags: Set<String> = [], userData: Data? = nil) {
        self.init(key: key, data: data, userData: userData, tags: tags, storedAt: Date())
    }

    /// The format of ``data``, or `nil` if it's unknown.
    public var format: ImageFormat? { probe?.format ?? ImageFormat(sniffing: data) }

    /// The status code and the header fields of the HTTP response from which the data originates, or `nil` if the data
    /// doesn't come from HTTP.
    public var httpResponse: HTTPResponseHead? { head?.head }

    /// Returns a Boolean value that indicates whether the entry serves a request with the given header fields (`Vary`).
    ///
    /// The result is always `true` for an entry that doesn't come from HTTP.
    ///
    /// - Parameter requestHeaders: The header fields of a request, or those that a ``CacheTier`` receives.
    public func matches(_ requestHeaders: HTTPHeaderFields) -> Bool {
        guard let head else { return true }
        // Entries and the requests to tiers contain hashes instead of credentials.
        return head.matches(requestHeaders) || head.matches(requestHeaders.withHashedSecrets)
    }

    /// Returns the entry as bytes, for example to store it in a custom tier.
    ///
    /// To create the entry from the result, use ``init(serialized:)``. The result contains a checksum.
    public func serialized() -> Data { Data(EntryFile.bytes(of: self) ?? []) }

    /// Creates an entry from the bytes that ``serialized()`` returned.
    ///
    /// - Parameter data: The bytes of an entry.
    /// - Throws: ``ImageError/CacheFailure/corruptEntry(reason:)`` if the bytes aren't an entry or if their checksum is
    ///   wrong.
    public init(serialized data: Data) throws(ImageError) {
        guard let file = FileBytes(count: data.count) else {
            throw .cache(.corruptEntry(reason: "\(data.count) bytes of memory can't be allocated"))
        }
        file.mutableBytes.copyBytes(from: data)
        do throws(EntryFileError) {
            self = try EntryFile.decode(file, key: nil, verify: true)
        } catch {
            throw .cache(.corruptEntry(reason: "the serialized entry isn't valid (\(error))"))
        }
    }
}

/// The metadata of an entry in a cache, with the digest of its data instead of the data.
package struct EntrySummary: Sendable, Hashable {
    /// The HTTP exchange from which the data originates, or `nil` if the data doesn't come from HTTP.
    package var head: StoredResponseHead?
    /// The digest of the data.
    package let content: ContentDigest
    /// The size of the data in bytes.
    package let byteCount: Int
}

extension DiskCache {
    /// A summary of an entry in the disk cache, for listings.
    public struct EntryInfo: Sendable, Hashable {
        /// The key of the entry.
        public let key: CacheKey
        /// The number of bytes that the file of the entry occupies on disk.
        public let diskSize: Int
        /// The size of the encoded image in bytes.
        public let dataSize: Int
        /// The store date.
        public let storedAt: Date
        /// The date when the entry was last stored or read.
        public let lastAccessedAt: Date
        /// The date when the response becomes stale (RFC 9111, section 4.2), or `nil` if it's unknown.
        public let expiresAt: Date?
        /// The format of the data, or `nil` if it's unknown.
        public let format: ImageFormat?
        /// The tags with which the entry was stored.
        public let tags: Set<String>

        /// The source of the data according to the key. This is the first component that is a URL, or the description
        /// of the key if no component is a URL.
        public var source: String { CacheKey.source(ofKey: key.canonical) ?? key.canonical }

        /// The host of ``source`` in lowercase, with numeric addresses in dotted form and internationalized names in
        /// Punycode, or `nil` if it has none.
        public var host: String? { CacheKey.source(ofKey: key.canonical).flatMap(CacheKey.host) }
    }
}
