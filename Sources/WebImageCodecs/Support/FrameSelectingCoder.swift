// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A coder whose encoder writes only the frames that ``ImageEncoding/frames`` selects, including direct calls without
/// a registry.
package protocol FrameSelectingCoder: ImageCoder {
    /// Encodes an image that has only the selected frames.
    ///
    /// - Parameters:
    ///   - image: The image to encode, with all its frames.
    ///   - encoding: The requested encoding. Ignore its frames.
    ///   - context: The limits and the cancellation.
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
        try encode(selected: image.selecting(encoding.frames), as: encoding, context: context)
    }
}
