// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@Suite("Blending")
struct BlendTests {
    private let context = ImageProcessingContext()

    private func check(
        _ result: PixelBuffer, _ back: PixelBuffer, _ steps: Double, _ expected: (Int, [Double]) -> [Double]
    ) {
        let (out, under) = (PixelMaking.samples(result), PixelMaking.samples(back))
        var worst = 0.0
        for place in stride(from: 0, to: out.count, by: 4) {
            let pixel = expected(place / 4, Array(under[place..<place + 4]))
            for channel in 0..<4 { worst = max(worst, abs(pixel[channel] - out[place + channel])) }
        }
        #expect(worst <= 0.51 / steps)
    }

    @Test("An overlay matches the W3C formulas in both depths", arguments: ImageBlendMode.allCases)
    func overlay(_ mode: ImageBlendMode) throws {
        let back = try PixelMaking.noise(40, 30, opaque: false, seed: 21)
        let front = try PixelMaking.noise(40, 30, opaque: false, seed: 22)
        let over = PixelMaking.samples(front)
        for (picture, steps) in [(back, 255.0), (try PixelMaking.deep(back), 65_535)] {
            for opacity in [1, 0.3] {
                let result = try OverlayTransformer(front, at: .stretched, opacity: opacity, mode: mode)
                    .transform(picture, context: context)
                check(result, picture, steps) { index, back in
                    SlowBlend.pixel(mode, back: back, front: Array(over[index * 4..<index * 4 + 4]), opacity: opacity)
                }
            }
        }
    }

    @Test("A tint changes only the pixels within the shape of the image", arguments: ImageBlendMode.allCases)
    func tint(_ mode: ImageBlendMode) throws {
        let back = try PixelMaking.noise(40, 30, opaque: false, seed: 23)
        for color in [PixelColor(red: 200, green: 30, blue: 0), PixelColor(red: 255, green: 255, blue: 0, alpha: 85)] {
            let share = Double(color.alpha) / 255
            let front = [color.red, color.green, color.blue].map { Double($0) / 255 * share } + [share]
            for (picture, steps) in [(back, 255.0), (try PixelMaking.deep(back), 65_535)] {
                let result = try TintTransformer(color, mode: mode).transform(picture, context: context)
                check(result, picture, steps) { _, back in
                    SlowBlend.pixel(mode, back: back, front: front, keepsShape: true)
                }
            }
        }
    }

    @Test("All blend modes match values that were calculated by hand")
    func byHand() throws {
        let back = try PixelMaking.buffer(1, 1, isOpaque: true) { _, _ in [51, 102, 204, 255] }
        let front = PixelColor(red: 102, green: 102, blue: 102)
        let expected: [ImageBlendMode: [UInt8]] = [
            .normal: [102, 102, 102], .multiply: [20, 41, 82], .screen: [133, 163, 224], .overlay: [41, 82, 194],
            .darken: [51, 102, 102], .lighten: [102, 102, 204], .colorDodge: [85, 170, 255],
            .colorBurn: [0, 0, 128], .hardLight: [41, 82, 163], .difference: [51, 0, 102],
            .exclusion: [112, 122, 143], .sourceIn: [102, 102, 102], .sourceAtop: [102, 102, 102],
            .softLight: [43, 90, 196],
        ]
        for mode in ImageBlendMode.allCases {
            let result = try TintTransformer(front, mode: mode).transform(back, context: context)
            #expect(Array(result.packedBytes().prefix(3)) == expected[mode], "\(mode)")
        }
    }

    @Test("A tint colors template icons and keeps opaque images opaque")
    func shapes() throws {
        let icon = try PixelMaking.buffer(4, 1, isOpaque: false) { x, _ in [0, 0, 0, UInt8(x * 85)] }
        let red = PixelColor(red: 255, green: 0, blue: 0)
        let result = try TintTransformer(red).transform(icon, context: context)
        #expect(result.packedBytes() == [0, 0, 0, 0, 85, 0, 0, 85, 170, 0, 0, 170, 255, 0, 0, 255])
        let solid = try PixelMaking.noise(5, 5, opaque: true)
        #expect(try TintTransformer(red).transform(solid, context: context).isOpaque)
        let glass = PixelColor(red: 255, green: 0, blue: 0, alpha: 10)
        #expect(try !TintTransformer(glass).transform(solid, context: context).isOpaque)
        #expect(try TintTransformer(glass, mode: .multiply).transform(solid, context: context).isOpaque)
        #expect(try TintTransformer(.clear, mode: .multiply).transform(solid, context: context) === solid)
    }

    @Test("An overlay is drawn at its position, and the other pixels are unchanged")
    func places() throws {
        let back = try PixelMaking.buffer(9, 7, isOpaque: true) { _, _ in [9, 9, 9, 255] }
        let badge = try PixelMaking.buffer(3, 2, isOpaque: true) { x, y in [UInt8(100 + x), UInt8(100 + y), 0, 255] }
        func origin(_ placement: OverlayTransformer.Placement, scale: Double = 1) throws -> [[Int]] {
            let result = try OverlayTransformer(badge, at: placement, unit: .points)
                .transform(back, context: ImageProcessingContext(scale: scale))
            #expect(result.isOpaque)
            var places: [[Int]] = []
            for y in 0..<7 {
                for x in 0..<9 {
                    guard let color = result.color(x: x, y: y), color.red != 9 else { continue }
                    places.append([x, y, x - Int(color.red) + 100, y - Int(color.green) + 100])
                }
            }
            #expect(Set(places.map { [$0[2], $0[3]] }).count <= 1)
            return places
        }
        #expect(try origin(.at(x: 2, y: 3)).first == [2, 3, 2, 3])
        #expect(try origin(.at(x: 1, y: 1.5), scale: 2).first == [2, 3, 2, 3])
        #expect(try origin(.at(x: -2, y: -1)) == [[0, 0, -2, -1]])
        #expect(try origin(.at(x: 8, y: 6)) == [[8, 6, 8, 6]])
        #expect(try origin(.at(x: 9, y: 0)).isEmpty)
        #expect(try origin(.at(x: -1e9, y: 1e9)).isEmpty)
        #expect(try origin(.anchored(.center)).first == [3, 2, 3, 2])
        #expect(try origin(.anchored(.topLeading, margin: 1)).first == [1, 1, 1, 1])
        #expect(try origin(.anchored(.bottomTrailing, margin: 1)).first == [5, 4, 5, 4])
        #expect(try origin(.anchored(.trailing)).first == [6, 2, 6, 2])
        #expect(try origin(.anchored(.bottom)).first == [3, 5, 3, 5])
    }

    @Test("A mask multiplies the image by its alpha or its luminance")
    func masks() throws {
        let back = try PixelMaking.noise(11, 5, opaque: true, seed: 3)
        let mask = try PixelMaking.noise(11, 5, opaque: false, seed: 4)
        let shown = PixelMaking.samples(mask)
        for channel in PixelMask.Channel.allCases {
            for (picture, steps) in [(back, 255.0), (try PixelMaking.deep(back), 65_535)] {
                let result = try MaskTransformer(PixelMask(mask, channel: channel)).transform(picture, context: context)
                #expect(!result.isOpaque)
                check(result, picture, steps) { index, back in
                    let pixel = shown[index * 4..<index * 4 + 4].map { $0 }
                    let luminance = 0.2126 * pixel[0] + 0.7152 * pixel[1] + 0.0722 * pixel[2]
                    return back.map { $0 * (channel == .alpha ? pixel[3] : luminance) }
                }
            }
        }
        let white = try PixelMaking.buffer(1, 1, isOpaque: true) { _, _ in [255, 255, 255, 255] }
        let all = try MaskTransformer(PixelMask(white)).transform(back, context: context)
        #expect(all.isOpaque && all.packedBytes() == back.packedBytes())
        #expect(
            PixelMask(white)
                == PixelMask(try PixelMaking.buffer(1, 1, isOpaque: false) { _, _ in [255, 255, 255, 255] }))
        #expect(PixelMask(white) != PixelMask(white, channel: .luminance))
    }
}
