// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Decoding at a smaller size")
struct ScaledDecodingTests {
    static let targets: [TargetSize] = [
        .fit(width: 50, height: 50), .fit(width: 20), .fit(height: 33), .fill(width: 40, height: 40),
        .fill(width: 64, height: 20), .stretch(width: 50, height: 25), .stretch(width: 30, height: 100),
        .exact(width: 37, height: 53), .scaled(width: 0.25, height: 0.5), .fitting(byteCount: 10_000),
    ]
    static let encodings: [ImageEncoding] = [.jpeg(quality: 92), .png, .webp.lossless, .webp(quality: 85)]

    /// The image that the tests of all modes share.
    static let source = Result { try PixelPatterns.photo(width: 331, height: 203) }

    /// A file and its pixels at full size.
    private struct File: Sendable {
        let data: Data
        let pixels: PixelBuffer

        init(_ pixels: PixelBuffer, _ encoding: ImageEncoding) throws {
            data = try PixelPatterns.encode(pixels, as: encoding)
            self.pixels = try coder(for: encoding.formatOrAutomatic).decode(
                data, info: nil, options: ImageDecodingOptions(), context: ImageProcessingContext()
            ).pixels
        }
    }

    /// The files of the shared image.
    private static let files = SharedValues<ImageEncoding, File>()

    private static func file(_ encoding: ImageEncoding) throws -> File {
        try files.value(for: encoding) { try File(source.get(), encoding) }
    }

    /// Returns the result of orienting and resampling the pixels of a file.
    private static func reference(
        _ file: File, _ orientation: ImageOrientation, _ target: TargetSize
    ) throws -> PixelBuffer {
        let context = ImageProcessingContext()
        let upright = try OrientationTransform.upright(file.pixels, orientation, context: context)
        let plan = try target.plan(for: upright.size)
        return try Resampler.resample(
            upright, window: plan.window, to: plan.output, filter: .lanczos3, context: context)
    }

    @Test(
        "Every mode matches a full decode that is scaled with Lanczos", arguments: encodings, targets)
    func modes(_ encoding: ImageEncoding, _ target: TargetSize) throws {
        let file = try Self.file(encoding)
        let image = try coder(for: encoding.formatOrAutomatic).decode(
            file.data, info: nil, options: ImageDecodingOptions(size: target), context: ImageProcessingContext())
        let expected = try Self.reference(file, .up, target)
        #expect(image.size == expected.size)
        #expect(similarity(image.pixels, expected) >= (encoding.format == .webp ? 36 : 42), "\(image.size)")
        #expect(image.metadata.storedSize == PixelSize(width: 331, height: 203))
    }

    @Test("JPEG sizes that aren't divisible by eight reach 42 dB", arguments: [325, 326, 327, 328, 329, 331, 333, 335])
    func exactWindow(_ width: Int) throws {
        let file = try File(PixelPatterns.photo(width: width, height: width - 90), .jpeg(quality: 95))
        // The decoder scales the stored values, and the rest of the reduction averages light.
        for side in [17.0, 20, 32, 40, 75, 80] {
            let target = TargetSize.fit(width: side, height: side)
            let image = try JPEGCoder().decode(
                file.data, info: nil, options: ImageDecodingOptions(size: target), context: ImageProcessingContext())
            let expected = try Self.reference(file, .up, target)
            #expect(similarity(image.pixels, expected) >= 42, "\(width) to \(side)")
        }
    }

    @Test("N-22: Orientation and scaling are combined correctly", arguments: ImageOrientation.allCases, targets)
    func orientations(_ orientation: ImageOrientation, _ target: TargetSize) throws {
        let file = try Self.file(.jpeg(quality: 95))
        let probe = ImageInfo(format: .jpeg, storedSize: file.pixels.size, orientation: orientation)
        let image = try JPEGCoder().decode(
            file.data, info: probe, options: ImageDecodingOptions(size: target), context: ImageProcessingContext())
        let expected = try Self.reference(file, orientation, target)
        #expect(image.size == expected.size)
        #expect(similarity(image.pixels, expected) >= 42)
    }

    @Test("Images are enlarged only with `exactly`", arguments: Fixture.all.filter { $0.frames == 1 })
    func noEnlargement(_ fixture: Fixture) throws {
        for target in [TargetSize.fit(width: 500, height: 500), .stretch(width: 500, height: 500)] {
            let image = try fixture.decode(ImageDecodingOptions(size: target))
            #expect(image.size == fixture.size)
        }
    }

    @Test("Every fixture is scaled down to the planned size", arguments: Fixture.all)
    func fixturesShrink(_ fixture: Fixture) throws {
        let target = TargetSize.fit(width: 9, height: 9)
        let image = try fixture.decode(ImageDecodingOptions(size: target))
        let plan = try target.plan(for: fixture.size)
        #expect(image.size == plan.output)
        if let animation = image.animation {
            #expect(try animation.frame(at: fixture.frames - 1).size == plan.output)
        }
    }

    @Test("The box filter is used if the options request it")
    func box() throws {
        let data = try PixelPatterns.encode(PixelPatterns.photo(width: 64, height: 64), as: .png)
        let target = TargetSize.fit(width: 16, height: 16)
        let lanczos = try PNGCoder().decode(
            data, info: nil, options: ImageDecodingOptions(size: target), context: ImageProcessingContext())
        let box = try PNGCoder().decode(
            data, info: nil, options: ImageDecodingOptions(size: target, resampling: .box),
            context: ImageProcessingContext())
        #expect(lanczos.pixels.packedBytes() != box.pixels.packedBytes())
    }
}
