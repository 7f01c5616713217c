// SPDX-License-Identifier: MIT

import CHash
import Foundation
import WebImageCore
import WebImageStore

/// The form of an entry in memcached: the bytes of ``CacheEntry/serialized()``, and, with a secret, an HMAC-SHA-256 of
/// the memcached key, a zero byte, and these bytes.
package struct SealedValue: Sendable {
    /// The size of the authentication code in bytes.
    private static let tagBytes = 32
    private let secret: [UInt8]?

    /// Creates the form with a secret, or without authentication if it's `nil`.
    package init(secret: Data?) { self.secret = secret.map { Array($0) } }

    /// Returns the value of an entry, or `nil` if memory can't be allocated.
    package func sealed(_ entry: CacheEntry, name: String) -> Data? {
        var value = entry.serialized()
        guard !value.isEmpty else { return nil }
        if secret != nil {
            guard let tag = tag(of: value, name: name) else { return nil }
            value.append(contentsOf: tag)
        }
        return value
    }

    /// Returns the entry of a value, or `nil` if the value isn't valid or belongs to another key.
    package func opened(_ value: Data, key: CacheKey, name: String) -> CacheEntry? {
        var body = value
        if secret != nil {
            guard value.count > Self.tagBytes else { return nil }
            body = value.dropLast(Self.tagBytes)
            guard let tag = tag(of: body, name: name), Self.areEqual(tag, value.suffix(Self.tagBytes)) else {
                return nil
            }
        }
        guard let entry = try? CacheEntry(serialized: body), entry.key == key else { return nil }
        return entry
    }

    private func tag(of body: Data, name: String) -> [UInt8]? {
        guard let secret else { return nil }
        var message = Data(name.utf8)
        // No key of memcached contains a zero byte, so the boundary between the key and the value is unambiguous.
        message.append(0)
        message.append(body)
        var digest = [UInt8](repeating: 0, count: Self.tagBytes)
        let isComputed = message.withUnsafeBytes {
            wi_hmac_sha256(secret, secret.count, $0.baseAddress, $0.count, &digest)
        }
        return isComputed ? digest : nil
    }

    /// Compares without revealing the position of the first difference through the duration.
    private static func areEqual(_ left: [UInt8], _ right: Data) -> Bool {
        left.count == right.count && zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
