// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@Suite("Canvas")
struct CanvasTests {
    private let context = ImageProcessingContext()
    private let red = PixelColor(red: 255, green: 0, blue: 0)

    /// Returns an image whose pixels contain their own position.
    private func positions(_ width: Int, _ height: Int) throws -> PixelBuffer {
        try PixelMaking.buffer(width, height, isOpaque: true) { x, y in [UInt8(x), UInt8(y), 7, 255] }
    }

    private func flat(_ width: Int, _ height: Int) throws -> PixelBuffer {
        try PixelBuffer.filled(with: .white, size: PixelSize(width: width, height: height))
    }

    /// Returns the rectangle of the pixels with a color other than the background.
    private func covered(_ pixels: PixelBuffer) -> PixelRect? {
        var columns: [Int] = []
        var rows: [Int] = []
        for y in 0..<pixels.height {
            for x in 0..<pixels.width where pixels.color(x: x, y: y) != red {
                columns.append(x)
                rows.append(y)
            }
        }
        guard let left = columns.min(), let right = columns.max(), let top = rows.min(), let bottom = rows.max() else {
            return nil
        }
        return PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
    }

    @Test(
        "The result has exactly the requested size for every mode, anchor, and image size",
        arguments: StandardTransformer.ContentMode.allCases, StandardTransformer.Anchor.allCases)
    func sizes(_ mode: StandardTransformer.ContentMode, _ anchor: StandardTransformer.Anchor) throws {
        for (width, height) in [(1, 1), (3, 50), (50, 3), (12, 8), (24, 16), (11, 40), (40, 11), (97, 101)] {
            for upscales in [false, true] {
                let source = try flat(width, height)
                let result = try StandardTransformer.canvas(
                    width: 12, height: 8, mode: mode, anchor: anchor, background: red, upscales: upscales
                ).transform(source, context: context)
                #expect(result.size == PixelSize(width: 12, height: 8))
                #expect(result.isOpaque)
                #expect(covered(result) != nil)
                if mode == .fill || mode == .stretch, upscales || (width >= 12 && height >= 8) {
                    #expect(covered(result) == PixelRect(x: 0, y: 0, width: 12, height: 8), "\(width)x\(height)")
                }
            }
        }
    }

    @Test(
        "An image that fits has the size and the position of its anchor",
        arguments: StandardTransformer.Anchor.allCases)
    func fits(_ anchor: StandardTransformer.Anchor) throws {
        let name = anchor.rawValue.lowercased()
        func place(_ rest: Int, _ start: String, _ end: String) -> Int {
            name.contains(start) ? 0 : name.contains(end) ? rest : rest / 2
        }
        let cases: [(source: PixelSize, upscales: Bool, expected: PixelSize)] = [
            (PixelSize(width: 40, height: 20), false, PixelSize(width: 20, height: 10)),
            (PixelSize(width: 20, height: 60), false, PixelSize(width: 5, height: 15)),
            (PixelSize(width: 7, height: 4), false, PixelSize(width: 7, height: 4)),
            (PixelSize(width: 5, height: 5), true, PixelSize(width: 15, height: 15)),
        ]
        for (source, upscales, expected) in cases {
            let result = try StandardTransformer.canvas(
                width: 20, height: 15, anchor: anchor, background: red, upscales: upscales
            ).transform(try flat(source.width, source.height), context: context)
            let x = place(20 - expected.width, "leading", "trailing")
            let y = place(15 - expected.height, "top", "bottom")
            #expect(
                covered(result) == PixelRect(x: x, y: y, width: expected.width, height: expected.height), "\(source)")
        }
    }

    @Test("An image with its original size is copied exactly", arguments: StandardTransformer.Anchor.allCases)
    func original(_ anchor: StandardTransformer.Anchor) throws {
        let source = try positions(9, 4)
        let result = try StandardTransformer.canvas(
            width: 5, height: 7, mode: .original, anchor: anchor, background: red
        ).transform(source, context: context)
        let name = anchor.rawValue.lowercased()
        let left = name.contains("leading") ? 0 : name.contains("trailing") ? 4 : 2
        let top = name.contains("top") ? 0 : name.contains("bottom") ? 3 : 1
        for y in 0..<7 {
            for x in 0..<5 {
                let isInside = (top..<top + 4).contains(y)
                let expected = isInside ? PixelColor(red: UInt8(x + left), green: UInt8(y - top), blue: 7) : red
                #expect(result.color(x: x, y: y) == expected, "\(x), \(y)")
            }
        }
    }

    @Test("The anchor determines the visible part of an image that fills the canvas")
    func fills() throws {
        let source = try PixelMaking.buffer(60, 20, isOpaque: true) { x, _ in
            x < 20 ? [255, 0, 0, 255] : x < 40 ? [0, 255, 0, 255] : [0, 0, 255, 255]
        }
        let colors: [(StandardTransformer.Anchor, PixelColor)] = [
            (.leading, red), (.center, PixelColor(red: 0, green: 255, blue: 0)),
            (.bottomTrailing, PixelColor(red: 0, green: 0, blue: 255)),
        ]
        for (anchor, color) in colors {
            let result = try StandardTransformer.canvas(width: 10, height: 10, mode: .fill, anchor: anchor)
                .transform(source, context: context)
            // The filter mixes the colors near the edges of the visible part.
            #expect(result.isOpaque && result.color(x: 5, y: 5) == color, "\(anchor)")
        }
    }

    @Test("A canvas of the same size returns the same pixels, and a transparent background isn't opaque")
    func opacity() throws {
        let source = try positions(9, 4)
        for mode in StandardTransformer.ContentMode.allCases {
            #expect(
                try StandardTransformer.canvas(width: 9, height: 4, mode: mode).transform(source, context: context)
                    === source)
        }
        let padded = try StandardTransformer.canvas(width: 9, height: 9).transform(source, context: context)
        #expect(!padded.isOpaque && padded.color(x: 0, y: 0) == .clear)
        let points = try StandardTransformer.canvas(width: 9, height: 9, unit: .points)
            .transform(source, context: ImageProcessingContext(scale: 2))
        #expect(points.size == PixelSize(width: 18, height: 18))
    }

    @Test("Invalid lengths and sizes above the limits throw", arguments: [0, -1, .nan, .infinity, 1e300])
    func invalid(_ length: Double) throws {
        let source = try positions(3, 3)
        #expect {
            try StandardTransformer.canvas(width: 4, height: length).transform(source, context: context)
        } throws: { ($0 as? ImageError)?.code == 5001 }
        #expect {
            try StandardTransformer.canvas(width: 50, height: 50, upscales: true)
                .transform(source, context: ImageProcessingContext(limits: ImageLimits(maxPixels: 400)))
        } throws: { ($0 as? ImageError)?.code == ImageError.LimitFailure.Kind.pixelCount.rawValue }
    }
}
