// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Hostile files can't use more memory than the limits allow")
struct HostileMemoryTests {
    private static let size = PixelSize(width: 400, height: 300)
    private static let canvasBytes = 400 * 300 * 4

    private func limitFailure(_ body: () throws -> Void) -> ImageError.LimitFailure? {
        do {
            try body()
            return nil
        } catch {
            guard case .limitExceeded(let failure)? = error as? ImageError else { return nil }
            return failure
        }
    }

    private func context(maxDecodedBytes: Int) -> ImageProcessingContext {
        var limits = ImageLimits.desktop
        limits.maxDecodedBytes = maxDecodedBytes
        return ImageProcessingContext(limits: limits)
    }

    /// Returns a GIF with a large canvas and two frames of a single red pixel each.
    private func gif(restoresCanvas: Bool) -> Data {
        var bytes: [UInt8] = Array("GIF89a".utf8) + [0x90, 1, 0x2C, 1, 0x80, 0, 0, 255, 0, 0, 0, 0, 255]
        for _ in 0..<2 {
            bytes += [0x21, 0xF9, 4, restoresCanvas ? 3 << 2 : 1 << 2, 10, 0, 0, 0]
            bytes += [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
        }
        return Data(bytes + [0x3B])
    }

    @Test("The canvas, its backup, the frame, and the snapshot of a GIF animation count for the limit of decoded bytes")
    func gifMemory() throws {
        func failure(_ data: Data, _ frames: FrameSelection = .all) -> ImageError.LimitFailure? {
            limitFailure {
                var options = ImageDecodingOptions()
                options.frames = frames
                _ = try GIFCoder().decode(
                    data, info: nil, options: options, context: context(maxDecodedBytes: Self.canvasBytes * 5 / 2))
            }
        }
        #expect(failure(gif(restoresCanvas: false)) == nil)
        let error = try #require(failure(gif(restoresCanvas: true)))
        #expect(error.kind == .decodedSize && error.actual == Self.canvasBytes * 3 + 1)
        #expect(error.limit == Self.canvasBytes * 5 / 2)
        #expect(failure(gif(restoresCanvas: true), .first) == nil, "a still image needs no backup")
    }

    @Test("Animated PNG and WebP files need three canvases", arguments: [ImageEncoding.apng, .webp.lossless])
    func otherMemory(_ encoding: ImageEncoding) throws {
        let size = Self.size
        let durations = [Duration.milliseconds(40), .milliseconds(40)]
        let animation = try ImageAnimation(frameDurations: durations, size: size) { (place) throws(ImageError) in
            try AnimationMemoryTests.frame(place * 9, size)
        }
        let used = try coder(for: encoding.formatOrAutomatic)
        let data = try used.encode(
            DecodedImage(animation: animation), as: encoding, context: ImageProcessingContext())
        let failure = limitFailure {
            _ = try used.decode(
                data, info: nil, options: ImageDecodingOptions(),
                context: context(maxDecodedBytes: Self.canvasBytes * 9 / 4))
        }
        #expect(failure?.kind == .decodedSize)
        #expect(
            try used.decode(data, info: nil, options: ImageDecodingOptions(), context: ImageProcessingContext())
                .frameCount == 2)
    }

    @Test(
        "A color profile from which Little CMS can't build a transform isn't embedded",
        arguments: [ImageFormat.png, .jpeg, .webp, .tiff, .avif, .jxl])
    func profiles(_ format: ImageFormat) throws {
        guard ImageCoderRegistry.standard.canEncode(format) else { return }
        let valid = try ColorFixture.profile("adobe")
        // The profile declares no tags.
        let hostile = Array(valid.prefix(128)) + [0, 0, 0, 0]
        let pixels = try AnimationMemoryTests.frame(0, Self.size)
        let metadata = ImageMetadata(storedSize: pixels.size, iccProfile: hostile, color: .source)
        let data = try coder(for: format).encode(
            DecodedImage(pixels: pixels, metadata: metadata), as: ImageEncoding(format: format),
            context: ImageProcessingContext())
        #expect(data.range(of: Data("acsp".utf8)) == nil)
        let back = try coder(for: format).decode(
            data, info: nil, options: ImageDecodingOptions(), context: ImageProcessingContext())
        #expect(back.metadata.iccProfile != Data(hostile))
    }
}
