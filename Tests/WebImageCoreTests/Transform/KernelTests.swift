// SPDX-License-Identifier: MIT

import CPixelKernels
import Testing
import WebImageCore

@Suite("Pixel kernels")
struct KernelTests {
    /// Every combination of an alpha and a color value: 65,536 pixels.
    private let everything: [UInt8] = {
        var bytes: [UInt8] = []
        for alpha in UInt8.min...UInt8.max {
            for value in UInt8.min...UInt8.max { bytes += [value, 255 - value, value, alpha] }
        }
        return bytes
    }()

    /// Returns the number of samples in `pixels` that differ from the exact integer quotient.
    private func mistakes(_ pixels: [UInt8], _ exact: (_ color: Int, _ alpha: Int) -> Int) -> Int {
        var count = 0
        for index in pixels.indices {
            let alpha = Int(everything[index / 4 * 4 + 3])
            let expected: Int = index % 4 == 3 ? alpha : exact(Int(everything[index]), alpha)
            if Int(pixels[index]) != expected { count += 1 }
        }
        return count
    }

    @Test("Premultiplication is exact and rounds to nearest")
    func premultiply() {
        var pixels = everything
        wi_premultiply_rgba8(&pixels, pixels.count / 4)
        #expect(mistakes(pixels) { color, alpha in (color * alpha * 2 + 255) / 510 } == 0)
    }

    @Test("Unpremultiplication is exact and rounds to nearest at every length")
    func unpremultiply() {
        let source = everything
        var pixels = source
        wi_unpremultiply_rgba8(source, &pixels, source.count / 4)
        #expect(
            mistakes(pixels) { color, alpha in
                alpha == 0 ? 0 : min(255, (color * 510 + alpha) / (2 * alpha))
            } == 0)
        for count in 0...40 {
            var part = [UInt8](repeating: 9, count: 164)
            wi_unpremultiply_rgba8(Array(source[40_000..<40_164]), &part, count)
            #expect(Array(part[..<(count * 4)]) == Array(pixels[40_000..<40_000 + count * 4]))
            #expect(part[(count * 4)...].allSatisfy { $0 == 9 })
        }
    }

    @Test("The opacity check finds a single transparent pixel at every position")
    func opacity() {
        for count in [0, 1, 7, 33, 1_024, 1_025, 3_000] {
            var pixels = [UInt8](repeating: 255, count: count * 4)
            #expect(wi_is_opaque_rgba8(pixels, count))
            for place in Set([0, count / 2, count - 1]) where place >= 0 && place < count {
                pixels[place * 4 + 3] = 254
                #expect(!wi_is_opaque_rgba8(pixels, count))
                pixels[place * 4 + 3] = 255
            }
            var deep = [UInt16](repeating: 65_535, count: count * 4)
            #expect(wi_is_opaque_rgba16(deep, count))
            guard count > 0 else { continue }
            deep[count * 4 - 1] = 0
            #expect(!wi_is_opaque_rgba16(deep, count))
        }
    }
}
