// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@Suite("Resize and crop")
struct TransformerTests {
    private let context = ImageProcessingContext()

    private func resized(_ width: Int, _ height: Int, _ transformer: StandardTransformer, scale: Double = 1) throws
        -> PixelSize
    {
        let source = try PixelMaking.buffer(width, height, isOpaque: true) { _, _ in [9, 8, 7, 255] }
        return try transformer.transform(source, context: ImageProcessingContext(scale: scale)).size
    }

    @Test("Leading-dot syntax creates an array of transformers")
    func factories() {
        let transformers: [any ImageTransformer] = [
            .resize(width: 10, height: 10), .resize(.fill(width: 3, height: 3), upscales: true),
            .crop(x: 1, y: 2, width: 3, height: 4), .crop(width: 4, height: 4, anchor: .topLeading),
            .crop(PixelRect(x: 0, y: 0, width: 1, height: 1)), .roundedCorners(radius: 12),
            .roundedCorners(radius: 12, corners: [.topLeading], border: .init(width: 1, color: .white), unit: .points),
        ]
        #expect(Set(transformers.map(\.identifier)).count == transformers.count)
    }

    @Test("A resize fits, fills, or stretches, and enlarges only if `upscales` is `true`")
    func resizes() throws {
        #expect(try resized(100, 50, .resize(width: 10, height: 10)) == PixelSize(width: 10, height: 5))
        #expect(try resized(100, 50, .resize(width: 10)) == PixelSize(width: 10, height: 5))
        #expect(try resized(100, 50, .resize(width: 10, height: 10, mode: .fill)) == PixelSize(width: 10, height: 10))
        #expect(
            try resized(100, 50, .resize(width: 10, height: 10, mode: .stretch)) == PixelSize(width: 10, height: 10))
        #expect(try resized(10, 5, .resize(width: 40, height: 40)) == PixelSize(width: 10, height: 5))
        #expect(try resized(10, 5, .resize(width: 40, height: 40, upscales: true)) == PixelSize(width: 40, height: 20))
        #expect(
            try resized(10, 5, .resize(width: 40, height: 40, mode: .fill, upscales: true))
                == PixelSize(width: 40, height: 40))
        #expect(
            try resized(10, 5, .resize(width: 40, height: 3, mode: .stretch, upscales: true))
                == PixelSize(width: 40, height: 3))
        #expect(try resized(100, 50, .resize(width: 10, unit: .points), scale: 2) == PixelSize(width: 20, height: 10))
    }

    @Test("Invalid lengths throw", arguments: [0, -1, .nan, .infinity, 1e300])
    func refusesLengths(_ length: Double) throws {
        let source = try PixelMaking.noise(4, 4, opaque: true)
        for upscales in [false, true] {
            #expect {
                try StandardTransformer.resize(width: length, upscales: upscales).transform(source, context: context)
            } throws: { ($0 as? ImageError)?.code == 5001 }
        }
        #expect { try StandardTransformer.crop(width: length, height: 2).transform(source, context: context) } throws: {
            ($0 as? ImageError)?.code == 5001
        }
        #expect {
            try StandardTransformer.crop(x: 0, y: 0, width: 2, height: length).transform(source, context: context)
        } throws: { ($0 as? ImageError)?.code == 5001 }
        let points = ImageProcessingContext(scale: length)
        #expect { try StandardTransformer.resize(width: 3, unit: .points).transform(source, context: points) } throws: {
            ($0 as? ImageError)?.code == 5001
        }
    }

    @Test("Enlarged results obey the limits")
    func obeysLimits() throws {
        let source = try PixelMaking.noise(4, 4, opaque: true)
        let limited = ImageProcessingContext(limits: .icon)
        #expect {
            try StandardTransformer.resize(width: 3_000, upscales: true).transform(source, context: limited)
        } throws: { ($0 as? ImageError)?.code == ImageError.LimitFailure.Kind.dimension.rawValue }
        #expect(throws: ImageError.self) {
            let thin = try PixelMaking.noise(1, 4_000, opaque: true)
            return try StandardTransformer.resize(width: 1e9, mode: .fill, upscales: true).transform(
                thin, context: context)
        }
    }

    @Test("A crop keeps the pixels of its rectangle")
    func crops() throws {
        let source = try PixelMaking.noise(13, 11, opaque: false)
        let part = try StandardTransformer.crop(x: 2.4, y: 3, width: 5, height: 4).transform(source, context: context)
        #expect(part.size == PixelSize(width: 5, height: 4))
        for y in 0..<4 {
            for x in 0..<5 {
                guard let a = part.pixel(x: x, y: y), let b = source.pixel(x: x + 2, y: y + 3) else {
                    Issue.record("outside")
                    continue
                }
                #expect(a == b)
            }
        }
        #expect(
            try StandardTransformer.crop(x: -4, y: -4, width: 99, height: 99)
                .transform(source, context: context) === source
        )
        #expect {
            try StandardTransformer.crop(x: 13, y: 0, width: 2, height: 2).transform(source, context: context)
        } throws: { ($0 as? ImageError)?.code == 5002 }
    }

    @Test("A crop supports every anchor", arguments: StandardTransformer.Anchor.allCases)
    func anchors(_ anchor: StandardTransformer.Anchor) throws {
        let source = try PixelMaking.buffer(7, 9, isOpaque: true) { x, y in [UInt8(x), UInt8(y), 0, 255] }
        let part = try StandardTransformer.crop(width: 3, height: 5, anchor: anchor).transform(source, context: context)
        let name = anchor.rawValue.lowercased()
        let x = name.contains("leading") ? 0 : name.contains("trailing") ? 4 : 2
        let y = name.contains("top") ? 0 : name.contains("bottom") ? 4 : 2
        let first = part.pixel(x: 0, y: 0)
        #expect(first?.red == UInt8(x) && first?.green == UInt8(y))
        #expect(
            try StandardTransformer.crop(width: 50, height: 50, anchor: anchor).transform(source, context: context)
                === source)
    }
}
