// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Encoding JPEG")
struct JPEGEncodingTests {
    /// Returns the sampling factors of each component from the frame header (ITU-T T.81, B.2.2).
    private func factors(_ data: Data) throws -> [UInt8] {
        let bytes = [UInt8](data)
        let start = try #require(
            (2..<bytes.count - 10).first { bytes[$0] == 0xFF && [0xC0, 0xC2].contains(bytes[$0 + 1]) })
        return (0..<Int(bytes[start + 9])).map { bytes[start + 11 + $0 * 3] }
    }

    private func encode(_ encoding: ImageEncoding, _ pixels: PixelBuffer? = nil) throws -> Data {
        try PixelPatterns.encode(try pixels ?? PixelPatterns.photo(width: 120, height: 90), as: encoding)
    }

    @Test("The chroma subsampling is the requested one and otherwise depends on the quality")
    func subsampling() throws {
        var encoding = ImageEncoding.jpeg(quality: 80)
        #expect(try factors(encode(encoding)) == [0x22, 0x11, 0x11])
        for (choice, expected) in [(ImageEncoding.ChromaSubsampling.yuv444, 0x11), (.yuv422, 0x21), (.yuv420, 0x22)] {
            for isProgressive in [false, true] {
                encoding.chromaSubsampling = choice
                encoding.isProgressive = isProgressive
                let data = try encode(encoding)
                #expect(try factors(data) == [UInt8(expected), 0x11, 0x11])
                let image = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
                #expect(similarity(image.pixels, try PixelPatterns.photo(width: 120, height: 90)) > 28)
            }
        }
        #expect(try factors(encode(.jpeg(quality: 90))) == [0x11, 0x11, 0x11])
    }

    @Test("Gray images have one component, also if the image is transparent over a gray background")
    func gray() throws {
        let gray = try PixelPatterns.make(width: 40, height: 30, isOpaque: true) { x, y in
            let value = UInt8(x * 5 + y)
            return SIMD4(value, value, value, 255)
        }
        let data = try encode(.jpeg(quality: 95), gray)
        #expect(try factors(data).count == 1)
        let image = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
        #expect(similarity(image.pixels, gray) > 40)
        let clear = try PixelPatterns.make(width: 8, height: 8, isOpaque: false) { _, _ in SIMD4(0, 0, 0, 0) }
        #expect(try factors(encode(.jpeg, clear)).count == 1)
        var red = ImageEncoding.jpeg
        red.background = PixelColor(red: 255, green: 0, blue: 0)
        #expect(try factors(encode(red, clear)).count == 3)
    }

    @Test("Optimized tables reduce the file size and change no pixel")
    func tables() throws {
        var encoding = ImageEncoding.jpeg(quality: 85)
        let made = try encode(encoding)
        encoding.optimizesHuffmanTables = false
        let standard = try encode(encoding)
        #expect(made.count < standard.count)
        let images = try [made, standard].map {
            try ImageCoderRegistry.standard.decode(
                $0,
                context: ImageProcessingContext())
        }
        #expect(images[0].pixels.packedBytes() == images[1].pixels.packedBytes())
    }

    @Test(
        "Edges between saturated colors keep their light in files with reduced chroma",
        .enabled(if: Tools.hasDjpeg, "requires libjpeg-turbo-progs"))
    func keepsLightOfEdges() throws {
        let image = try PixelPatterns.make(width: 201, height: 133, isOpaque: true) { x, y in
            ((x / 3 + y / 5) % 2 == 0) ? SIMD4(220, 10, 20, 255) : SIMD4(10, 20, 30, 255)
        }
        let pixels = image.packedBytes().enumerated().filter { $0.offset % 4 != 3 }.map(\.element)
        let header = Data("P6 201 133 255\n".utf8)
        func plain(quality: Int) throws -> Data {
            let words = ["/usr/bin/cjpeg", "-quality", "\(quality)", "-sample", "2x2", "-optimize", "picture"]
            return try Tools.run(words, header + Data(pixels))
        }
        let own = try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: image), as: .jpeg(quality: 80))
        /// Returns the luminance of each pixel in linear light.
        func luminance(_ samples: [UInt8]) -> [Double] {
            let light: [Double] = samples.map { pow(Double($0) / 255, 2.2) }
            return stride(from: 0, to: light.count, by: 3).map { (index: Int) -> Double in
                let (red, green, blue) = (light[index], light[index + 1], light[index + 2])
                return 0.2126 * red + 0.7152 * green + 0.0722 * blue
            }
        }
        /// Returns the mean light of the image as another decoder shows it, relative to the mean light of the source, and
        /// the mean squared error of the luminance.
        func light(_ file: Data) throws -> (mean: Double, error: Double) {
            let words = ["/usr/bin/djpeg", "-dct", "int", "-pnm", "picture"]
            let decoded = [UInt8](try Tools.run(words, file).suffix(pixels.count))
            func sum(_ samples: [UInt8]) -> Double { samples.reduce(0.0) { $0 + pow(Double($1), 2.2) } }
            var squares = 0.0
            let (shown, source) = (luminance(decoded), luminance(pixels))
            for (own, other) in zip(shown, source) { squares += (own - other) * (own - other) }
            return (sum(decoded) / sum(pixels), squares / Double(shown.count))
        }
        let (corrected, uncorrected) = (try light(own), try light(plain(quality: 80)))
        #expect(abs(corrected.mean - 1) < 0.08, "\(corrected)")
        #expect(abs(corrected.mean - 1) < abs(uncorrected.mean - 1) / 2, "\(corrected), \(uncorrected)")
        // The corrected luma of such edges has more detail, which needs 1.23 times the bytes at the same quality. More
        // bytes don't replace it: the larger file with quality 88 has seven times the error.
        let larger = try plain(quality: 88)
        #expect(own.count < larger.count, "\(own.count), \(larger.count)")
        #expect(corrected.error < (try light(larger)).error / 4, "\(corrected)")
    }

    @Test(
        "The light of edges costs few bytes in an image like a photograph",
        .enabled(if: Tools.hasDjpeg, "requires libjpeg-turbo-progs"))
    func costsFewBytes() throws {
        let image = try PixelPatterns.texture(width: 320, height: 240)
        let pixels = image.packedBytes().enumerated().filter { $0.offset % 4 != 3 }.map(\.element)
        let plain = try Tools.run(
            ["/usr/bin/cjpeg", "-quality", "80", "-sample", "2x2", "-optimize", "picture"],
            Data("P6 320 240 255\n".utf8) + Data(pixels))
        let own = try ImageCoderRegistry.standard.encode(DecodedImage(pixels: image), as: .jpeg(quality: 80))
        #expect(Double(own.count) < Double(plain.count) * 1.03, "\(own.count), \(plain.count)")
    }

    @Test(
        "Files with reduced chroma have every row and column, regardless of the size",
        arguments: [(1, 1), (2, 1), (1, 2), (16, 16), (17, 33), (15, 16), (16, 17), (129, 31), (3, 48), (131, 259)])
    func reducesChroma(_ width: Int, _ height: Int) throws {
        let image = try PixelPatterns.make(width: width, height: height, isOpaque: true) { x, y in
            SIMD4(UInt8(x * 255 / width), UInt8(y * 255 / height), UInt8(128 + x * 60 / width), 255)
        }
        var encoding = ImageEncoding.jpeg(quality: 95)
        encoding.chromaSubsampling = .yuv420
        let data = try ImageCoderRegistry.standard.encode(DecodedImage(pixels: image), as: encoding)
        let decoded = try ImageCoderRegistry.standard.decode(data).pixels
        #expect(decoded.size == image.size)
        let worst = SampleDifferences(decoded.packedBytes(), image.packedBytes())?.largest ?? .max
        // Large differences of chroma between neighbors exist only in the tiny images.
        #expect(worst <= (min(width, height) < 4 ? 140 : 40), "\(worst)")
    }

    @Test(
        "The djpeg program reads the same pixels as WebImage from every variant",
        .enabled(if: Tools.hasDjpeg, "requires libjpeg-turbo-progs"))
    func djpeg() throws {
        for subsampling in ImageEncoding.ChromaSubsampling.allCases {
            var encoding = ImageEncoding.jpeg(quality: 88, isProgressive: subsampling == .yuv422)
            encoding.chromaSubsampling = subsampling
            let data = try encode(encoding)
            let words = ["/usr/bin/djpeg", "-dct", "int", "-pnm", "picture"]
            let pixels = [UInt8](try Tools.run(words, data)).suffix(120 * 90 * 3)
            let image = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
            let own = image.pixels.packedBytes().enumerated().filter { $0.offset % 4 != 3 }.map(\.element)
            #expect(difference(Array(pixels), own) < 0.1)
        }
    }

    @Test("The EXIF thumbnail is a JPEG of the requested size and never larger than the image")
    func thumbnail() throws {
        for (side, expected) in [(32, PixelSize(width: 32, height: 24)), (1_000, PixelSize(width: 120, height: 90))] {
            var encoding = ImageEncoding.jpeg
            encoding.thumbnailDimension = side
            let data = try encode(encoding)
            let exif = try #require(EmbeddedMetadata(reading: data).exif)
            let start = try #require(Data(exif).firstRange(of: Data([0xFF, 0xD8, 0xFF])))
            let small = try ImageCoderRegistry.standard.decode(
                Data(exif[start.lowerBound...]), context: ImageProcessingContext())
            #expect(small.size == expected)
            let whole = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
            #expect(whole.size == PixelSize(width: 120, height: 90))
            guard Tools.hasExiftool else { continue }
            let read = try Tools.run(
                ["/usr/bin/exiftool", "-b", "-ThumbnailImage", "picture.jpg"], data, as: "picture.jpg")
            #expect(read == Data(exif[start.lowerBound...]))
        }
    }

    @Test("16-bit pixels are rounded to 8 bits")
    func wide() throws {
        let image = DecodedImage(pixels: try PixelPatterns.wideGradient())
        for format in [ImageFormat.jpeg, .webp, .bmp, .gif] {
            let encoding = ImageEncoding(format: format, quality: 100).with(\.chromaSubsampling, .yuv444)
            let data = try ImageCoderRegistry.standard.encode(image, as: encoding, context: ImageProcessingContext())
            let back = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
            let corner = try #require(back.pixels.pixel(x: 49, y: 39))
            #expect(abs(Int(corner.red) - 250) < 12, "\(format)")
        }
    }
}
