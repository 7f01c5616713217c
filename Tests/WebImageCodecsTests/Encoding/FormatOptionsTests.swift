// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Options of WebP, AVIF, HEIF, JPEG XL, and TIFF", .timeLimit(.minutes(5)))
struct FormatOptionsTests {
    private func encode(_ pixels: PixelBuffer, _ encoding: ImageEncoding) throws -> Data {
        try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: pixels), as: encoding,
            context: ImageProcessingContext())
    }

    /// Returns the byte at `offset` after the name of a box.
    private func byte(_ data: Data, _ box: String, _ offset: Int) throws -> UInt8 {
        let name = try #require(data.firstRange(of: Data(box.utf8)))
        return data[name.upperBound + offset]
    }

    @Test("Exact WebP keeps transparent pixels black", .enabled(if: Tools.hasPillow, "needs python3-pil"))
    func exact() throws {
        let pixels = try PixelPatterns.make(width: 40, height: 40, isOpaque: false) { x, _ in
            x < 19 ? SIMD4(200, 40, 90, 255) : SIMD4(0, 0, 0, 0)
        }
        // Some transparent columns share blocks with opaque ones. There, libwebp inserts colors that compress better.
        let shades = try [true, false].map { isExact in
            let straight = try Tools.pillow(
                encode(pixels, ImageEncoding(format: .webp, quality: 90).with(\.isExact, isExact)))
            return (0..<40 * 40).filter { (20..<24).contains($0 % 40) }.reduce(0) { $0 + Int(straight[$1 * 4]) }
        }
        #expect(shades[0] < shades[1] / 2)
    }

    @Test("A lower WebP effort results in a larger file")
    func effort() throws {
        let pixels = try PixelPatterns.photo(width: 200, height: 150)
        let sizes = try [0, 9].map { try encode(pixels, ImageEncoding(format: .webp, effort: $0)).count }
        #expect(sizes[1] < sizes[0])
    }

    @Test("Each preset changes lossy WebP, at the same quality, and none changes lossless WebP")
    func presets() throws {
        let pixels = try PixelPatterns.photo(width: 200, height: 150)
        var lossless: Set<Data> = []
        var lossy: [ImageEncoding.Preset?: Data] = [:]
        let presets: [ImageEncoding.Preset?] = [nil] + ImageEncoding.Preset.allCases
        for preset in presets {
            let data = try encode(pixels, ImageEncoding(format: .webp, quality: 60).with(\.preset, preset))
            lossless.insert(
                try encode(pixels, ImageEncoding(format: .webp, isLossless: true, effort: 1).with(\.preset, preset)))
            lossy[preset] = data
            let decoded = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
            #expect(decoded.size == pixels.size)
        }
        #expect(lossless.count == 1)
        #expect(ImageEncoding.Preset.allCases.allSatisfy { lossy[$0] != lossy[nil] })
        // The presets for icons and text differ only in the number of segments, which the encoder merges if possible.
        let distinct: [ImageEncoding.Preset] = [.picture, .photo, .drawing, .icon]
        #expect(Set(distinct.compactMap { lossy[$0] }).count == 4)
        let best = try encode(pixels, ImageEncoding(format: .webp, quality: 95).with(\.preset, .photo))
        let photo = try #require(lossy[ImageEncoding.Preset.photo])
        #expect(best.count > photo.count, "the quality applies in addition to the preset")
    }

    @Test("A preset also applies to the frames of an animation")
    func animatedPreset() throws {
        let frames = try [false, true].map { hasAlpha in
            let pixels = try PixelPatterns.photo(width: 60, height: 40, hasAlpha: hasAlpha)
            return (pixels: pixels, duration: Duration.milliseconds(50))
        }
        let image = try DecodedImage(animation: ImageAnimation(frames: frames))
        let files = try [nil, ImageEncoding.Preset.text].map { preset in
            try ImageCoderRegistry.standard.encode(
                image, as: ImageEncoding(format: .webp, quality: 60).with(\.preset, preset),
                context: ImageProcessingContext())
        }
        #expect(files[0] != files[1])
    }

    #if AVIF
        /// In the AV1 codec configuration, the third byte contains the depth and the subsampling.
        @Test("AVIF uses the requested subsampling, and 10 bits for 16-bit pixels")
        func avif() throws {
            let pixels = try PixelPatterns.photo(width: 64, height: 48)
            for (choice, bits) in [(ImageEncoding.ChromaSubsampling.yuv444, 0), (.yuv422, 2), (.yuv420, 3)] {
                let data = try encode(pixels, ImageEncoding(format: .avif, effort: 1).with(\.chromaSubsampling, choice))
                #expect(try byte(data, "av1C", 2) >> 2 & 3 == UInt8(bits), "\(choice)")
            }
            let wide = try encode(PixelPatterns.wideGradient(), ImageEncoding(format: .avif, quality: 95, effort: 1))
            #expect(
                try ImageCoderRegistry.standard.decode(
                    wide,
                    context: ImageProcessingContext()
                ).metadata.bitDepth == 10)
            #expect {
                try encode(PixelPatterns.wideGradient(), ImageEncoding(format: .avif, isLossless: true))
            } throws: { ($0 as? ImageError)?.code == 5005 }
        }

        @Test(
            "AVIF keeps 10 bits and the code points of PQ and HLG if the pixels weren't converted", arguments: [16, 18])
        func keepsHighDynamicRange(transfer: Int) throws {
            let pixels = try PixelPatterns.wideGradient()
            let registry = ImageCoderRegistry.standard
            for isConverted in [false, true] {
                let image = DecodedImage(
                    pixels: pixels,
                    metadata: ImageMetadata(
                        storedSize: pixels.size, bitDepth: 16,
                        codePoints: ColorCodePoints(primaries: 9, transfer: transfer),
                        color: isConverted ? .sRGB : .source))
                let data = try registry.encode(
                    image, as: ImageEncoding(format: .avif, quality: 90, effort: 1), context: ImageProcessingContext())
                let decoded = try registry.decode(
                    data, options: ImageDecodingOptions(preservesBitDepth: true, color: .source),
                    context: ImageProcessingContext())
                #expect(decoded.metadata.bitDepth == 10 && decoded.pixels.format == .rgba16)
                #expect(decoded.metadata.transferCharacteristics == (isConverted ? 13 : transfer))
                #expect(decoded.metadata.colorPrimaries == (isConverted ? 1 : 9))
            }
        }
    #endif

    #if HEIF
        @Test(
            "HEIF uses the requested subsampling and thumbnail size",
            .enabled(if: ImageCoderRegistry.standard.canEncode(.heif)))
        func heif() throws {
            let pixels = try PixelPatterns.photo(width: 96, height: 64)
            for (choice, kind) in [
                (ImageEncoding.ChromaSubsampling?.none, 1), (.yuv420, 1), (.yuv422, 2), (.yuv444, 3),
            ] {
                let data = try encode(pixels, ImageEncoding(format: .heif).with(\.chromaSubsampling, choice))
                #expect(try byte(data, "hvcC", 16) & 3 == UInt8(kind))
            }
            let data = try encode(pixels, ImageEncoding(format: .heif).with(\.thumbnailDimension, 48))
            #expect(data.firstRange(of: Data("thmb".utf8)) != nil)
            guard FileManager.default.isExecutableFile(atPath: "/usr/bin/heif-info") else { return }
            let words = String(decoding: try Tools.run(["/usr/bin/heif-info", "picture"], data), as: UTF8.self)
            #expect(words.contains("thumbnail: 48x32"), "\(words)")
            let alpha = try PixelPatterns.photo(width: 32, height: 32, hasAlpha: true)
            let back = try ImageCoderRegistry.standard.decode(
                encode(alpha, ImageEncoding(format: .heif).with(\.background, PixelColor(red: 255, green: 0, blue: 0))),
                context: ImageProcessingContext())
            #expect(!back.isOpaque && similarity(back.pixels, alpha) > 24)
        }
    #endif

    private static let hasImageMagick = FileManager.default.isExecutableFile(atPath: "/usr/bin/convert")

    #if TIFF
        @Test("TIFF preserves 16 bits", .enabled(if: hasImageMagick, "needs imagemagick"), arguments: [false, true])
        func wideTIFF(_ hasAlpha: Bool) throws {
            let pixels = try PixelPatterns.wideGradient(hasAlpha: hasAlpha)
            let data = try encode(pixels, ImageEncoding(format: .tiff))
            let words = ["/usr/bin/convert", "picture.tif", "-depth", "16", "-endian", "LSB", "rgba:out"]
            let read = [UInt8](try Tools.output("out", words, data, as: "picture.tif"))
            #expect(worst(read, pixels) <= (hasAlpha ? 1 : 0))
        }
    #endif

    #if JXL
        @Test(
            "Lossless JPEG XL preserves 16 bits",
            .enabled(if: hasImageMagick && Tools.hasDjxl, "requires imagemagick and libjxl-tools"),
            arguments: [false, true])
        func wideJXL(_ hasAlpha: Bool) throws {
            let pixels = try PixelPatterns.wideGradient(hasAlpha: hasAlpha)
            let data = try encode(pixels, ImageEncoding(format: .jxl, isLossless: true))
            let png = try Tools.output(
                "out.png", ["/usr/bin/djxl", "picture.jxl", "out.png"], data, as: "picture.jxl")
            #expect(png[24] == 16)
            let words = ["/usr/bin/convert", "picture.png", "-depth", "16", "-endian", "LSB", "rgba:out"]
            let read = [UInt8](try Tools.output("out", words, png, as: "picture.png"))
            #expect(worst(read, pixels) <= (hasAlpha ? 1 : 0))
        }
    #endif

    /// Premultiplies the samples in `straight` and returns the largest difference from the samples of `pixels`.
    private func worst(_ straight: [UInt8], _ pixels: PixelBuffer) -> Int {
        let expected = pixels.packedBytes()
        guard straight.count == expected.count else { return .max }
        func sample(_ bytes: [UInt8], _ index: Int) -> Int { Int(bytes[index * 2]) | Int(bytes[index * 2 + 1]) << 8 }
        return (0..<expected.count / 2).reduce(0) { worst, index in
            let alpha = index % 4 == 3 ? 65_535 : sample(straight, index | 3)
            let value = (sample(straight, index) * alpha + 32_767) / 65_535
            return max(worst, abs(value - sample(expected, index)))
        }
    }
}
