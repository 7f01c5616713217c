// SPDX-License-Identifier: MIT

import CPixelKernels
import Testing

@testable import WebImageCore

@Suite("Pixel layout")
struct PixelLayoutTests {
    @Test("The list of formats contains each format once")
    func list() {
        #expect(PixelFormat.all == [.rgba8, .rgba16])
    }

    @Test("The layout of a format agrees with its sizes", arguments: PixelFormat.all)
    func sizes(format: PixelFormat) throws {
        let layout = format.layout
        #expect(layout.bytesPerPixel == format.bytesPerPixel)
        #expect(layout.bitsPerSample * layout.channelCount == format.bytesPerPixel * 8)
        #expect(layout.isWide == (layout.bitsPerSample > 8))
        let typeSize =
            switch layout.sampleType {
            case .uint8: MemoryLayout<UInt8>.size
            case .uint16: MemoryLayout<UInt16>.size
            }
        #expect(layout.bytesPerSample == typeSize)
        #expect(layout.bytes(of: layout.maximum) == [UInt8](repeating: 255, count: typeSize))
        let canvas = try PixelCanvas(size: PixelSize(width: 9, height: 2), format: format)
        #expect(canvas.finish(isOpaque: false).packedBytes().count == 18 * layout.bytesPerPixel)
    }

    @Test("The layout of a format describes the alpha of its pixels", arguments: PixelFormat.all)
    func alpha(format: PixelFormat) throws {
        let layout = format.layout
        #expect(layout.alpha == .premultiplied)
        let color = PixelColor(red: 255, green: 102, blue: 0, alpha: 128)
        let row = color.row(count: 3, format: format)
        #expect(row.count == 3 * format.bytesPerPixel)
        let samples = row.withUnsafeBytes { bytes in
            stride(from: 0, to: row.count, by: layout.bytesPerSample).map { offset in
                bytes.baseAddress.map { layout.sample(at: $0 + offset) }
            }
        }
        // Red is at its maximum, so its premultiplied sample equals the alpha.
        #expect(samples.count == 3 * layout.channelCount)
        #expect(samples[0] == samples[3])
        #expect(samples[3] == Int((128 * layout.maximum / 255).rounded()))
        let pixels = try PixelBuffer.filled(
            with: color, size: PixelSize(width: 3, height: 1), format: format, context: ImageProcessingContext())
        #expect(pixels.packedBytes() == row)
        #expect(pixels.color(x: 2, y: 0) == color)
    }

    @Test("The kernels of a format belong to its layout", arguments: PixelFormat.all)
    func kernels(format: PixelFormat) {
        let (layout, kernels) = (format.layout, format.kernels)
        let row = PixelColor(red: 255, green: 102, blue: 0, alpha: 128).row(count: 3, format: format)
        #expect(!kernels.is_opaque(row, 3))
        #expect(kernels.is_opaque(PixelColor(red: 9, green: 8, blue: 7, alpha: 255).row(count: 3, format: format), 3))
        var straight = [UInt8](repeating: 0, count: row.count)
        kernels.unpremultiply(row, &straight, 3)
        #expect(Array(straight.prefix(layout.bytesPerSample)) == layout.bytes(of: layout.maximum))
        kernels.premultiply(&straight, 3)
        #expect(straight == row)
        kernels.limit(&straight, 3)
        #expect(straight == row)
        var sums: [UInt64] = [0, 0, 0, 0]
        kernels.sum(row, &sums, 3)
        #expect(sums[3] == UInt64(3 * (128 * layout.maximum / 255).rounded()))
        var alpha: [Float] = [0, 0, 0]
        kernels.alpha(row, &alpha, 3)
        #expect(alpha.allSatisfy { abs($0 - 128.0 / 255) < 0.001 })
    }
}
