// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Encoding within limits", .timeLimit(.minutes(5)))
struct SizeLimitTests {
    static let formats = [ImageFormat.jpeg, .png, .apng, .gif, .webp, .bmp, .tiff, .avif, .heif, .jxl]
        .filter(ImageCoderRegistry.standard.canEncode)

    private let context = ImageProcessingContext(limits: .unlimited)

    private func samples() throws -> [(name: String, pixels: PixelBuffer)] {
        [
            ("noise", try PixelPatterns.noise(width: 160, height: 120)),
            ("photo", try PixelPatterns.photo(width: 160, height: 120)),
            ("flat", try PixelPatterns.flat(width: 160, height: 120)),
        ]
    }

    @Test("No file exceeds `maxBytes`", arguments: formats)
    func maxBytes(_ format: ImageFormat) throws {
        for (name, pixels) in try samples() {
            var encoding = ImageEncoding(format: format, effort: 3)
            let free = try ImageCoderRegistry.standard.encode(
                DecodedImage(pixels: pixels), as: encoding, context: context)
            for limit in [1_500, 6_000] {
                encoding.maxByteCount = limit
                let data = try ImageCoderRegistry.standard.encode(
                    DecodedImage(pixels: pixels), as: encoding, context: context)
                #expect(data.count <= limit, "\(name)")
                if free.count <= limit { #expect(data == free, "\(name)") }
                let back = try ImageCoderRegistry.standard.decode(data, context: context)
                #expect(abs(back.size.width * 3 - back.size.height * 4) <= 4, "\(name) \(back.size)")
            }
        }
    }

    @Test("The encoder reduces the quality before the resolution, and no further than necessary")
    func quality() throws {
        let image = DecodedImage(pixels: try PixelPatterns.photo(width: 400, height: 300))
        var encoding = ImageEncoding.jpeg(quality: 85)
        let free = try ImageCoderRegistry.standard.encode(image, as: encoding, context: context)
        let limit = free.count / 2
        encoding.maxByteCount = limit
        let data = try ImageCoderRegistry.standard.encode(image, as: encoding, context: context)
        #expect(data.count <= limit)
        let back = try ImageCoderRegistry.standard.decode(data, context: context)
        #expect(back.size == image.size)
        // The search ends at 95% of the limit. The size of these JPEG files increases with the quality.
        var (low, high) = (10, 85)
        while low < high {
            let middle = (low + high + 1) / 2
            let file = try ImageCoderRegistry.standard.encode(image, as: .jpeg(quality: middle), context: context)
            if file.count <= limit { low = middle } else { high = middle - 1 }
        }
        let best = try ImageCoderRegistry.standard.encode(image, as: .jpeg(quality: low), context: context)
        #expect(data.count * 10 >= best.count * 9)
        #expect(
            similarity(back.pixels, image.pixels) > similarity(
                try ImageCoderRegistry.standard.decode(best, context: context).pixels, image.pixels) - 1)
    }

    @Test("An unreachable limit throws an error with the limit and the smallest size")
    func impossible() throws {
        let image = DecodedImage(pixels: try PixelPatterns.noise(width: 100, height: 100))
        for format in Self.formats {
            #expect {
                try ImageCoderRegistry.standard.encode(
                    image, as: ImageEncoding(format: format, effort: 1).with(\.maxByteCount, 20), context: context)
            } throws: { error in
                guard case .limitExceeded(let limit) = error as? ImageError else { return false }
                return limit.kind == .encodedSize && limit.limit == 20 && limit.actual > 20 && limit.actual < 3_000
            }
        }
    }

    @Test("The search ends if the file size doesn't increase with the quality")
    func notMonotone() throws {
        /// A coder whose file sizes vary irregularly with the quality.
        struct Jumping: ImageCoder {
            func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { false }
            func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
                throws(ImageError) -> DecodedImage
            { throw .decoding(.unknownFormat) }
            func canEncode(_ format: ImageFormat) -> Bool { true }
            func encode(
                _ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext
            ) throws(ImageError)
                -> Data
            {
                let quality = encoding.quality ?? 100
                return Data(count: 100 + quality * 37 % 89 + image.size.width)
            }
        }
        let registry = ImageCoderRegistry([Jumping()])
        let image = DecodedImage(pixels: try PixelPatterns.flat(width: 100, height: 40))
        for limit in 110...300 {
            let encoding = ImageEncoding(format: ImageFormat(rawValue: "jumping")).with(\.maxByteCount, limit)
            do {
                #expect(try registry.encode(image, as: encoding, context: context).count <= limit)
            } catch {
                #expect(limit < 220, "\(error)")
            }
        }
    }

    @Test("The timeout for encoding applies to encodes and not to decodes")
    func timeout() throws {
        let image = DecodedImage(pixels: try PixelPatterns.photo(width: 64, height: 64))
        var limits = ImageLimits.desktop
        limits.maxEncodingTime = .zero
        let png = try ImageCoderRegistry.standard.encode(image, as: .png, context: context)
        let hurried = ImageProcessingContext(limits: limits)
        for encoding in [ImageEncoding.png, ImageEncoding(format: .jpeg).with(\.maxByteCount, 100)] {
            #expect {
                try ImageCoderRegistry.standard.encode(image, as: encoding, context: hurried)
            } throws: { error in
                guard case .limitExceeded(let failure) = error as? ImageError else { return false }
                return failure.kind == .encodingTime && failure.limit == 0
            }
        }
        #expect(try ImageCoderRegistry.standard.decode(png, context: hurried).size == image.size)
    }

    @Test("`maxPixelSize` scales images down and never enlarges them", arguments: formats)
    func maxPixelSize(_ format: ImageFormat) throws {
        let image = DecodedImage(pixels: try PixelPatterns.photo(width: 90, height: 60))
        for (side, expected) in [
            (45, PixelSize(width: 45, height: 30)), (500, image.size), (1, PixelSize(width: 1, height: 1)),
        ] {
            let data = try ImageCoderRegistry.standard.encode(
                image, as: ImageEncoding(format: format).with(\.maxDimension, side), context: context)
            #expect(try ImageCoderRegistry.standard.decode(data, context: context).size == expected)
        }
    }

    @Test("Animations are encoded within `maxBytes`", arguments: [ImageFormat.gif, .webp, .apng])
    func animations(_ format: ImageFormat) throws {
        let frames = try (0..<4).map {
            (
                pixels: try PixelPatterns.noise(width: 80, height: 60, seed: UInt64($0)),
                duration: Duration.milliseconds(50)
            )
        }
        let image = try DecodedImage(animation: ImageAnimation(frames: frames))
        let data = try ImageCoderRegistry.standard.encode(
            image, as: ImageEncoding(format: format).with(\.maxByteCount, 9_000), context: context)
        let back = try ImageCoderRegistry.standard.decode(data, context: context)
        #expect(data.count <= 9_000 && back.frameCount == 4)
    }

    @Test("Invalid limits are rejected")
    func wrongOptions() throws {
        let image = DecodedImage(pixels: try PixelPatterns.flat(width: 4, height: 4))
        for (name, encoding) in [
            ("maxByteCount", ImageEncoding(format: .png).with(\.maxByteCount, 0)),
            ("maxDimension", ImageEncoding(format: .png).with(\.maxDimension, 0)),
            ("thumbnailDimension", ImageEncoding(format: .jpeg).with(\.thumbnailDimension, -1)),
        ] {
            #expect {
                try ImageCoderRegistry.standard.encode(image, as: encoding, context: context)
            } throws: {
                guard case .request(.invalidOption(let option, _)) = $0 as? ImageError else { return false }
                return option == name
            }
        }
    }

    @Test("A canceled search stops")
    func cancelled() throws {
        let flag = CancellationFlag()
        flag.cancel()
        #expect(throws: ImageError.cancelled) {
            try ImageCoderRegistry.standard.encode(
                DecodedImage(pixels: try PixelPatterns.flat(width: 4, height: 4)),
                as: ImageEncoding(format: .bmp).with(\.maxByteCount, 1),
                context: ImageProcessingContext(isCancelled: { flag.isCancelled }))
        }
    }
}
