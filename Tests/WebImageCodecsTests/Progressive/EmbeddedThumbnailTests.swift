// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@testable import WebImageCodecs

@Suite("EXIF thumbnails as previews of JPEG files")
struct EmbeddedThumbnailTests {
    private static let size = PixelSize(width: 640, height: 480)

    /// Files of the image that most tests use.
    private static let files = SharedValues<ImageEncoding, Data>()

    /// Returns a JPEG file with a thumbnail.
    private func file(
        _ pixels: PixelBuffer? = nil, progressive: Bool = false, thumbnail side: Int? = 160
    ) throws -> Data {
        var encoding = ImageEncoding.jpeg(quality: 90, isProgressive: progressive)
        encoding.thumbnailDimension = side
        if let pixels { return try PixelPatterns.encode(pixels, as: encoding) }
        let photo = try PixelPatterns.photo(width: Self.size.width, height: Self.size.height)
        return try Self.files.value(for: encoding) { try PixelPatterns.encode(photo, as: encoding) }
    }

    /// Returns a JPEG file whose EXIF block contains any data as its thumbnail.
    private func file(
        thumbnail: [UInt8], orientation: ImageOrientation = .up, of data: Data? = nil
    ) throws -> Data {
        var block = ExifBlock.only(orientation)
        block.thumbnail = thumbnail
        return try #require(
            JPEGFile.replacingMetadata(of: data ?? file(thumbnail: nil), exif: block.serialized(), xmp: nil))
    }

    /// Returns a thumbnail with black bars, like those of cameras.
    private func letterboxed(_ pixels: PixelBuffer, height: Int, bars: PixelColor = .black) throws -> [UInt8] {
        let bar = (height - pixels.height) / 2
        let back = try PixelBuffer.filled(with: bars, size: PixelSize(width: pixels.width, height: height))
        let framed = try back.draw(
            pixels, in: PixelRect(x: 0, y: bar, width: pixels.width, height: pixels.height))
        return [UInt8](try PixelPatterns.encode(framed, as: .jpeg(quality: 90)))
    }

    /// Returns the offset of the first scan, where the header ends.
    private func scan(_ data: Data) throws -> Int {
        // The thumbnail is also a JPEG file, so skip its scan.
        var end = 2
        while data[end + 1] != 0xDA { end += 2 + Int(data[end + 2]) << 8 + Int(data[end + 3]) }
        return end
    }

    /// Returns a gray texture with details of all sizes, whose contrast is lower the smaller they are.
    private func texture() throws -> PixelBuffer {
        let (width, height) = (Self.size.width, Self.size.height)
        let pattern = PixelPatterns.Pattern(name: "waves", width: width, height: height)
        return try PixelPatterns.patterns.value(for: pattern) {
            var generator = SeededGenerator(17)
            var sums = [Double](repeating: 128, count: width * height)
            for index in 0..<60 {
                let frequency = 0.01 * pow(1.07, Double(index))
                let angle = Double.random(in: 0..<2 * .pi, using: &generator)
                let phase = Double.random(in: 0..<2 * .pi, using: &generator)
                let (across, down, contrast) = (frequency * cos(angle), frequency * sin(angle), 0.2 / frequency)
                sums.withUnsafeMutableBufferPointer { sums in
                    guard let start = sums.baseAddress else { return }
                    for y in 0..<height {
                        let shift = Double(y) * down
                        let row = start + y * width
                        var x = 0
                        while x < width {
                            row[x] += contrast * sin(Double(x) * across + shift + phase)
                            x += 1
                        }
                    }
                }
            }
            return try PixelPatterns.make(width: width, height: height, isOpaque: true) { x, y in
                let value = UInt8(min(255, max(0, sums[y * width + x])))
                return SIMD4(value, value, value, 255)
            }
        }
    }

    private func image(_ data: Data, _ options: ImageDecodingOptions = ImageDecodingOptions()) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(data, options: options, context: ImageProcessingContext())
    }

    /// Returns the preview of the header alone, without any pixels of the image.
    private func first(_ data: Data, _ options: ImageDecodingOptions = ImageDecodingOptions()) throws -> ImagePreview? {
        var feeding = try #require(try Feeding(data, options: options))
        try feeding.append(to: scan(data) + 14)
        return try feeding.preview()
    }

    @Test("The thumbnail is the first preview", arguments: [false, true], [nil, TargetSize.fit(width: 100)])
    func thumbnail(progressive: Bool, size: TargetSize?) throws {
        let data = try file(progressive: progressive)
        let options = ImageDecodingOptions(size: size)
        let preview = try #require(try first(data, options))
        let whole = try image(data, options)
        #expect(preview.image.size == whole.size && preview.coversImage && !preview.isComplete)
        #expect(preview.image.metadata.isPartial && preview.image.isOpaque && preview.fractionCompleted == 0)
        #expect(similarity(preview.image.pixels, whole.pixels) > 22)
        #expect(try first(file(progressive: progressive, thumbnail: nil), options) == nil)
    }

    /// A file of the photo at a quarter of its size.
    private static let smallPhoto = Result { () throws -> [UInt8] in
        let small = try Resampler.resample(
            PixelPatterns.photo(width: 640, height: 480), window: SampleRect(Self.size),
            to: PixelSize(width: 160, height: 120), context: ImageProcessingContext())
        return [UInt8](try PixelPatterns.encode(small, as: .jpeg(quality: 90)))
    }

    @Test("The thumbnail has the orientation of the image", arguments: ImageOrientation.allCases)
    func orientation(_ orientation: ImageOrientation) throws {
        let data = try file(thumbnail: Self.smallPhoto.get(), orientation: orientation)
        let preview = try #require(try first(data))
        let whole = try image(data)
        #expect(whole.metadata.orientation == orientation && preview.image.size == whole.size)
        #expect(similarity(preview.image.pixels, whole.pixels) > 22)
    }

    @Test("Black bars of a thumbnail are cropped")
    func bars() throws {
        let pixels = try PixelPatterns.photo(width: 600, height: 400)
        let small = try Resampler.resample(
            pixels, window: SampleRect(pixels.size), to: PixelSize(width: 160, height: 107),
            context: ImageProcessingContext())
        let plain = try PixelPatterns.encode(pixels, as: .jpeg(quality: 90))
        let data = try file(thumbnail: letterboxed(small, height: 120), of: plain)
        let preview = try #require(try first(data))
        #expect(similarity(preview.image.pixels, try image(data).pixels) > 20)
        // Without bars, the thumbnail shows another part of the scene.
        #expect(try first(file(thumbnail: letterboxed(small, height: 120, bars: .white), of: plain)) == nil)
    }

    @Test("Thumbnails that don't show the whole image are ignored")
    func implausible() throws {
        let plain = try file(thumbnail: nil)
        for size in [(160, 160), (90, 120), (160, 60), (8, 6), (660, 495)] {
            let pixels = try PixelPatterns.photo(width: size.0, height: size.1)
            let thumbnail = [UInt8](try PixelPatterns.encode(pixels, as: .jpeg(quality: 60)))
            #expect(try first(file(thumbnail: thumbnail, of: plain)) == nil, "\(size)")
        }
        let png = [UInt8](try PixelPatterns.encode(PixelPatterns.photo(width: 160, height: 120), as: .png))
        #expect(try first(file(thumbnail: Array(png.prefix(30_000)), of: plain)) == nil)
        #expect(try first(file(thumbnail: [0xFF, 0xD8] + [UInt8](repeating: 7, count: 500), of: plain)) == nil)
    }

    @Test("The rows of a file with one scan are drawn over the thumbnail")
    func rows() throws {
        let data = try file()
        let whole = try image(data)
        var feeding = try #require(try Feeding(data))
        try feeding.append(to: scan(data) + 14)
        let early = try #require(try feeding.preview())
        var last = similarity(early.image.pixels, whole.pixels)
        for part in 1..<6 {
            try feeding.append(to: scan(data) + (data.count - scan(data)) * part / 6)
            let preview = try #require(try feeding.preview())
            #expect(preview.coversImage && preview.image.isOpaque)
            let quality = similarity(preview.image.pixels, whole.pixels)
            #expect(quality >= last)
            last = quality
        }
        let final = try #require(try feeding.finish())
        #expect(final.isComplete && final.image.pixels.hasSamePixels(as: whole.pixels))
    }

    @Test("F-07: No preview has less detail than the one before it", arguments: [40, 80, 160, 320])
    func quality(_ side: Int) throws {
        let data = try file(texture(), progressive: true, thumbnail: side)
        let whole = try image(data)
        var qualities: [Double] = []
        var feeding = try #require(try Feeding(data))
        _ = try feeding.finish(chunks: { data.count / 60 }) {
            qualities.append(similarity($0.image.pixels, whole.pixels))
        }
        #expect(qualities.count > 2)
        for (before, after) in zip(qualities, qualities.dropFirst()) { #expect(after >= before - 0.5) }
    }

    @Test("The bytes of the final image don't depend on the thumbnail, wherever the data is split")
    func splits() throws {
        let data = try file(PixelPatterns.photo(width: 96, height: 72), thumbnail: 48)
        let whole = try image(data).pixels
        for cut in cuts(of: data) {
            var feeding = try #require(try Feeding(data))
            try feeding.append(to: cut)
            _ = try feeding.preview()
            #expect(try feeding.finish()?.image.pixels.hasSamePixels(as: whole) == true, "split at \(cut)")
        }
    }

    @Test("A corrupt thumbnail or EXIF block never prevents the image")
    func corrupt() throws {
        let data = try file(PixelPatterns.photo(width: 96, height: 72), thumbnail: 48)
        let start = try #require(data.range(of: Data("Exif".utf8))).upperBound + 2
        let end = start - 8 + Int(data[start - 8]) << 8 + Int(data[start - 7])
        var generator = SeededGenerator(5)
        for _ in 0..<LongTests.rounds(150, long: 400) {
            var broken = data
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                broken[Int.random(in: start..<end, using: &generator)] =
                    [0, 1, 0x7F, 0xFF, UInt8.random(in: 0...255, using: &generator)].randomElement(using: &generator)
                    ?? 0
            }
            guard let expected = try? image(broken), let found = try? Feeding(broken) else { continue }
            var feeding = found
            let preview = try feeding.finish(chunks: { Int.random(in: 1...900, using: &generator) }) {
                #expect($0.image.size == expected.size)
            }
            #expect(preview?.image.pixels.hasSamePixels(as: expected.pixels) == true)
        }
    }

    @Test("A thumbnail beyond the limits is ignored")
    func limits() throws {
        let data = try file(PixelPatterns.photo(width: 64, height: 48), thumbnail: 48)
        var limits = ImageLimits.desktop
        limits.maxPixels = 64 * 48
        var feeding = try #require(try Feeding(data, limits: limits))
        try feeding.append(to: scan(data) + 14)
        #expect(try feeding.preview() != nil)
        let large = [UInt8](
            try PixelPatterns.encode(PixelPatterns.photo(width: 400, height: 300), as: .jpeg(quality: 20)))
        var other = try #require(try Feeding(file(thumbnail: large, of: data), limits: limits))
        try other.append(to: scan(file(thumbnail: large, of: data)) + 14)
        #expect(try other.preview() == nil)
        #expect(try other.finish()?.isComplete == true)
    }
}
