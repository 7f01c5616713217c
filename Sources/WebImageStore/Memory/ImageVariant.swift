// SPDX-License-Identifier: MIT

import WebImageCore

/// A description of how an image was created: from which data, with which decode options, and with which transformers.
///
/// Images in the memory cache carry this description, so that a request for one size can find another size.
public final class ImageVariant: Sendable {
    /// The digest of the data key, which is the same for all images created from the same data.
    public let data: CacheKey.Digest
    /// The options with which the data was decoded, including the size and the scale.
    public let decoding: ImageDecodingOptions
    /// The identities of the transformers that were applied, in order.
    public let transformers: [String]

    /// Creates a description of a cached or requested image.
    public init(data: CacheKey, decoding: ImageDecodingOptions, transformers: [String] = []) {
        self.data = data.digest
        self.decoding = decoding
        self.transformers = transformers
    }
}

/// An image in the memory cache together with its rendition.
public struct CachedImage: Sendable {
    /// The digest of the image's key.
    public let key: CacheKey.Digest
    /// The image.
    public let image: DecodedImage
    /// The rendition of the image.
    public let rendition: ImageVariant
}
