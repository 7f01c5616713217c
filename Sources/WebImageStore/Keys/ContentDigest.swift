// SPDX-License-Identifier: MIT

import CHash
import Foundation

/// A 128-bit XXH3 hash of original data that detects whether two copies of an image have the same bytes.
///
/// The hash isn't cryptographic.
package struct ContentDigest: Sendable, Hashable {
    /// The upper 64 bits.
    package let high: UInt64
    /// The lower 64 bits.
    package let low: UInt64

    /// Creates the digest of `data`.
    ///
    /// This takes about 0.1 ms per megabyte, so call it off the main thread.
    package init(of data: Data) {
        let hash = data.withUnsafeBytes { XXH3_128bits($0.baseAddress, $0.count) }
        high = hash.high64
        low = hash.low64
    }
}
