// SPDX-License-Identifier: MIT

import CWebP
import Foundation
import WebImageCore

/// A coder for WebP images, based on libwebp.
///
/// It supports lossy and lossless images, alpha, and animations.
package struct WebPCoder: ImageCoder {
    /// Creates a coder.
    package init() {}

    /// Returns whether the format is WebP.
    package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .webp }

    /// Decodes a WebP image.
    ///
    /// For a smaller size, the scaler of libwebp reduces still images to twice the requested pixels, and then the
    /// coder resamples them.
    ///
    /// The coder decodes the poster frame of an animation immediately and the other frames on demand. If an animation
    /// is truncated and `allowsPartial` is `true`, the result contains the complete frames, or at least the poster
    /// frame as a still image.
    ///
    /// - Throws: A decoding error (4xxx), a limit error (6xxx), or
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
                orientation: probe.orientation, options: options, context: context)
            return info.is_animated != 0 ? try job.decodeAnimation() : try job.decodeStill()
        }
    }

    /// Creates a decoder that shows rows as they arrive.
    ///
    /// Animations have no previews.
    package func makeProgressiveDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?
    {
        guard info.frameCount == 1, info.frameCountIsExact else { return nil }
        let layout = try DecodeLayout(
            rawSize: info.storedSize, orientation: info.orientation, options: options, context: context)
        let stream = try WebPIncrementalDecoder(probe: info, layout: layout, context: context)
        return IncrementalDecoderAdapter(stream, probe: info, options: options, layout: layout)
    }

    /// Returns whether the format is WebP.
    package func canEncode(_ format: ImageFormat) -> Bool { format == .webp }

    /// Encodes a still image or an animation.
    ///
    /// The default quality is 80. With `isLossless`, the encoding preserves every visible pixel. With `isExact`, it
    /// also preserves the black of transparent pixels. Consecutive frames that are equal are merged. The file can
    /// contain the color profile, EXIF, and XMP.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/encodingFailed(format:reason:)``,
    ///   ``ImageError/RequestFailure/invalidOption(name:value:)``,
    ///   ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``, or an ``ImageError/LimitFailure``.
    package func encode(_ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        let image = try image.selecting(encoding.frames)
        guard image.isAnimated else { return try WebPWriter.encode(image, as: encoding, context: context) }
        return try WebPAnimationWriter.encode(image, as: encoding, context: context)
    }
}
