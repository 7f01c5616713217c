// SPDX-License-Identifier: MIT

import WebImageCore

extension MemoryCache {
    /// Returns the image for a key by its digest only, as the image pipeline looks up images.
    @_spi(Benchmarks)
    public func imageByDigest(of key: CacheKey) -> DecodedImage? { image(for: key.digest) }
}
