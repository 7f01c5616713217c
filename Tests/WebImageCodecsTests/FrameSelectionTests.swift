// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Frame selection")
struct FrameSelectionTests {
    /// Returns an animated GIF whose frames have different shades of red.
    private func animation() throws -> Data {
        let size = PixelSize(width: 8, height: 8)
        let frames = try (0..<5).map { number in
            let color = PixelColor(red: UInt8(number * 50), green: 0, blue: 0)
            let duration = Duration.milliseconds(100 + number * 10)
            return (pixels: try PixelBuffer.filled(with: color, size: size), duration: duration)
        }
        let image = try DecodedImage(animation: ImageAnimation(frames: frames))
        return try image.encoded(as: ImageEncoding(format: .gif))
    }

    private func reds(_ image: DecodedImage) throws -> [UInt8?] {
        guard let animation = image.animation else { return [image.pixels.color(x: 0, y: 0)?.red] }
        return try (0..<image.frameCount).map { try animation.frame(at: $0).color(x: 0, y: 0)?.red }
    }

    @Test(
        "A decoded image has the selected frames in the selected order",
        arguments: [
            (.all, [0, 50, 100, 150, 200]), (.first, [0]), (.index(3), [150]), (.range(1..<3), [50, 100]),
            (.range(4..<5), [200]), (.indices([3, 0]), [150, 0]), (.indices([2]), [100]),
        ] as [(FrameSelection, [UInt8])])
    func decoding(_ frames: FrameSelection, _ expected: [UInt8]) throws {
        let image = try DecodedImage(data: animation(), options: ImageDecodingOptions(frames: frames))
        #expect(try reds(image) == expected)
        #expect(image.isAnimated == (expected.count > 1))
    }

    @Test("Frames that don't exist throw `frameNotFound`")
    func missingFrames() throws {
        let data = try animation()
        for frames in [FrameSelection.index(5), .range(3..<6), .indices([0, 5])] {
            #expect(throws: ImageError.request(.frameNotFound(index: 5, frameCount: 5))) {
                try DecodedImage(data: data, options: ImageDecodingOptions(frames: frames))
            }
        }
    }

    /// The formats that can be encoded.
    private static let encodable = [
        ImageFormat.jpeg, .png, .apng, .gif, .webp, .bmp, .qoi, .ppm, .pam, .ico, .tiff, .heif, .avif, .jxl,
    ].filter(ImageCoderRegistry.standard.canEncode)

    @Test("A coder that's called directly writes only the selected frame", arguments: encodable)
    func directEncoding(_ format: ImageFormat) throws {
        let size = PixelSize(width: 64, height: 64)
        let frames = try ([0, 100, 200] as [UInt8]).map { red -> (pixels: PixelBuffer, duration: Duration) in
            let color = PixelColor(red: red, green: 0, blue: 0)
            return (pixels: try PixelBuffer.filled(with: color, size: size), duration: .milliseconds(100))
        }
        let image = try DecodedImage(animation: ImageAnimation(frames: frames))
        var encoding = ImageEncoding(format: format)
        encoding.frames = .index(2)
        let coder = try coder(for: format)
        let data = try coder.encode(image, as: encoding, context: ImageProcessingContext())
        let decoded = try DecodedImage(data: data)
        #expect(!decoded.isAnimated)
        let red = try #require(decoded.pixels.color(x: 32, y: 32)?.red)
        #expect(abs(Int(red) - 200) <= 12, "\(red)")
        encoding.frames = .index(3)
        #expect(throws: ImageError.request(.frameNotFound(index: 3, frameCount: 3))) {
            try coder.encode(image, as: encoding, context: ImageProcessingContext())
        }
    }

    @Test("An encoding can select a single frame by its index")
    func encoding() throws {
        var encoding = ImageEncoding(format: .png)
        encoding.frames = .index(2)
        let image = try DecodedImage(data: DecodedImage(data: animation()).encoded(as: encoding))
        #expect(try reds(image) == [100])
    }
}
