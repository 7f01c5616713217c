// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// PNG through libpng: all colour types and depths (16 bits rounded to 8), transparent colours, interlace. An
/// animated PNG gives its still picture.
public struct PNGCoder: ImageCoder {
    /// Creates the coder.
    public init() {}

    /// True for PNG and animated PNG.
    public func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .png || format == .apng }

    /// Decodes in full and resamples. Broken checksums of chunks that matter are errors, of others not.
    ///
    /// - Throws: families 4xxx and 6xxx.
    public func decode(_ data: Data, probe: ImageProbe?, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> Image
    {
        try options.requireStill()
        return try data.withBytes { (bytes) throws(ImageError) in
            let reader = try PNGReader(bytes, keepsPartial: options.allowsPartial, context: context)
            try probe.requireAgreement(on: reader.size, format: .png)
            let layout = try DecodeLayout(
                rawSize: reader.size, orientation: probe.orientation, options: options, context: context)
            let profile = reader.iccProfile()
            let color = options.conversion(reader.conversion(profile: profile))
            let convertsLast = layout.convertsLast(color)
            let decoded = try reader.decode(
                allowsPartial: options.allowsPartial, color: convertsLast ? nil : color)
            let pixels = try layout.finish(decoded.pixels, color: convertsLast ? color : nil, context: context)
            return Image(
                pixels: pixels, scale: options.scale, format: probe?.format ?? .png,
                metadata: ImageMetadata(
                    rawSize: reader.size, orientation: layout.orientation, depth: reader.depth,
                    hasAlpha: reader.hasAlpha, isPartial: decoded.isPartial, iccProfile: profile,
                    codePoints: reader.color.codePoints))
        }
    }

    /// By rows; an interlaced picture pass by pass, each covering all of it. Of an animation, the still picture.
    public func progressiveDecoder(probe: ImageProbe, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> (any ProgressiveDecoder)?
    {
        let layout = try DecodeLayout(
            rawSize: probe.rawSize, orientation: probe.orientation, options: options, context: context)
        let stream = try PNGStream(probe: probe, context: context)
        return StreamDecoder(stream, probe: probe, options: options, layout: layout)
    }

    /// True for PNG.
    public func canEncode(_ format: ImageFormat) -> Bool { format == .png }

    /// Encodes the still or the poster with 8 bits a sample, without alpha where the picture is opaque.
    ///
    /// - Throws: ``TransformError/encodingFailed(format:reason:)``, ``RequestError/invalidOption(name:value:)``.
    public func encode(_ image: Image, as encoding: ImageEncoding, context: CodingContext)
        throws(ImageError) -> Data
    {
        try PNGWriter.encode(image.pixels, as: encoding, context: context)
    }
}
