// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Encoding optional formats, icons, and bitmaps")
struct OptionalEncodingTests {
    private static let encodable = [ImageFormat.bmp, .qoi, .pam, .ico, .avif, .jxl, .tiff, .heif]
        .filter(ImageCoderRegistry.standard.canEncode)
    private static let exact = encodable.filter { $0 != .heif }

    private func roundTrip(_ pixels: PixelBuffer, _ encoding: ImageEncoding, _ coder: (any ImageCoder)? = nil)
        throws -> DecodedImage
    {
        var registry = ImageCoderRegistry.standard
        if let coder { registry.register(coder) }
        let data = try registry.encode(DecodedImage(pixels: pixels), as: encoding, context: ImageProcessingContext())
        let image = try registry.decode(data, context: ImageProcessingContext())
        #expect(image.format == encoding.formatOrAutomatic)
        return image
    }

    @Test("Lossless encodings preserve every pixel", arguments: exact)
    func keepsPixels(_ format: ImageFormat) throws {
        let pictures = [
            try PixelPatterns.photo(width: 67, height: 45),
            try PixelPatterns.photo(width: 33, height: 21, hasAlpha: true),
            try PixelPatterns.everyPremultipliedValue(),
        ]
        for pixels in pictures {
            let image = try roundTrip(pixels, ImageEncoding(format: format, isLossless: true))
            #expect(image.pixels.hasSamePixels(as: pixels), "\(pixels.size)")
            #expect(image.isOpaque == pixels.isOpaque)
        }
    }

    @Test("Lossy encodings are similar to the original, and more so with a higher quality", arguments: encodable)
    func comesClose(_ format: ImageFormat) throws {
        for hasAlpha in [false, true] {
            let pixels = try PixelPatterns.photo(width: 122, height: 78, hasAlpha: hasAlpha)
            let low = try roundTrip(pixels, ImageEncoding(format: format, quality: 30))
            let high = try roundTrip(pixels, ImageEncoding(format: format, quality: 95))
            #expect(similarity(low.pixels, pixels) > 24)
            #expect(similarity(high.pixels, pixels) > 34)
            #expect(similarity(high.pixels, pixels) >= similarity(low.pixels, pixels))
        }
    }

    @Test("Odd and small sizes can be encoded", arguments: encodable)
    func sizes(_ format: ImageFormat) throws {
        for (width, height) in [(1, 1), (1, 9), (7, 1), (13, 5)] {
            let pixels = try PixelPatterns.photo(width: width, height: height)
            #expect(try roundTrip(pixels, ImageEncoding(format: format)).size == pixels.size)
        }
    }

    @Test("Invalid options throw", arguments: encodable.filter { ![.bmp, .qoi, .pam, .ico].contains($0) })
    func wrongOptions(_ format: ImageFormat) throws {
        let image = DecodedImage(pixels: try PixelPatterns.photo(width: 8, height: 8))
        #expect(throws: ImageError.request(.invalidOption(name: "effort", value: "11"))) {
            try ImageCoderRegistry.standard.encode(
                image, as: ImageEncoding(format: format, effort: 11), context: ImageProcessingContext())
        }
    }

    @Test("An icon contains the requested sizes, except those that would be enlarged")
    func iconSizes() throws {
        let pixels = try PixelPatterns.photo(width: 128, height: 64, hasAlpha: true)
        let data = try DecodedImage(pixels: pixels).encoded(as: .ico(dimensions: [16, 32, 64, 256]))
        let sizes = try (0..<3).map {
            try ImageCoderRegistry.standard.decode(
                data, options: ImageDecodingOptions(frames: .index($0)), context: ImageProcessingContext()
            ).size
        }
        #expect(sizes == [16, 32, 64].map { PixelSize(width: $0, height: $0 / 2) })
        let small = try ImageCoderRegistry.standard.decode(
            data, options: ImageDecodingOptions(size: .fit(width: 32)), context: ImageProcessingContext())
        #expect(small.metadata.storedSize == PixelSize(width: 32, height: 16))
    }

    @Test("An icon larger than 256 pixels is rejected")
    func tooLargeIcon() throws {
        let image = DecodedImage(pixels: try PixelPatterns.photo(width: 257, height: 8))
        #expect {
            try ICOCoder().encode(
                image, as: ImageEncoding(format: .ico),
                context: ImageProcessingContext())
        } throws: {
            ($0 as? ImageError)?.code == 5005
        }
    }

    #if AVIF
        @Test("AVIF is written with 10 bits if the coder is configured for it")
        func tenBits() throws {
            let pixels = try PixelPatterns.photo(width: 60, height: 40)
            let image = try roundTrip(pixels, ImageEncoding(format: .avif, quality: 90), AVIFCoder(encodedDepth: 10))
            #expect(image.metadata.bitDepth == 10)
            #expect(similarity(image.pixels, pixels) > 34)
            #expect(throws: ImageError.request(.invalidOption(name: "encodedDepth", value: "9"))) {
                try AVIFCoder(encodedDepth: 9).encode(
                    DecodedImage(pixels: pixels), as: ImageEncoding(format: .avif), context: ImageProcessingContext())
            }
        }
    #endif

    #if TIFF
        @Test("TIFF is written with every compression", arguments: [TIFFCoder.Compression.none, .lzw, .deflate])
        func compressions(_ compression: TIFFCoder.Compression) throws {
            let pixels = try PixelPatterns.photo(width: 60, height: 40, hasAlpha: true)
            let image = try roundTrip(pixels, ImageEncoding(format: .tiff), TIFFCoder(compression: compression))
            let isSame = image.pixels.packedBytes() == pixels.packedBytes()
            #expect(isSame)
        }
    #endif
}
