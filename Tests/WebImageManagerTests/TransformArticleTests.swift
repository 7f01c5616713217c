// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageCore
import WebImageManagerTestSupport

/// Tests of the behavior that the article “Transformers” describes.
@Suite("Transformers article")
struct TransformArticleTests {
    private func pixels(_ width: Int, _ height: Int) throws -> PixelBuffer {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
        canvas.withUnsafeMutableBytes { bytes in
            for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index) | (index % 4 == 3 ? 255 : 0) }
        }
        return canvas.finish(isOpaque: true)
    }

    @Test("An avatar is created with a request and without a manager")
    func avatar() throws {
        let url = try #require(URL(string: "https://pictures.example/a.jpg"))
        let pixels = try self.pixels(120, 100)
        let avatar: [any ImageTransformer] = [
            .resize(.fill(width: 96, height: 96)),
            .circle(borderWidth: 2, borderColor: .white),
        ]
        var request = ImageRequest(url: url)
        request.transformers = avatar
        #expect(request.transformers.count == 2)

        let context = ImageProcessingContext()
        var image = DecodedImage(pixels: pixels)
        for transformer in avatar { image = try transformer.apply(to: image, context: context) }
        let soft = try StandardTransformer.blur(radius: 8).transform(pixels, context: context)
        #expect(image.pixels.size == PixelSize(width: 96, height: 96) && soft.size == pixels.size)
    }

    @Test("Compositions, closures, and lengths in points work")
    func composed() throws {
        let pixels = try self.pixels(120, 100)
        let badge = try self.pixels(9, 9)
        let poster: any ImageTransformer = .combined([
            .sepia(0.3), .contrast(1.1), .vignette(strength: 0.4), .overlay(badge, at: .bottomTrailing, margin: 8),
        ])
        let own: any ImageTransformer = .custom(id: "half") { pixels, context in
            try StandardTransformer.resize(width: Double(pixels.width) / 2).transform(pixels, context: context)
        }
        #expect(try poster.transform(pixels, context: ImageProcessingContext()).isOpaque)
        #expect(try own.transform(pixels, context: ImageProcessingContext()).size == PixelSize(width: 60, height: 50))

        let card: any ImageTransformer = .roundedCorners(
            radius: 12, corners: [.topLeading, .topTrailing], unit: .points)
        let retina = ImageProcessingContext(scale: 2)
        let cut = try card.transform(pixels, context: retina)
        #expect(!cut.isOpaque)
    }

    @Test("The blur effects of the article equal the styles of the library")
    func blurStyles() {
        func tint(_ shade: UInt8, _ alpha: UInt8) -> PixelColor {
            PixelColor(red: shade, green: shade, blue: shade, alpha: alpha)
        }
        let blue = PixelColor(red: 0, green: 90, blue: 200, alpha: 153)
        let pairs: [(article: StandardTransformer, style: BlurTransformer.Style)] = [
            (.blur(radius: 60, saturation: 1.8, tint: tint(214, 92), unit: .points), .soft),
            (.blur(radius: 60, saturation: 1.8, tint: tint(255, 77), unit: .points), .light),
            (.blur(radius: 40, saturation: 1.8, tint: tint(247, 209), unit: .points), .extraLight),
            (.blur(radius: 40, saturation: 1.8, tint: tint(28, 186), unit: .points), .dark),
            (.blur(radius: 20, saturation: -1, tint: blue, unit: .points), .tinted(blue)),
        ]
        for (article, style) in pairs { #expect(article.identifier == BlurTransformer(style).identifier) }
    }

    @Test("Placeholders and colors are created from pixels")
    func placeholders() throws {
        let pixels = try self.pixels(40, 30)
        let hash = try BlurHash(encoding: pixels, componentsX: 4, componentsY: 3)
        let blurred = try BlurHash(hash.string).pixels(size: PixelSize(width: 32, height: 24))
        let thumb = try ThumbHash(encoding: pixels)
        let small = try ThumbHash(thumb.bytes).pixels()
        let background = try pixels.dominantColor() ?? .white
        let mean = try pixels.averageColor()
        #expect(blurred.isOpaque && small.isOpaque && background.alpha == 255 && mean.alpha == 255)
    }
}
