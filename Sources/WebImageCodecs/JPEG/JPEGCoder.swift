// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// JPEG through libjpeg-turbo: gray, YCbCr, RGB, CMYK and YCCK, baseline, progressive and arithmetic, all
/// subsamplings. Accurate inverse DCT and smooth chroma upsampling.
public struct JPEGCoder: ImageCoder {
    /// Creates the coder.
    public init() {}

    /// True for JPEG.
    public func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .jpeg }

    /// Decodes, at a smaller size from fewer DCT coefficients: the smallest of 1/1, 1/2, 1/4 and 1/8 that keeps at
    /// least twice the wanted pixels, the rest by resampling.
    ///
    /// - Throws: families 4xxx and 6xxx; ``DecodeError/truncated(format:received:expected:)`` where pixels are
    ///   missing. A file without its end marker alone is whole.
    public func decode(_ data: Data, probe: ImageProbe?, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> Image
    {
        try options.requireStill()
        return try data.withBytes { (bytes) throws(ImageError) in
            let reader = try JPEGReader(bytes, context: context)
            try probe.requireAgreement(on: reader.size, format: .jpeg)
            let layout = try DecodeLayout(
                rawSize: reader.size, orientation: probe.orientation, options: options, context: context)
            let profile = reader.iccProfile()
            let color = options.conversion(.from(profile: profile, model: reader.colorModel))
            let convertsLast = layout.convertsLast(color)
            let denominator = JPEGReader.denominator(for: layout)
            let decoded = try reader.decode(
                denominator: denominator, allowsPartial: options.allowsPartial, color: convertsLast ? nil : color)
            // libjpeg rounds the reduced size up; the picture itself ends where the division says.
            let extent = (
                width: Double(reader.size.width) / Double(denominator),
                height: Double(reader.size.height) / Double(denominator)
            )
            let pixels = try layout.finish(
                decoded.pixels, extent: extent, color: convertsLast ? color : nil, context: context)
            return Image(
                pixels: pixels, scale: options.scale, format: .jpeg,
                metadata: ImageMetadata(
                    rawSize: reader.size, orientation: layout.orientation, depth: reader.depth, hasAlpha: false,
                    isPartial: decoded.isPartial, iccProfile: profile))
        }
    }

    /// By rows, or scan by scan where there are several. Arithmetic coding gives no previews.
    public func progressiveDecoder(probe: ImageProbe, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> (any ProgressiveDecoder)?
    {
        let layout = try DecodeLayout(
            rawSize: probe.rawSize, orientation: probe.orientation, options: options, context: context)
        let stream = try JPEGStream(probe: probe, layout: layout, context: context)
        return StreamDecoder(stream, probe: probe, options: options, layout: layout)
    }

    /// True for JPEG.
    public func canEncode(_ format: ImageFormat) -> Bool { format == .jpeg }

    /// Encodes the still or the poster. Default quality 90; Huffman tables made for the picture unless that is switched off;
    /// chroma at half size below quality 90 and at full size from there on unless a subsampling is asked for; grey pictures
    /// with one component. Profile, EXIF, with a thumbnail where one is asked for, and XMP have segments; what does not
    /// fit into one is left out.
    ///
    /// - Throws: ``TransformError/encodingFailed(format:reason:)``, ``RequestError/invalidOption(name:value:)``.
    public func encode(_ image: Image, as encoding: ImageEncoding, context: CodingContext)
        throws(ImageError) -> Data
    {
        try JPEGWriter.encode(image, as: encoding, context: context)
    }
}
