// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageCodecs
import WebImageCore

/// The files of a test case. The searches for several limits need many of them repeatedly.
private final class EncodedFiles: Sendable {
    private struct Key: Hashable {
        let pixels: ObjectIdentifier
        let encoding: ImageEncoding
    }

    /// A file, and the pixels that the identifier in its key refers to.
    private struct File {
        let pixels: PixelBuffer
        let data: Data
    }

    private let files = Mutex<[Key: File]>([:])

    private func makeKey(_ image: DecodedImage, _ encoding: ImageEncoding) -> Key {
        // Coders ignore the limit.
        var encoding = encoding
        encoding.maxByteCount = nil
        return Key(pixels: ObjectIdentifier(image.pixels), encoding: encoding)
    }

    func data(of image: DecodedImage, _ encoding: ImageEncoding) -> Data? {
        let key = makeKey(image, encoding)
        return files.withLock { $0[key]?.data }
    }

    func add(_ data: Data, of image: DecodedImage, _ encoding: ImageEncoding) {
        let key = makeKey(image, encoding)
        let file = File(pixels: image.pixels, data: data)
        files.withLock { $0[key] = file }
    }
}

/// A coder that counts its encodes, including those whose files exist.
private final class CountingCoder: ImageCoder {
    private let base: any ImageCoder
    private let files: EncodedFiles
    private let encodes = Mutex(0)

    init(_ base: any ImageCoder, _ files: EncodedFiles = EncodedFiles()) { (self.base, self.files) = (base, files) }

    var count: Int { encodes.withLock { $0 } }

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { base.canDecode(format, prefix: prefix) }

    func decode(
        _ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage {
        try base.decode(data, info: info, options: options, context: context)
    }

    func canEncode(_ format: ImageFormat) -> Bool { base.canEncode(format) }

    func encode(
        _ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext
    ) throws(ImageError) -> Data {
        encodes.withLock { $0 += 1 }
        if let data = files.data(of: image, encoding) { return data }
        let data = try base.encode(image, as: encoding, context: context)
        files.add(data, of: image, encoding)
        return data
    }
}

@Suite("The number of encodes for a size limit", .timeLimit(.minutes(5)))
struct EncodeCountTests {
    static let formats = [ImageFormat.jpeg, .webp, .avif, .heif, .jxl].filter(ImageCoderRegistry.standard.canEncode)
    static let allFormats = SizeLimitTests.formats

    private let context = ImageProcessingContext(limits: .unlimited)
    private let files = EncodedFiles()

    private func photos() throws -> [(name: String, image: DecodedImage)] {
        [
            ("photo", DecodedImage(pixels: try PixelPatterns.photo(width: 320, height: 240))),
            ("texture", DecodedImage(pixels: try PixelPatterns.texture(width: 320, height: 240))),
            ("gray", DecodedImage(pixels: try PixelPatterns.texture(width: 320, height: 240, isGray: true))),
        ]
    }

    /// Encodes within a limit, and checks the limit and the number of encodes.
    private func encode(_ image: DecodedImage, _ encoding: ImageEncoding, limit: Int) throws -> Data {
        let counting = CountingCoder(try coder(for: encoding.formatOrAutomatic), files)
        var limited = encoding
        limited.maxByteCount = limit
        defer { #expect(counting.count <= 5, "\(encoding.formatOrAutomatic), \(limit) bytes") }
        let data = try ImageCoderRegistry([counting]).encode(image, as: limited, context: context)
        #expect(data.count <= limit, "\(encoding.formatOrAutomatic)")
        return data
    }

    private func free(_ image: DecodedImage, _ encoding: ImageEncoding) throws -> Data {
        let counting = CountingCoder(try coder(for: encoding.formatOrAutomatic), files)
        return try ImageCoderRegistry([counting]).encode(image, as: encoding, context: context)
    }

    /// Returns the size of the largest file within a limit that has the size of the image and a lower quality.
    private func largestSize(_ image: DecodedImage, _ encoding: ImageEncoding, limit: Int) throws -> Int {
        try (10..<(encoding.quality ?? 90)).map { quality in
            var lower = encoding
            lower.quality = quality
            return try free(image, lower).count
        }.filter { $0 <= limit }.max() ?? 0
    }

    /// The limits of the short variant for each image, relative to the size of the file without a limit.
    private static let fewParts = [[0.25, 0.5], [0.35, 0.65], [0.35]]

    @Test("At most five encodes use 90% of the limit, unless the steps of the encoder are larger", arguments: formats)
    func share(_ format: ImageFormat) throws {
        let encoding = ImageEncoding(format: format)
        // A step of the quantizer of HEVC changes the size by an eighth, and the sizes don't always increase with the
        // quality.
        let share = format == .heif ? 0.8 : 0.9
        let parts = LongTests.areEnabled ? Array(repeating: [0.25, 0.35, 0.5, 0.65], count: 3) : Self.fewParts
        for ((name, image), parts) in zip(try photos(), parts) {
            let full = try free(image, encoding).count
            for part in parts {
                let limit = Int(Double(full) * part)
                let data = try encode(image, encoding, limit: limit)
                guard Double(data.count) < Double(limit) * share else { continue }
                let best = try largestSize(image, encoding, limit: limit)
                #expect(data.count >= best, "\(name): \(data.count) of \(limit) bytes, and \(best) bytes are possible")
            }
        }
    }

    @Test("A requested quality that fits needs one encode", arguments: formats)
    func fitting(_ format: ImageFormat) throws {
        let image = try photos()[0].image
        let counting = CountingCoder(try coder(for: format))
        let free = try free(image, ImageEncoding(format: format))
        let data = try ImageCoderRegistry([counting]).encode(
            image, as: ImageEncoding(format: format).with(\.maxByteCount, free.count), context: context)
        #expect(data == free && counting.count == 1)
    }

    @Test("A limit below the lowest quality reduces the image with at most five encodes", arguments: formats)
    func smallLimits(_ format: ImageFormat) throws {
        for (name, image) in try photos() {
            let lowest = ImageEncoding(format: format, quality: 10)
            // The metadata of some formats takes several hundred bytes, regardless of the size of the image.
            let reduced = DecodedImage(pixels: try PixelPatterns.texture(width: 80, height: 60))
            let limit = (try free(image, lowest).count + free(reduced, lowest).count) / 2
            let data = try encode(image, ImageEncoding(format: format), limit: limit)
            let size = try ImageCoderRegistry.standard.decode(data, context: context).size
            #expect(size.width < 320 && size.width > 80, "\(name): \(size)")
            #expect(data.count > limit * 7 / 10, "\(name): \(data.count) of \(limit) bytes")
        }
    }

    @Test("Formats without a quality need at most five encodes", arguments: allFormats.filter { !formats.contains($0) })
    func sizes(_ format: ImageFormat) throws {
        for (name, image) in try photos() {
            let encoding = ImageEncoding(format: format, effort: 1)
            for part in [0.05, 0.3, 0.9] {
                let limit = Int(Double(try free(image, encoding).count) * part)
                let data = try encode(image, encoding, limit: limit)
                #expect(data.count > limit / 2, "\(name): \(data.count) of \(limit) bytes")
            }
        }
    }

    @Test("Transparent images need at most five encodes", arguments: formats)
    func alpha(_ format: ImageFormat) throws {
        let image = DecodedImage(pixels: try PixelPatterns.photo(width: 320, height: 240, hasAlpha: true))
        let encoding = ImageEncoding(format: format)
        for part in [0.3, 0.6, 0.9] {
            let limit = Int(Double(try free(image, encoding).count) * part)
            let data = try encode(image, encoding, limit: limit)
            #expect(data.count > limit / 2, "\(data.count) of \(limit) bytes")
        }
    }

    @Test("Tiny images need at most five encodes, and an error contains the smallest size", arguments: allFormats)
    func tiny(_ format: ImageFormat) throws {
        for (width, height) in [(1, 1), (8, 8), (17, 1), (20, 20)] {
            let image = DecodedImage(pixels: try PixelPatterns.noise(width: width, height: height))
            let encoding = ImageEncoding(format: format)
            let full = try free(image, encoding).count
            for limit in [1, full - 1, full] {
                do {
                    _ = try encode(image, encoding, limit: limit)
                } catch ImageError.limitExceeded(let failure) {
                    #expect(limit < full && failure.limit == limit && failure.actual > limit && failure.actual <= full)
                }
            }
        }
    }
}
