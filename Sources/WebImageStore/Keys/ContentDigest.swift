// SPDX-License-Identifier: MIT

import CHash
import Foundation

/// 128 bits of XXH3 over original bytes: tells whether two copies of a picture are the same bytes. Not a
/// cryptographic hash.
public struct ContentDigest: Sendable, Hashable {
    /// The upper half.
    public let high: UInt64
    /// The lower half.
    public let low: UInt64

    /// The digest of `data`. Takes about 0.1 ms per megabyte; call it off the main thread.
    public init(of data: Data) {
        let hash = data.withUnsafeBytes { XXH3_128bits($0.baseAddress, $0.count) }
        high = hash.high64
        low = hash.low64
    }
}
