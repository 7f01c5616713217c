// SPDX-License-Identifier: MIT

/// The way in which an image was made from its data: the decode options, the reduction, and the transformers.
package struct ImageHistory: Sendable, Hashable {
    /// The options with which the data was decoded, or `nil` if the image wasn't decoded.
    package var decodingOptions: ImageDecodingOptions?
    /// The size of the encoded image with the EXIF orientation applied, or `nil` if the metadata contains it.
    package var originalSize: PixelSize?
    /// Whether the decoded image had fewer pixels than the encoded one.
    package var isReduced = false
    /// The identifiers of the applied transformers, in order.
    package var transformers: [String] = []

    /// Creates the history of an image that was neither decoded nor transformed.
    package init() {}
}

extension DecodedImage {
    /// The options with which the data of the image was decoded, or `nil` if the application created the image.
    ///
    /// For an image that a manager delivers, these are the ``ImageDecodingOptions`` of the request that decoded it.
    public var decodingOptions: ImageDecodingOptions? { history.decodingOptions }

    /// The identifiers of the transformers that changed the image, in order.
    ///
    /// A transformer that leaves the image unchanged, for example because it excludes animations, isn't in the array. The
    /// array is empty for an image without transformers.
    public var transformerIdentifiers: [String] { history.transformers }

    /// A Boolean value that indicates whether at least one transformer changed the image.
    public var isTransformed: Bool { !history.transformers.isEmpty }

    /// The size of the encoded image in pixels, with the EXIF orientation applied.
    ///
    /// For vector images, it's the size that the file declares. For images that the application created, it's the size
    /// with which they were created.
    public var originalSize: PixelSize {
        history.originalSize ?? metadata.orientation.upright(metadata.storedSize)
    }

    /// A Boolean value that indicates whether the decoder reduced or cropped the image, so that the encoded image has
    /// more pixels.
    ///
    /// Transformers have no effect on this property. It's always `false` for vector images, which have no pixels of
    /// their own.
    public var isReduced: Bool { history.isReduced }

    /// Returns the image as the result of a decode with the given options. Call this method before any transformer.
    package func decoded(with options: ImageDecodingOptions) -> DecodedImage {
        var history = history
        let original = originalSize
        history.decodingOptions = options
        history.isReduced =
            format?.isVector != true && (size.width < original.width || size.height < original.height)
        return with(history: history)
    }

    /// Returns the image with the identifiers of the transformers that changed it.
    package func transformed(by identifiers: [String]) -> DecodedImage {
        var history = history
        history.transformers = identifiers
        return with(history: history)
    }
}
