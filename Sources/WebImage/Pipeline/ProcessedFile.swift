// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The file of a processed image on disk, which consists of the encoded image and of its gain map.
///
/// Most formats can't contain a gain map, and the others would change it. So the samples follow the encoded image as PNG,
/// and then their meaning, the sizes of both, and a mark. Only files of requests with a high dynamic range can have
/// such an end. Decoders that ignore data after the image read the base image.
enum ProcessedFile {
    private static let mark = Data("WIGMAP 1".utf8)
    /// The size of the mark and of the two sizes before it, in bytes.
    private static let endSize = 16

    /// Returns the file of an image. An image that was decoded from a file with the same encoding returns that file.
    static func data(
        of image: DecodedImage, as encoding: ImageEncoding, _ coders: ImageCoderRegistry,
        context: ImageProcessingContext
    ) throws(ImageError) -> Data {
        if let form = image.encodedForm, form.encoding == encoding { return form.data }
        guard let gainMap = image.gainMap else {
            let file = try coders.encode(image, as: encoding, context: context)
            // Reading would interpret the pixels at the end of such a file as sizes.
            guard !hasMark(file) else { throw unusable(encoding, "the file ends like one with a gain map") }
            return file
        }
        guard gainMap.metadata.isValid else { throw unusable(encoding, "the numbers of the gain map aren’t valid") }
        var numbers = BinaryWriter()
        numbers.put(gainMap.metadata)
        let base = try coders.encode(image.with(gainMap: nil), as: encoding, context: context)
        let samples = try opaque(gainMap.pixels)
        let map = try coders.encode(DecodedImage(pixels: samples), as: .png, context: context)
        var file = base + map + numbers.bytes
        for size in [map.count, numbers.bytes.count] {
            guard let size = UInt32(exactly: size) else { throw unusable(encoding, "the gain map is too large") }
            withUnsafeBytes(of: size.bigEndian) { file.append(contentsOf: $0) }
        }
        return file + mark
    }

    /// Decodes a file. The gain map is part of the image if the options ask for a high dynamic range.
    static func decode(
        _ file: Data, options: ImageDecodingOptions, _ coders: ImageCoderRegistry, context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage {
        guard options.dynamicRange == .high, hasMark(file) else {
            return try coders.decode(file, options: options, context: context)
        }
        guard let parts = Parts(file), let metadata = parts.metadata else {
            throw .decoding(.corrupted(format: .png, reason: "the stored gain map isn’t valid"))
        }
        let image = try coders.decode(parts.image, options: options, context: context)
        let mapOptions = ImageDecodingOptions(frames: .first, preservesBitDepth: true, color: .source)
        let map = try coders.decode(parts.map, options: mapOptions, context: context)
        return image.with(gainMap: GainMap(pixels: map.pixels, metadata: metadata))
    }

    /// Returns the samples of a gain map, whose alpha is meaningless, so that PNG keeps all of them.
    private static func opaque(_ pixels: PixelBuffer) throws(ImageError) -> PixelBuffer {
        guard !pixels.isOpaque else { return pixels }
        let canvas = try PixelCanvas(size: pixels.size, format: pixels.format)
        let (step, sample) = (pixels.format.bytesPerPixel, pixels.format.layout.bytesPerSample)
        pixels.withUnsafeBytes { bytes in
            canvas.withUnsafeMutableBytes { target in
                target.copyMemory(from: bytes)
                for alpha in stride(from: step - sample, to: target.count - sample + 1, by: step) {
                    for place in alpha..<alpha + sample { target[place] = 0xFF }
                }
            }
        }
        return canvas.finish(isOpaque: true)
    }

    private static func hasMark(_ file: Data) -> Bool { file.suffix(mark.count) == mark }

    private static func unusable(_ encoding: ImageEncoding, _ reason: String) -> ImageError {
        .processing(.encodingFailed(format: encoding.formatOrAutomatic, reason: reason))
    }

    /// The parts of a file with a gain map.
    private struct Parts {
        let image: Data
        let map: Data
        private let numbers: Data

        /// Returns `nil` if the sizes exceed the file.
        init?(_ file: Data) {
            let end = file.count - ProcessedFile.endSize
            guard end > 0 else { return nil }
            func size(_ offset: Int) -> Int {
                file.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | Int($1) }
            }
            let (mapSize, numbersSize) = (size(end), size(end + 4))
            let imageSize = end - mapSize - numbersSize
            guard imageSize > 0 else { return nil }
            image = Data(file.prefix(imageSize))
            map = Data(file.dropFirst(imageSize).prefix(mapSize))
            numbers = Data(file.dropFirst(imageSize + mapSize).prefix(numbersSize))
        }

        /// The metadata of the gain map, or `nil` if they aren't valid.
        var metadata: GainMapMetadata? {
            numbers.withUnsafeBytes { bytes in
                var reader = BinaryReader(bytes)
                guard let metadata = try? reader.value(GainMapMetadata.self), reader.isAtEnd else { return nil }
                return metadata
            }
        }
    }
}
