// SPDX-License-Identifier: MIT

#if TIFF
    import Foundation
    import Testing
    import WebImageCodecs
    import WebImageCore

    @Suite("The matte of gray TIFF images")
    struct TIFFMatteTests {
        /// A layout of two samples per pixel.
        struct Layout: Sendable {
            /// 1 is associated alpha, and 2 is unassociated alpha.
            var matte: Int
            var bits: Int
            /// 1 stores the samples of a pixel together, and 2 stores them in planes.
            var planes: Int
            /// The value of `PhotometricInterpretation`: 0 is white, or 1 is black.
            var isBlackZero: Bool
        }

        static let layouts = [1, 2].flatMap { matte in
            [8, 16].flatMap { bits in
                [1, 2].flatMap { planes in
                    [true, false].map { Layout(matte: matte, bits: bits, planes: planes, isBlackZero: $0) }
                }
            }
        }

        private func little(_ value: Int, _ count: Int) -> Data {
            Data((0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
        }

        /// Returns an uncompressed file of two pixels. The samples have 8 bits and are widened to the layout.
        private func file(_ layout: Layout, gray: [Int], alpha: [Int]) -> Data {
            let width = layout.bits / 8
            func samples(_ values: [Int]) -> Data {
                values.map { little(width == 1 ? $0 : $0 * 257, width) }.reduce(Data(), +)
            }
            let pixels =
                layout.planes == 1
                ? samples([gray[0], alpha[0], gray[1], alpha[1]]) : samples(gray) + samples(alpha)
            let start = 8 + 2 + 11 * 12 + 4
            let planeBytes = 2 * width
            let isPlanar = layout.planes == 2
            var data = Data("II".utf8) + little(42, 2) + little(8, 4) + little(11, 2)
            for (tag, kind, count, value) in [
                (256, 4, 1, 2), (257, 4, 1, 1), (258, 3, 2, layout.bits | layout.bits << 16), (259, 3, 1, 1),
                (262, 3, 1, layout.isBlackZero ? 1 : 0), (273, 4, isPlanar ? 2 : 1, start), (277, 3, 1, 2),
                (278, 4, 1, 1), (279, 4, isPlanar ? 2 : 1, isPlanar ? start + 8 : 2 * planeBytes),
                (284, 3, 1, layout.planes), (338, 3, 1, layout.matte),
            ] { data += little(tag, 2) + little(kind, 2) + little(count, 4) + little(value, 4) }
            data += little(0, 4)
            guard isPlanar else { return data + pixels }
            // The tables of both planes precede the pixels.
            return data + little(start + 16, 4) + little(start + 16 + planeBytes, 4) + little(planeBytes, 4)
                + little(planeBytes, 4) + pixels
        }

        @Test("Gray is multiplied by an unassociated matte, and an associated matte is kept", arguments: layouts)
        func matte(_ layout: Layout) throws {
            let alpha = [100, 128]
            let visible = [80, 40]
            let stored = layout.isBlackZero ? visible : visible.map { 255 - $0 }
            let image = try ImageCoderRegistry.standard.decode(file(layout, gray: stored, alpha: alpha))
            #expect(image.metadata.hasAlpha && !image.isOpaque)
            let pixels = image.pixels.packedBytes().map { Int($0) }
            for index in 0..<2 {
                let expected =
                    layout.matte == 2 ? (visible[index] * alpha[index] + 127) / 255 : visible[index]
                #expect(abs(pixels[index * 4] - expected) <= 1 && pixels[index * 4 + 3] == alpha[index])
            }
        }
    }
#endif
