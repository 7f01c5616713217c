// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@Suite("Smart crop")
struct SmartCropTests {
    private let context = ImageProcessingContext()

    /// Returns a gray image with a red and black checkerboard in a square.
    private func scene(_ size: PixelSize, x left: Int, y top: Int, side: Int) throws -> PixelBuffer {
        try PixelMaking.buffer(size.width, size.height, isOpaque: true) { x, y in
            guard (left..<left + side).contains(x), (top..<top + side).contains(y) else { return [128, 128, 128, 255] }
            return (x / 4 + y / 4).isMultiple(of: 2) ? [230, 40, 40, 255] : [20, 20, 20, 255]
        }
    }

    private func redCount(_ pixels: PixelBuffer) -> Int {
        let bytes = pixels.packedBytes()
        return stride(from: 0, to: bytes.count, by: 4).filter { bytes[$0] > 200 && bytes[$0 + 1] < 100 }.count
    }

    @Test(
        "The result contains the object, wherever it is", arguments: StandardTransformer.SmartCropStrategy.allCases,
        [0, 30, 100, 170, 260])
    func finds(_ strategy: StandardTransformer.SmartCropStrategy, _ position: Int) throws {
        let crop: StandardTransformer = .smartCrop(width: 100, height: 100, strategy: strategy)
        let wide = try scene(PixelSize(width: 300, height: 100), x: position, y: 30, side: 40)
        let tall = try scene(PixelSize(width: 100, height: 300), x: 30, y: position, side: 40)
        for source in [wide, tall] {
            let result = try crop.transform(source, context: context)
            #expect(result.size == PixelSize(width: 100, height: 100) && result.isOpaque)
            #expect(redCount(result) == redCount(source))
        }
    }

    @Test("Larger images are reduced first, and smaller ones keep their size")
    func reduces() throws {
        let source = try scene(PixelSize(width: 600, height: 200), x: 480, y: 60, side: 80)
        let result = try StandardTransformer.smartCrop(width: 50, height: 50).transform(source, context: context)
        #expect(result.size == PixelSize(width: 50, height: 50))
        // The object has less green than the gray around it.
        let average = try result.averageColor()
        let fixed = try StandardTransformer.resize(.fill(width: 50, height: 50)).transform(source, context: context)
        #expect(average.green < 120 && fixed.color(x: 25, y: 25)?.green == 128)
        let small = try scene(PixelSize(width: 30, height: 20), x: 0, y: 0, side: 8)
        #expect(try StandardTransformer.smartCrop(width: 50, height: 40).transform(small, context: context) === small)
        let points = try StandardTransformer.smartCrop(width: 50, height: 50, unit: .points)
            .transform(source, context: ImageProcessingContext(scale: 2))
        #expect(points.size == PixelSize(width: 100, height: 100))
    }

    @Test("The center of a uniform image remains", arguments: StandardTransformer.SmartCropStrategy.allCases)
    func center(_ strategy: StandardTransformer.SmartCropStrategy) throws {
        let gray = try PixelBuffer.filled(
            with: PixelColor(red: 90, green: 90, blue: 90), size: PixelSize(width: 80, height: 40))
        let result = try StandardTransformer.smartCrop(width: 40, height: 40, strategy: strategy)
            .transform(gray, context: context)
        #expect(result.size == PixelSize(width: 40, height: 40))
        let fixed = try StandardTransformer.smartCrop(width: 40, height: 40, strategy: strategy)
            .fixed(for: gray, context: context)
        let centered = CropTransformer(.rect(x: 20, y: 0, width: 40, height: 40))
        #expect(fixed.identifier == centered.identifier)
    }

    @Test("The poster frame determines the part of all frames of an animation")
    func animations() throws {
        let size = PixelSize(width: 96, height: 32)
        let frames = try [6, 38, 70].map { try scene(size, x: $0, y: 6, side: 20) }
        let animation = try ImageAnimation(
            frames: frames.map { (pixels: $0, duration: Duration.milliseconds(100)) })
        let image = DecodedImage(pixels: frames[0], animation: animation)
        let alone: any ImageTransformer = .smartCrop(width: 32, height: 32)
        let combined: any ImageTransformer = .combined([.flip(.horizontal), .smartCrop(width: 32, height: 32)])
        for transformer in [alone, combined] {
            let result = try transformer.apply(to: image, context: context)
            #expect(redCount(result.pixels) == redCount(frames[0]))
            let last = try #require(try result.animation?.frame(at: 2))
            #expect(last.size == result.pixels.size && redCount(last) == 0)
        }
        let trimmed = try StandardTransformer.trim(color: PixelColor(red: 128, green: 128, blue: 128))
            .apply(to: image, context: context)
        #expect(trimmed.size == PixelSize(width: 20, height: 20))
        #expect(try trimmed.animation?.frame(at: 1).size == trimmed.size)
    }
}
