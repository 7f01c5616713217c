// SPDX-License-Identifier: MIT

import Foundation

/// The pixels that a decoder holds while it reduces an image to the requested size.
package struct DecodingRequirements: Sendable, Hashable {
    /// The size of the largest image that the decoder holds, in pixels.
    package var size: PixelSize
    /// The estimated memory of the decode, including its result, in bytes.
    package var byteCount: Int

    /// Creates requirements.
    package init(size: PixelSize, byteCount: Int) {
        self.size = size
        self.byteCount = byteCount
    }
}

/// A coder that reduces some images to the requested size while it decodes them.
package protocol ReducingImageCoder: ImageCoder {
    /// Returns the requirements of ``ImageCoder/decode(_:info:options:context:)``.
    ///
    /// - Parameters:
    ///   - info: The header of the file.
    ///   - options: The options of the decode.
    ///   - isIncremental: A Boolean value that indicates whether the decoder is a progressive decoder.
    /// - Returns: The requirements, or `nil` if the decoder holds the whole image.
    func requirements(
        for info: ImageInfo, options: ImageDecodingOptions, isIncremental: Bool
    ) -> DecodingRequirements?
}

extension ImageCoderRegistry {
    /// Returns the requirements for decoding an image with the coder that's tried first, or `nil` if this coder holds
    /// the whole image.
    package func requirements(for info: ImageInfo, options: ImageDecodingOptions) -> DecodingRequirements? {
        let first = coders.last { $0.canDecode(info.format, prefix: Data()) }
        return first?.requirementsIfReducing(info, options)
    }
}

extension ImageCoder {
    /// Returns the requirements of a coder that reduces the image, and `nil` for other coders.
    func requirementsIfReducing(
        _ info: ImageInfo, _ options: ImageDecodingOptions, isIncremental: Bool = false
    ) -> DecodingRequirements? {
        guard options.size != nil, let coder = self as? any ReducingImageCoder else { return nil }
        return coder.requirements(for: info, options: options, isIncremental: isIncremental)
    }
}
