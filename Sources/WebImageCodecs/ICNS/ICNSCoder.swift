// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A coder for Apple icons, written in Swift.
///
/// It decodes embedded PNG files with the PNG coder, and JPEG 2000 images if the package trait `JPEG2000` is on.
package struct ICNSCoder: ImageCoder {
    /// Creates a coder.
    package init() {}

    /// Returns whether the format is an Apple icon.
    package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .icns }

    /// Decodes one image of an icon.
    ///
    /// Without a requested size, the coder decodes the largest image. With a size, it decodes the smallest image that
    /// doesn't need to be enlarged. With `frames: .single(n)`, it decodes the image n. Without the package trait
    /// `JPEG2000`, it only chooses JPEG 2000 images by their index.
    ///
    /// - Throws: An ``ImageError/DecodingFailure``, an ``ImageError/LimitFailure``, or
    ///   ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``.
    package func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        try context.checkCancellation()
        guard !data.isEmpty else { throw .decoding(.noData) }
        return try data.withBytes { (bytes) throws(ImageError) in
            let directory = try ICNSDirectory(bytes)
            let index = try directory.index(for: options)
            let icon = directory.icons[index]
            let claim = index == directory.largest ? info : nil
            switch icon.coding {
            case .png:
                let part = Data(try Self.part(icon.range, of: bytes))
                var inner = options
                inner.frames = .first
                inner.requireSRGB()
                return try Self.icon(PNGCoder().decode(part, info: nil, options: inner, context: context), claim)
            case .jpeg2000:
                let part = Data(try Self.part(icon.range, of: bytes))
                return try Self.icon(decodeJPEG2000(part, options, context), claim)
            case .argb, .rgb:
                return try decodePlanes(icon, bytes, claim, options, context)
            }
        }
    }

    private static func part(
        _ range: Range<Int>, of bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageError) -> UnsafeBufferPointer<UInt8> {
        guard range.upperBound <= bytes.count else {
            throw .decoding(.truncated(format: .icns, receivedBytes: bytes.count, expectedBytes: range.upperBound))
        }
        return UnsafeBufferPointer(rebasing: bytes[range])
    }

    private static func icon(_ image: DecodedImage, _ claim: ImageInfo?) throws(ImageError) -> DecodedImage {
        try claim.requireAgreement(on: image.metadata.storedSize, format: .icns)
        return DecodedImage(pixels: image.pixels, scale: image.scale, format: .icns, metadata: image.metadata)
    }

    private func decodeJPEG2000(
        _ data: Data, _ options: ImageDecodingOptions, _ context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage {
        #if JPEG2000
            var inner = options
            inner.requireSRGB()
            inner.frames = .first
            return try JPEG2000Coder().decode(data, info: nil, options: inner, context: context)
        #else
            throw .decoding(
                .unsupportedFeature(format: .icns, feature: "JPEG 2000 without the package trait JPEG2000"))
        #endif
    }

    private func decodePlanes(
        _ icon: ICNSDirectory.Icon, _ bytes: UnsafeBufferPointer<UInt8>, _ claim: ImageInfo?,
        _ options: ImageDecodingOptions, _ context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage {
        let size = PixelSize(width: icon.side, height: icon.side)
        try claim.requireAgreement(on: size, format: .icns)
        let layout = try DecodeLayout(rawSize: size, options: options, context: context)
        var planes = try ICNSPlanes(Self.part(icon.range, of: bytes), side: icon.side, hasAlpha: icon.coding == .argb)
        if let mask = icon.mask { try planes.setAlpha(Self.part(mask, of: bytes)) }
        let pixels = try planes.pixels(context: context)
        return DecodedImage(
            pixels: try layout.finish(pixels, context: context), scale: options.scale, format: .icns,
            metadata: ImageMetadata(storedSize: size, bitDepth: 8, hasAlpha: planes.hasAlpha))
    }
}

extension ICNSDirectory {
    /// Returns the index of the image to decode. Throws ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``,
    /// or an error of the requested size.
    func index(for options: ImageDecodingOptions) throws(ImageError) -> Int {
        if case .index(let index) = options.frames {
            guard icons.indices.contains(index) else {
                throw .request(.frameNotFound(index: index, frameCount: icons.count))
            }
            return index
        }
        #if JPEG2000
            let candidates = Array(icons.indices)
        #else
            let candidates = icons.indices.filter { icons[$0].coding != .jpeg2000 }
        #endif
        guard let first = candidates.first else { return largest }
        var best = candidates.reduce(first) { icons[$1].side > icons[$0].side ? $1 : $0 }
        guard let target = options.size else { return best }
        func output(_ side: Int) throws(ImageError) -> PixelSize {
            try target.plan(for: PixelSize(width: side, height: side), scale: options.scale).output
        }
        let wanted = try output(icons[best].side)
        for index in candidates where icons[index].side < icons[best].side {
            // Smaller images would produce a smaller result.
            if try output(icons[index].side) == wanted { best = index }
        }
        return best
    }
}
