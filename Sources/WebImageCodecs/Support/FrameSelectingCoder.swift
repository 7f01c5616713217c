// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A coder whose encoder writes only the frames that ``ImageEncoding/frames`` selects, including direct calls without
/// a registry.
package protocol FrameSelectingCoder: ColorPreparingCoder {
    /// Encodes an image that has only the selected frames, and whose color space the format can describe. Ignore the
    /// frames of the encoding.
    func encode(
        selected image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext
    ) throws(ImageError) -> Data
}

extension FrameSelectingCoder {
    /// Encodes the frames of an image that ``ImageEncoding/frames`` selects.
    ///
    /// - Throws: ``ImageError/RequestFailure/frameNotFound(index:frameCount:)`` for an invalid index, or an error of
    ///   ``encode(selected:as:context:)``.
    package func encode(
        _ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext
    ) throws(ImageError) -> Data {
        try encode(selected: prepared(image, as: encoding, context: context), as: encoding, context: context)
    }

    package func displayedInPQ(
        _ image: DecodedImage, context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage {
        try image.displayedInPQ(context: context)
    }

    /// Returns the image with the selected frames, in the dynamic range and the color space in which the encoder writes it.
    package func prepared(
        _ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage {
        var selected = try image.selecting(encoding.frames)
        // Only JPEG files store gain maps. These formats store the image that the gain map produces.
        let storesPQ = encoding.format.map { [.png, .avif, .jxl].contains($0) } ?? false
        let isPQ = storesPQ && encoding.preservesDynamicRange && encoding.color == .source
        if isPQ, !selected.isAnimated { selected = try selected.inPQ(context: context) }
        if encoding.format == .jpeg, encoding.preservesDynamicRange {
            selected = try selected.withStandardBase(context: context)
        }
        return try selected.withEncodableColors(as: encoding, context: context)
    }
}
