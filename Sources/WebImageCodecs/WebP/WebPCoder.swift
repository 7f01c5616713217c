// SPDX-License-Identifier: MIT

import CWebP
import Foundation
import WebImageCore

/// WebP through libwebp: lossy, lossless, alpha, animated.
public struct WebPCoder: ImageCoder {
    /// Creates the coder.
    public init() {}

    /// True for WebP.
    public func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .webp }

    /// Decodes; smaller sizes through libwebp's own scaler to twice the wanted pixels, the rest by resampling.
    ///
    /// An animation's poster is decoded at once, its frames when they are asked for. An animation that ends early
    /// gives the frames that are whole with `allowsPartial`, and at least its poster as a still.
    ///
    /// - Throws: families 4xxx and 6xxx, ``RequestError/noSuchFrame(index:count:)``.
    public func decode(_ data: Data, probe: ImageProbe?, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> Image
    {
        try data.withBytes { (bytes) throws(ImageError) in
            var info = wi_webp_info()
            let status = wi_webp_header(bytes.baseAddress, bytes.count, &info)
            guard status == WI_WEBP_OK else { throw WebPStill.failure(status, received: bytes.count) }
            let size = PixelSize(width: Int(info.width), height: Int(info.height))
            try probe.requireAgreement(on: size, format: .webp)
            let job = WebPJob(
                data: data, bytes: bytes, size: size, hasAlpha: info.has_alpha != 0,
                orientation: probe.orientation, options: options, context: context)
            return info.is_animated != 0 ? try job.decodeAnimation() : try job.decodeStill()
        }
    }

    /// By rows. Animations give no previews.
    public func progressiveDecoder(probe: ImageProbe, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> (any ProgressiveDecoder)?
    {
        guard probe.frameCount == 1, probe.frameCountIsExact else { return nil }
        let layout = try DecodeLayout(
            rawSize: probe.rawSize, orientation: probe.orientation, options: options, context: context)
        let stream = try WebPStream(probe: probe, layout: layout, context: context)
        return StreamDecoder(stream, probe: probe, options: options, layout: layout)
    }

    /// True for WebP.
    public func canEncode(_ format: ImageFormat) -> Bool { format == .webp }

    /// Encodes the still or the animation. Default quality 80; `isLossless` keeps every visible pixel, `isExact` also
    /// the black of transparent ones. Neighbouring frames that are the same become one. Profile, EXIF and XMP have chunks.
    ///
    /// - Throws: ``TransformError/encodingFailed(format:reason:)``, ``RequestError/invalidOption(name:value:)``,
    ///   ``RequestError/noSuchFrame(index:count:)``, a ``LimitError``.
    public func encode(_ image: Image, as encoding: ImageEncoding, context: CodingContext)
        throws(ImageError) -> Data
    {
        let image = try image.taking(encoding.frames)
        guard image.isAnimated else { return try WebPWriter.encode(image, as: encoding, context: context) }
        return try WebPAnimationWriter.encode(image, as: encoding, context: context)
    }
}
