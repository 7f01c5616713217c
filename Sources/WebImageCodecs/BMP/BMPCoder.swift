// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// BMP in pure Swift: Windows headers of all versions and OS/2's, 1 to 32 bits, bit fields, run lengths.
public struct BMPCoder: ImageCoder {
    /// Creates the coder.
    public init() {}

    /// Bytes of BITMAPFILEHEADER, before the bitmap's own header.
    static let fileHeaderSize = 14

    /// True for BMP.
    public func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .bmp }

    /// Decodes in full and resamples. Pixels that run lengths step over are transparent. Alpha counts only where the
    /// header names bits for it; without bit fields (version 4 and 5 headers) not where every pixel would be transparent.
    ///
    /// - Throws: families 4xxx and 6xxx; ``DecodeError/truncated(format:received:expected:)`` where pixels are
    ///   missing.
    public func decode(_ data: Data, probe: ImageProbe?, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> Image
    {
        try options.requireStill()
        return try data.withBytes { (bytes) throws(ImageError) in
            var reader = ByteReader(bytes, at: Self.fileHeaderSize)
            let header = try DIBHeader(&reader)
            try probe.requireAgreement(on: header.size, format: .bmp)
            let layout = try DecodeLayout(rawSize: header.size, options: options, context: context)
            let start = Self.pixelOffset(bytes, behindHeader: reader.offset)
            let decoded = try DIBDecoder(header: header, format: .bmp).decode(
                bytes, at: start, allowsPartial: options.allowsPartial, context: context)
            return Image(
                pixels: try layout.finish(decoded.pixels, context: context), scale: options.scale, format: .bmp,
                metadata: ImageMetadata(
                    rawSize: header.size, depth: header.bitsPerPixel <= 8 ? header.bitsPerPixel : 8,
                    hasAlpha: !decoded.pixels.isOpaque, isPartial: decoded.isPartial))
        }
    }

    /// By rows, which most files store from the bottom up; one with run lengths shows nothing before it is whole.
    public func progressiveDecoder(probe: ImageProbe, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> (any ProgressiveDecoder)?
    {
        let layout = try DecodeLayout(rawSize: probe.rawSize, options: options, context: context)
        return StreamDecoder(
            try BMPStream(probe: probe, context: context), probe: probe, options: options, layout: layout)
    }

    /// True for BMP.
    public func canEncode(_ format: ImageFormat) -> Bool { format == .bmp }

    /// Encodes the still or the poster: 24 bits a pixel where it is opaque, else 32 with a version 4 header that names
    /// alpha. Every visible pixel is kept.
    ///
    /// - Throws: ``TransformError/encodingFailed(format:reason:)``.
    public func encode(_ image: Image, as encoding: ImageEncoding, context: CodingContext)
        throws(ImageError) -> Data
    {
        try BMPWriter.encode(image.pixels, context: context)
    }

    /// Where the file header says the pixels begin; right behind the header where that makes no sense.
    static func pixelOffset(_ bytes: UnsafeBufferPointer<UInt8>, behindHeader: Int) -> Int {
        var reader = ByteReader(bytes, at: 10)
        guard let stated = reader.uint32().map(Int.init), stated >= Self.fileHeaderSize + 12 else {
            return behindHeader
        }
        return stated
    }
}
