// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

@Suite("Large sources and small results", .timeLimit(.minutes(5)))
struct LargeSourceTests {
    /// A way to encode an image, and whether its decoder reduces it without holding the whole image.
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var encoding: ImageEncoding
        var isReduced: Bool

        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "JPEG", encoding: .jpeg(quality: 90), isReduced: true),
        Case(name: "progressive JPEG", encoding: ImageEncoding(format: .jpeg, isProgressive: true), isReduced: true),
        Case(name: "PNG", encoding: .png, isReduced: true),
        Case(name: "lossy WebP", encoding: .webp(quality: 90), isReduced: true),
        Case(name: "lossless WebP", encoding: .webp.lossless, isReduced: false),
        Case(name: "GIF", encoding: ImageEncoding(format: .gif), isReduced: false),
        Case(name: "BMP", encoding: ImageEncoding(format: .bmp), isReduced: false),
        Case(name: "QOI", encoding: ImageEncoding(format: .qoi), isReduced: false),
        Case(name: "PPM", encoding: .ppm, isReduced: true),
        Case(name: "TIFF", encoding: ImageEncoding(format: .tiff), isReduced: true),
    ].filter { ImageCoderRegistry.standard.canEncode($0.encoding.formatOrAutomatic) }

    private let small = TargetSize.fit(width: 16, height: 16)

    private static let files = SharedValues<ImageEncoding, Data>()

    private func file(_ encoding: ImageEncoding) throws -> Data {
        try Self.files.value(for: encoding) {
            let image = DecodedImage(pixels: try PixelPatterns.photo(width: 200, height: 200))
            return try ImageCoderRegistry.standard.encode(
                image, as: encoding, context: ImageProcessingContext(limits: .unlimited))
        }
    }

    private func decode(_ data: Data, _ size: TargetSize?, _ limits: ImageLimits) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(
            data, options: ImageDecodingOptions(size: size), context: ImageProcessingContext(limits: limits))
    }

    private func failure(_ data: Data, _ size: TargetSize?, _ limits: ImageLimits) -> ImageError.LimitFailure? {
        limitFailure { _ = try decode(data, size, limits) }
    }

    /// Returns the exceeded limit that `body` throws, or `nil` if it succeeds or throws another error.
    private func limitFailure(_ body: () throws -> Void) -> ImageError.LimitFailure? {
        do {
            try body()
            return nil
        } catch {
            guard case .limitExceeded(let failure)? = error as? ImageError else { return nil }
            return failure
        }
    }

    @Test("The limit for pixels applies to the reduced image if the decoder reduces it", arguments: cases)
    func reduced(_ item: Case) throws {
        let data = try file(item.encoding)
        var limits = ImageLimits.desktop
        limits.maxPixels = 5_000
        guard item.isReduced else {
            #expect(failure(data, small, limits)?.kind == .pixelCount)
            return
        }
        let image = try decode(data, small, limits)
        #expect(image.size == PixelSize(width: 16, height: 16))
        #expect(similarity(image.pixels, try decode(data, small, .unlimited).pixels) > 40)
    }

    @Test("The limit for a side applies to the reduced image if the decoder reduces it", arguments: cases)
    func side(_ item: Case) throws {
        let data = try file(item.encoding)
        var limits = ImageLimits.desktop
        limits.maxDimension = 199
        #expect(failure(data, nil, limits)?.kind == .dimension)
        #expect(failure(data, small, limits)?.kind == (item.isReduced ? nil : .dimension))
    }

    @Test("The limit for pixels applies to the whole image without a size or if the decoder holds it", arguments: cases)
    func whole(_ item: Case) throws {
        let data = try file(item.encoding)
        var limits = ImageLimits.desktop
        limits.maxPixels = 39_999
        for size in item.isReduced ? [nil] : [nil, TargetSize.fit(width: 150, height: 150)] {
            let found = try #require(failure(data, size, limits))
            #expect(found.kind == .pixelCount && found.actual == 40_000 && found.limit == 39_999)
        }
        limits.maxPixels = 40_000
        #expect(failure(data, nil, limits) == nil)
    }

    @Test("The limit for the size in the header applies to every request", arguments: cases)
    func header(_ item: Case) throws {
        let data = try file(item.encoding)
        var limits = ImageLimits.desktop
        limits.maxSourcePixels = 39_999
        for size in [nil, small] {
            let found = try #require(failure(data, size, limits))
            #expect(found.kind == .sourcePixelCount && found.actual == 40_000 && found.limit == 39_999)
        }
        limits.maxSourcePixels = 40_000
        #expect(failure(data, small, limits) == nil)
    }

    @Test("A direct call of a coder also checks the limits", arguments: cases)
    func direct(_ item: Case) throws {
        let data = try file(item.encoding)
        let direct = try coder(for: item.encoding.formatOrAutomatic)
        let info = try ImageInfo(data: data)
        var limits = ImageLimits.desktop
        limits.maxPixels = 5_000
        func kind(_ size: TargetSize?) -> ImageError.LimitFailure.Kind? {
            let failure = limitFailure {
                _ = try direct.decode(
                    data, info: info, options: ImageDecodingOptions(size: size),
                    context: ImageProcessingContext(limits: limits))
            }
            return failure?.kind
        }
        #expect(kind(nil) == .pixelCount)
        #expect(kind(small) == (item.isReduced ? nil : .pixelCount))
        limits.maxSourcePixels = 1
        if item.isReduced { #expect(kind(small) == .sourcePixelCount) }
    }

    @Test("A JPEG file of 400 megapixels is decoded at a small size within the default limits")
    func largeJPEG() throws {
        let data = LargeImages.jpeg(width: 20_000, height: 20_000)
        let image = try decode(data, .fit(width: 300, height: 300), .desktop)
        #expect(image.size == PixelSize(width: 300, height: 300))
        #expect(image.metadata.storedSize == PixelSize(width: 20_000, height: 20_000))
        let pixel = try #require(image.pixels.pixel(x: 150, y: 299))
        #expect(pixel.red == 128 && pixel.green == 128 && pixel.blue == 128 && pixel.alpha == 255)
        #expect(failure(data, nil, .desktop)?.kind == .dimension)
        #expect(failure(data, .fit(width: 300, height: 300), .server)?.kind == .sourcePixelCount)
        let larger = LargeImages.jpeg(width: 20_008, height: 20_000)
        #expect(failure(larger, .fit(width: 300, height: 300), .desktop)?.kind == .sourcePixelCount)
        let progressive = LargeImages.jpeg(width: 9_000, height: 8_000, isProgressive: true)
        #expect(failure(progressive, nil, .desktop)?.kind == .pixelCount)
        // The coefficients of 400 megapixels exceed twice the limit for decoded bytes.
        let huge = LargeImages.jpeg(width: 20_000, height: 20_000, isProgressive: true)
        let found = try #require(failure(huge, .fit(width: 300, height: 300), .desktop))
        #expect(found.kind == .decodedSize && found.limit == 512 << 20 && found.actual >= 800_000_000)
    }

    /// The requested sizes and the sides of the square images of the next test.
    private static let sizes: [TargetSize] = [
        .fit(width: 100, height: 100), .fit(width: 30, height: 30), .fitting(byteCount: 40_000),
    ]
    private static let sides = [101, 110, 125, 150, 199, 200, 201, 260, 330, 401]

    @Test(
        "A smaller size is decoded from sources of every size, with the pixels that larger limits produce",
        arguments: cases.filter(\.isReduced))
    func everySource(_ item: Case) throws {
        var limits = ImageLimits.desktop
        limits.maxPixels = 10_200
        for side in Self.sides {
            let source = DecodedImage(pixels: try PixelPatterns.photo(width: side, height: side))
            let data = try ImageCoderRegistry.standard.encode(
                source, as: item.encoding, context: ImageProcessingContext(limits: .unlimited))
            for size in Self.sizes {
                let image = try decode(data, size, limits)
                let expected = try decode(data, size, .unlimited)
                #expect(image.size == expected.size, "\(side)")
                #expect(similarity(image.pixels, expected.pixels) > 28, "\(side) \(image.size)")
            }
            // The whole image is decoded only within the limit.
            #expect((failure(data, nil, limits) == nil) == (side * side <= limits.maxPixels))
        }
    }

    @Test("A JPEG file that the limits reduce row by row has the orientation and the region of the request")
    func rows() throws {
        let source = DecodedImage(pixels: try PixelPatterns.photo(width: 180, height: 120))
        var limits = ImageLimits.desktop
        limits.maxPixels = 15_000
        for isProgressive in [false, true] {
            let data = try ImageCoderRegistry.standard.encode(
                source, as: ImageEncoding(format: .jpeg, isProgressive: isProgressive),
                context: ImageProcessingContext(limits: .unlimited))
            for size in [TargetSize.fit(width: 140, height: 140), .fill(width: 110, height: 110)] {
                let image = try decode(data, size, limits)
                let expected = try decode(data, size, .unlimited)
                #expect(image.size == expected.size)
                #expect(similarity(image.pixels, expected.pixels) > 45)
            }
        }
    }

    private static let viewSizes: [TargetSize] = [
        .fit(width: 3_840, height: 2_160), .fitting(byteCount: 60 << 20), .fit(width: 200),
    ]

    @Test("The header of a photograph of 50 to 108 megapixels suffices to accept it at the size of a view")
    func photographs() throws {
        let coders = ImageCoderRegistry.standard
        for pixels in [52.0, 60, 64, 70, 85, 100, 108] {
            let height = Int((pixels * 1e6 * 3 / 4).squareRoot())
            let width = height * 4 / 3
            for isProgressive in [false, true] {
                // The header has one component, so the coefficients are those of a gray image.
                let data = LargeImages.jpeg(width: width, height: height, isProgressive: isProgressive)
                for size in Self.viewSizes {
                    let options = ImageDecodingOptions(size: size)
                    #expect(throws: Never.self) { _ = try coders.inspect(data, options: options, limits: .desktop) }
                }
                #expect(throws: ImageError.self) { _ = try coders.inspect(data, limits: .desktop) }
            }
        }
    }

    @Test("A PNG file of 64 megapixels is decoded row by row")
    func largePNG() throws {
        let data = LargeImages.png(width: 8_000, height: 8_000)
        var limits = ImageLimits.desktop
        limits.maxDecodingTime = .unlimited
        // The whole image needs 256 MB.
        limits.maxDecodedBytes = 16 << 20
        var options = ImageDecodingOptions(size: .fit(width: 100, height: 100))
        options.resampling = .box
        let image = try ImageCoderRegistry.standard.decode(
            data, options: options, context: ImageProcessingContext(limits: limits))
        #expect(image.size == PixelSize(width: 100, height: 100) && image.isOpaque)
        let pixel = try #require(image.pixels.pixel(x: 99, y: 99))
        #expect(pixel.red == 0 && pixel.green == 0 && pixel.blue == 0 && pixel.alpha == 255)
        #expect(failure(data, nil, .desktop)?.kind == .pixelCount)
        // A quarter of the pixels isn't small enough to decode row by row, unless the limits require it.
        let quarter = ImageDecodingOptions(size: .fit(width: 4_000, height: 4_000))
        #expect(ImageCoderRegistry.standard.requirements(for: try ImageInfo(data: data), options: quarter) == nil)
        _ = try ImageCoderRegistry.standard.inspect(data, options: quarter, limits: .desktop)
    }

    @Test("The header of a PNG file of 400 megapixels suffices to accept or reject it")
    func hugePNG() throws {
        let data = LargeImages.png(width: 20_000, height: 20_000)
        let coders = ImageCoderRegistry.standard
        func kind(_ size: TargetSize?, _ limits: ImageLimits, anySize: Bool = false) -> ImageError.LimitFailure.Kind? {
            let failure = limitFailure {
                _ = try coders.inspect(
                    data, options: ImageDecodingOptions(size: size), limits: limits, anySize: anySize)
            }
            return failure?.kind
        }
        #expect(kind(.fit(width: 300), .desktop) == nil)
        #expect(kind(nil, .desktop) == .dimension)
        #expect(kind(nil, .desktop, anySize: true) == nil)
        #expect(kind(.fit(width: 300), .server) == .sourcePixelCount)
        #expect(kind(nil, .server, anySize: true) == .sourcePixelCount)
    }

    @Test("The requirements of a decode contain the reduced image and the result")
    func requirements() throws {
        let coders = ImageCoderRegistry.standard
        let options = ImageDecodingOptions(size: .fit(width: 300, height: 300))
        let size = PixelSize(width: 20_000, height: 20_000)
        let result = 300 * 300 * 4
        let jpeg = coders.requirements(for: ImageInfo(format: .jpeg, storedSize: size), options: options)
        #expect(jpeg?.size == PixelSize(width: 2_500, height: 2_500))
        #expect(jpeg?.byteCount == 2_500 * 2_500 * 4 + 2 * result)
        let progressive = coders.requirements(
            for: ImageInfo(format: .jpeg, storedSize: size, isProgressive: true), options: options)
        #expect(progressive?.size == PixelSize(width: 2_500, height: 2_500))
        #expect(progressive?.coefficientBytes == 400_000_000 * 6)
        #expect(progressive?.byteCount == 2_500 * 2_500 * 4 + 2 * result + 400_000_000 * 6)
        let png = coders.requirements(for: ImageInfo(format: .png, storedSize: size, bitDepth: 1), options: options)
        #expect(png?.size == PixelSize(width: 300, height: 300))
        #expect(png?.byteCount == 2 * result + 20_000 * 32 * 4 + 20_000 * 7 * 16 + 20_000 * 16 * 8)
        let webpSize = PixelSize(width: 12_000, height: 12_000)
        let webp = coders.requirements(
            for: ImageInfo(format: .webp, storedSize: webpSize, hasAlpha: true), options: options)
        // The scaler of libwebp reduces an image to five times the requested pixels of a small result on each axis.
        #expect(webp?.size == PixelSize(width: 1_500, height: 1_500))
        #expect(webp?.byteCount == 1_500 * 1_500 * 4 + 2 * result + 144_000_000)
        let lossless = coders.requirements(
            for: ImageInfo(format: .webp, storedSize: webpSize, isLosslessWebP: true), options: options)
        #expect(lossless?.size == webpSize)
        // These files are decoded as a whole.
        for info in [
            ImageInfo(format: .png, storedSize: size, isProgressive: true),
            ImageInfo(format: .apng, storedSize: size, frameCount: 2), ImageInfo(format: .gif, storedSize: size),
            ImageInfo(format: .webp, storedSize: webpSize, frameCount: 2), ImageInfo(format: .bmp, storedSize: size),
            ImageInfo(format: .tiff, storedSize: size), ImageInfo(format: .tiff, storedSize: size, rowsPerUnit: 5_000),
        ] {
            #expect(coders.requirements(for: info, options: options) == nil, "\(info.format)")
        }
        #expect(
            coders.requirements(
                for: ImageInfo(format: .jpeg, storedSize: size), options: ImageDecodingOptions()) == nil)
    }
}
