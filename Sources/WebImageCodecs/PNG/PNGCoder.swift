// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// PNG: all colour types and depths, transparent colours, interlace; by libdeflate where that is possible, else by libpng. The
/// frames of an animated PNG go through libpng one by one; an animation that breaks the rules gives its still picture.
public struct PNGCoder: ImageCoder {
    /// Creates the coder.
    public init() {}

    /// True for PNG and animated PNG.
    public func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .png || format == .apng }

    /// Decodes in full and resamples; large pictures that are to become much smaller are reduced row by row, and never
    /// held whole, unless they are interlaced. Broken checksums of chunks that matter are errors, of others not.
    ///
    /// An animation's first frame is decoded at once, the others when they are asked for; a still picture that is not
    /// part of the animation is not shown. An animation that ends early gives the frames that are whole with
    /// `allowsPartial`.
    ///
    /// - Throws: families 4xxx and 6xxx, ``RequestError/noSuchFrame(index:count:)``.
    public func decode(_ data: Data, probe: ImageProbe?, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> Image
    {
        try data.withBytes { (bytes) throws(ImageError) in
            let reader = try PNGReader(bytes, keepsPartial: options.allowsPartial, context: context)
            try probe.requireAgreement(on: reader.size, format: .png)
            let animation = APNGJob(
                data, bytes, orientation: probe.orientation, options: options, context: context)
            if let animation { return try animation.decode(reader) }
            try options.requireStill()
            let layout = try DecodeLayout(
                rawSize: reader.size, orientation: probe.orientation, options: options,
                format: options.depth.format(reader.depth), context: context)
            let profile = reader.iccProfile()
            let color = options.conversion(reader.conversion(profile: profile))
            let decoded = try PNGReduction(layout: layout, color: color, options: options).decode(reader)
            return Image(
                pixels: decoded.pixels, scale: options.scale, format: probe?.format ?? .png,
                metadata: ImageMetadata(
                    rawSize: reader.size, orientation: layout.orientation, depth: reader.depth,
                    hasAlpha: reader.hasAlpha, isPartial: decoded.isPartial, iccProfile: profile,
                    codePoints: reader.color.codePoints))
        }
    }

    /// By rows; an interlaced picture pass by pass, each covering all of it. None of an animation, which may begin with
    /// another picture than the one that comes first.
    public func progressiveDecoder(probe: ImageProbe, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> (any ProgressiveDecoder)?
    {
        guard probe.format == .png else { return nil }
        let layout = try DecodeLayout(
            rawSize: probe.rawSize, orientation: probe.orientation, options: options, context: context)
        let stream = try PNGStream(probe: probe, context: context)
        return StreamDecoder(stream, probe: probe, options: options, layout: layout)
    }

    /// True for PNG and animated PNG.
    public func canEncode(_ format: ImageFormat) -> Bool { format == .png || format == .apng }

    /// Encodes the still or the poster as the picture allows in fewest bytes of rows: a palette of up to 256 colours with
    /// their alphas, 1 to 8 bits of grey, with alpha only where it is not opaque; 16 bits a sample where the pixels have them.
    /// An animation becomes one where the encoding's format is ``ImageFormat/apng``, with 8 bits and alpha. Profile, EXIF
    /// and XMP have chunks.
    ///
    /// - Throws: ``TransformError/encodingFailed(format:reason:)``, ``RequestError/invalidOption(name:value:)``,
    ///   ``RequestError/noSuchFrame(index:count:)``, a ``LimitError``.
    public func encode(_ image: Image, as encoding: ImageEncoding, context: CodingContext)
        throws(ImageError) -> Data
    {
        let image = try image.taking(encoding.frames)
        guard image.isAnimated, encoding.format == .apng else {
            return try PNGWriter.encode(image, as: encoding, context: context)
        }
        return try APNGWriter.encode(image, as: encoding, context: context)
    }
}
