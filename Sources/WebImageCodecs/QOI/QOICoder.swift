// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// QOI in Swift: RGB and RGBA of 8 bits, no library.
public struct QOICoder: ImageCoder {
    /// Creates the coder.
    public init() {}

    /// True for QOI.
    public func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .qoi }

    /// Decodes in full and resamples. A file that says its samples are linear is converted to sRGB.
    ///
    /// - Throws: families 4xxx and 6xxx; ``DecodeError/truncated(format:received:expected:)`` where pixels are missing.
    public func decode(_ data: Data, probe: ImageProbe?, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> Image
    {
        try options.requireStill()
        return try data.withBytes { (bytes) throws(ImageError) in
            var reader = try QOIReader(bytes)
            try probe.requireAgreement(on: reader.size, format: .qoi)
            let layout = try DecodeLayout(rawSize: reader.size, options: options, context: context)
            let codePoints = reader.isLinear ? ColorCodePoints(primaries: 1, transfer: 8) : nil
            let reading = PixelReading(
                reader.size, depth: 8, options: options.depth, color: options.conversion(.from(codePoints)),
                isZeroed: true)
            var isPartial = false
            let pixels = try reading.pixels(context: context) { (canvas) throws(ImageError) in
                let done = try reader.decode(into: canvas, context: context)
                isPartial = done < reader.size.width * reader.size.height
                guard !isPartial || options.allowsPartial else {
                    throw .decode(.truncated(format: .qoi, received: bytes.count, expected: nil))
                }
                return .init(hasAlpha: reader.hasAlpha || isPartial)
            }
            return Image(
                pixels: try layout.finish(pixels, context: context), scale: options.scale, format: .qoi,
                metadata: ImageMetadata(
                    rawSize: reader.size, hasAlpha: reader.hasAlpha, isPartial: isPartial, codePoints: codePoints))
        }
    }

    /// True for QOI.
    public func canEncode(_ format: ImageFormat) -> Bool { format == .qoi }

    /// Encodes the still or the poster, with three channels where it is opaque. Every visible pixel is kept.
    ///
    /// - Throws: ``TransformError/encodingFailed(format:reason:)``.
    public func encode(_ image: Image, as encoding: ImageEncoding, context: CodingContext)
        throws(ImageError) -> Data
    {
        try QOIWriter.encode(image.taking(encoding.frames).pixels, context: context)
    }
}
