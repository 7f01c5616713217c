// SPDX-License-Identifier: MIT

import CWebP
import Foundation
import WebImageCore

/// A coder for WebP images, based on libwebp.
///
/// It supports lossy and lossless images, alpha, and animations.
package struct WebPCoder: FrameSelectingCoder, ReducingImageCoder, GrowingAnimationCoder {
    /// Creates a coder.
    package init() {}

    /// Returns whether the format is WebP.
    package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .webp }

    /// Decodes a WebP image.
    ///
    /// For a smaller size, the scaler of libwebp reduces lossy still images to at least four times the requested pixels
    /// on each axis, and then the coder resamples them. The limit for pixels applies to the reduced image. Lossless
    /// images, which libwebp decodes in full, are scaled only if the limits require it, and the limit for pixels applies
    /// to the whole image.
    ///
    /// The coder decodes the poster frame of an animation immediately and the other frames on demand. If an animation
    /// is truncated and `allowsPartial` is `true`, the result contains the complete frames, or at least the poster
    /// frame as a still image.
    ///
    /// - Throws: An ``ImageError/DecodingFailure``, an ``ImageError/LimitFailure``, or
    ///   ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``.
    package func decode(
        _ data: Data, info probe: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext
    )
        throws(ImageError) -> DecodedImage
    {
        try data.withBytes { (bytes) throws(ImageError) in
            var info = wi_webp_info()
            let status = wi_webp_header(bytes.baseAddress, bytes.count, &info)
            guard status == WI_WEBP_OK else { throw WebPBitmapDecoder.failure(status, received: bytes.count) }
            let size = PixelSize(width: Int(info.width), height: Int(info.height))
            try probe.requireAgreement(on: size, format: .webp)
            let job = WebPDecodeOperation(
                data: data, bytes: bytes, size: size, hasAlpha: info.has_alpha != 0,
                isLossless: info.is_lossless != 0, orientation: probe.orientation, options: options, context: context)
            return info.is_animated != 0 ? try job.decodeAnimation() : try job.decodeStill()
        }
    }

    /// Creates a decoder that shows rows as they arrive.
    ///
    /// This decoder doesn't support animations.
    package func makeProgressiveDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?
    {
        guard info.frameCount == 1, info.frameCountIsExact else { return nil }
        let layout = try DecodeLayout(
            rawSize: info.storedSize, orientation: info.orientation, options: options, reduction: .anySize,
            detail: Self.detail(isLossless: info.isLosslessWebP), context: context)
        if info.isLosslessWebP { try context.limits.check(info.storedSize) }
        let stream = try WebPIncrementalDecoder(probe: info, layout: layout, context: context)
        return IncrementalDecoderAdapter(stream, probe: info, options: options, layout: layout)
    }

    /// Creates a decoder that shows the frames of an animation as they arrive. The first preview shows the complete
    /// first frame.
    package func makeGrowingDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?
    {
        guard info.frameCount != 1 || !info.frameCountIsExact, options.size?.dependsOnFrameCount != true else {
            return nil
        }
        return try GrowingAnimationDecoder(WebPScanner(), probe: info, options: options, context: context) {
            (file, size, color, context) throws(ImageError) in
            try WebPCompositor(file, size: size, color: color, context: context)
        }
    }

    /// Returns the requirements for the scaled image. They include the pixels and the alpha that libwebp stores in full.
    package func requirements(
        for info: ImageInfo, options: ImageDecodingOptions, isIncremental: Bool
    ) -> DecodingRequirements? {
        guard info.frameCount == 1, info.frameCountIsExact,
            var requirements = DecodingRequirements(
                info, options, .anySize, detail: Self.detail(isLossless: info.isLosslessWebP))
        else { return nil }
        if info.isLosslessWebP {
            requirements.size = info.storedSize
            requirements.add(pixelsOf: info.storedSize, bytesPerPixel: 4)
        } else if info.hasAlpha {
            requirements.add(pixelsOf: info.storedSize, bytesPerPixel: 1)
        }
        return requirements
    }

    /// Returns the detail for which a layout reduces an image. The scaler of libwebp averages stored values, and a lossless
    /// image is in memory as a whole anyway.
    static func detail(isLossless: Bool) -> StoredDetail { isLossless ? .noise : .ordinary }

    /// Returns whether the format is WebP.
    package func canEncode(_ format: ImageFormat) -> Bool { format == .webp }

    /// Encodes a still image or an animation.
    ///
    /// The default quality is 80. With `isLossless`, the encoding preserves every visible pixel. With `isExact`, it
    /// also preserves the black of transparent pixels. Consecutive frames that are equal are merged. The file can
    /// contain the color profile, EXIF, and XMP.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/encodingFailed(format:reason:)``,
    ///   ``ImageError/RequestFailure/invalidOption(name:value:)``, or an ``ImageError/LimitFailure``.
    package func encode(selected image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        guard image.isAnimated else { return try WebPWriter.encode(image, as: encoding, context: context) }
        return try WebPAnimationWriter.encode(image, as: encoding, context: context)
    }
}
