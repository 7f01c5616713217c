// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@testable import WebImageCodecs

@Suite("Incremental canvas")
struct IncrementalCanvasTests {
    @Test("A finished canvas hands over its memory without a copy, and then it isn't writable")
    func handover() throws {
        let canvas = try IncrementalCanvas(PixelSize(width: 5, height: 3), context: ImageProcessingContext())
        let row = try #require(canvas.row(1))
        row.update(repeating: 200, count: 20)
        let snapshot = try canvas.snapshot(isOpaque: false)
        row[0] = 10
        let image = try canvas.finish(isOpaque: false)
        let isSame = image.withUnsafeBytes { $0.baseAddress.map { $0 + image.bytesPerRow } == UnsafeRawPointer(row) }
        #expect(isSame && canvas.row(0) == nil && !image.isOpaque)
        #expect(image.pixel(x: 0, y: 1)?.red == 10 && snapshot.pixel(x: 0, y: 1)?.red == 200)
        #expect(try canvas.finish(isOpaque: true) === image && canvas.snapshot(isOpaque: true) === image)
    }

    @Test("Finishing multiplies straight colors by alpha once")
    func premultiplication() throws {
        let canvas = try IncrementalCanvas(PixelSize(width: 1, height: 1), context: ImageProcessingContext())
        let row = try #require(canvas.row(0))
        for (index, value) in [200, 100, 0, 128].enumerated() { row[index] = UInt8(value) }
        let image = try canvas.finish(isOpaque: false, isStraight: true)
        let pixel = try #require(image.pixel(x: 0, y: 0))
        #expect(pixel.red == 100 && pixel.green == 50 && pixel.alpha == 128)
        #expect(try canvas.finish(isOpaque: false, isStraight: true).pixel(x: 0, y: 0)?.red == 100)
    }

    @Test(
        "The complete image doesn't change when more data is appended",
        arguments: [ImageEncoding.png, .jpeg(quality: 85), .webp(quality: 80)], [false, true])
    func immutability(encoding: ImageEncoding, isTranslucent: Bool) throws {
        let source = try PixelCanvas(size: PixelSize(width: 60, height: 40))
        source.withUnsafeMutableBytes { bytes in
            for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index &* 7 % 120) }
            for index in stride(from: 3, to: bytes.count, by: 4) { bytes[index] = isTranslucent ? 130 : 255 }
        }
        let data = try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: source.finish(isOpaque: !isTranslucent)), as: encoding,
            context: ImageProcessingContext())
        var feeding = try #require(try Feeding(data))
        // All rows are complete before the last bytes of most files.
        try feeding.append(to: data.count - 1)
        let early = try feeding.preview()
        let before = early?.image.pixels.packedBytes()
        let last = try #require(try feeding.finish())
        let pixels = last.image.pixels.packedBytes()
        try feeding.decoder.append(Data(repeating: 0xAA, count: 999), isLast: true, context: ImageProcessingContext())
        _ = try feeding.preview()
        #expect(last.image.pixels.packedBytes() == pixels && early?.image.pixels.packedBytes() == before)
        let whole = try ImageCoderRegistry.standard.decode(
            data, options: ImageDecodingOptions(), context: ImageProcessingContext())
        #expect(whole.pixels.packedBytes() == pixels && last.image.isOpaque == whole.isOpaque)
    }
}
