// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// Windows icons and cursors in pure Swift; the PNGs in them through the PNG coder.
public struct ICOCoder: ImageCoder {
    private let sides: [Int]

    /// Creates the coder.
    ///
    /// - Parameter sides: what it encodes, in pixels of the longer side, a picture for each that is not larger than
    ///   the given one; default empty, the picture as it is.
    public init(sides: [Int] = []) { self.sides = sides }

    static let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// True for icons and cursors.
    public func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .ico || format == .cur }

    /// Decodes one of the pictures: the largest and deepest, with a size the smallest that need not be enlarged, or
    /// the one of `frames: .single(n)`.
    ///
    /// - Throws: families 4xxx and 6xxx, ``RequestError/noSuchFrame(index:count:)``.
    public func decode(_ data: Data, probe: ImageProbe?, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> Image
    {
        try context.checkpoint()
        return try data.withBytes { (bytes) throws(ImageError) in
            let format: ImageFormat = bytes.count > 2 && bytes[2] == 2 ? .cur : .ico
            let directory = try ICODirectory(bytes, format: format)
            let index = try chosen(directory, options)
            let entry = directory.entries[index]
            guard entry.offset < bytes.count else {
                throw .decode(
                    .truncated(format: format, received: bytes.count, expected: entry.offset + entry.length))
            }
            // Stated lengths are often wrong; the picture itself tells where it ends.
            let part = UnsafeBufferPointer(rebasing: bytes[entry.offset...])
            let claim = index == directory.largest ? probe : nil
            if part.starts(with: Self.pngSignature) {
                return try decodePNG(Data(part), format, claim, options, context)
            }
            return try decodeBitmap(part, format, claim, options, context)
        }
    }

    private func chosen(_ directory: ICODirectory, _ options: DecodeOptions) throws(ImageError) -> Int {
        guard case .single(let index) = options.frames else { return try directory.best(for: options) }
        guard directory.entries.indices.contains(index) else {
            throw .request(.noSuchFrame(index: index, count: directory.entries.count))
        }
        return index
    }

    private func decodePNG(
        _ data: Data, _ format: ImageFormat, _ claim: ImageProbe?, _ options: DecodeOptions, _ context: CodingContext
    ) throws(ImageError) -> Image {
        var inner = options
        inner.frames = .first
        let image = try PNGCoder().decode(data, probe: nil, options: inner, context: context)
        try claim.requireAgreement(on: image.metadata.rawSize, format: format)
        return Image(pixels: image.pixels, scale: options.scale, format: format, metadata: image.metadata)
    }

    private func decodeBitmap(
        _ bytes: UnsafeBufferPointer<UInt8>, _ format: ImageFormat, _ claim: ImageProbe?, _ options: DecodeOptions,
        _ context: CodingContext
    ) throws(ImageError) -> Image {
        var reader = ByteReader(bytes)
        var header = try DIBHeader(&reader, format: format)
        header.becomeIcon()
        try claim.requireAgreement(on: header.size, format: format)
        let layout = try DecodeLayout(rawSize: header.size, options: options, context: context)
        let decoded = try ICOBitmap(bytes, header: header, start: reader.offset, format: format)
            .decode(allowsPartial: options.allowsPartial, context: context)
        return Image(
            pixels: try layout.finish(decoded.pixels, context: context), scale: options.scale, format: format,
            metadata: ImageMetadata(
                rawSize: header.size, depth: header.bitsPerPixel <= 8 ? header.bitsPerPixel : 8,
                hasAlpha: !decoded.pixels.isOpaque, isPartial: decoded.isPartial))
    }

    /// True for icons.
    public func canEncode(_ format: ImageFormat) -> Bool { format == .ico }

    /// Encodes the still or the poster, in all sizes the coder was made for: as bitmaps below 64 pixels, as PNG from
    /// there on.
    ///
    /// - Throws: ``TransformError/encodingFailed(format:reason:)`` above 256 pixels a side,
    ///   ``RequestError/invalidOption(name:value:)``.
    public func encode(_ image: Image, as encoding: ImageEncoding, context: CodingContext)
        throws(ImageError) -> Data
    {
        try ICOWriter.encode(image.pixels, sides: sides, as: encoding, context: context)
    }
}
