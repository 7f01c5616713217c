// SPDX-License-Identifier: MIT

import WebImageCore

/// A description of how an image was created: from which data, with which decode options, and with which transformers.
///
/// Images in the memory cache carry this description, so that a request for one size can find another size.
package final class ImageVariant: Sendable {
    /// The digest of the data key, which is the same for all images created from the same data.
    package let data: CacheKey.Digest
    /// The options with which the data was decoded, including the size and the scale.
    package let decoding: ImageDecodingOptions
    /// The identities of the transformers that were applied, in order.
    package let transformers: [String]

    /// Creates a description of a cached or requested image.
    package init(data: CacheKey, decoding: ImageDecodingOptions, transformers: [String] = []) {
        self.data = data.digest
        self.decoding = decoding
        self.transformers = transformers
    }
}

/// An image in the memory cache together with its variant.
package struct CachedImage: Sendable {
    /// The digest of the image's key.
    package let key: CacheKey.Digest
    /// The image.
    package let image: DecodedImage
    /// The variant of the image.
    package let variant: ImageVariant
}
