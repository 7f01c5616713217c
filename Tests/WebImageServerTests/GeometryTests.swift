// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageManagerTestSupport
import WebImageTestSupport

@testable import WebImageServer

@Suite("Sizes and pixels of processed images", .timeLimit(.minutes(1)))
struct GeometryTests {
    /// Returns the options of a URL.
    private func options(_ text: String) throws -> ProcessingOptions {
        try OptionParser().options(of: try ServerURL(path: "/_/\(text)/plain/a"))
    }

    @Test(
        "Results have the documented sizes",
        arguments: [
            // The whole image inside the box, never enlarged by default.
            ("rs:fit:300:300", 600, 400, 300, 200), ("rs:fit:300:0", 600, 400, 300, 200),
            ("rs:fit:0:100", 600, 400, 150, 100), ("rs:fit:900:900", 600, 400, 600, 400),
            ("rs:fit:900:900:1", 600, 400, 900, 600), ("w:0", 600, 400, 600, 400),
            // The box is covered and the excess is cropped.
            ("rs:fill:300:300", 600, 400, 300, 300), ("rs:fill:900:300", 600, 400, 600, 300),
            ("rs:fill:900:300:1", 600, 400, 900, 300), ("rs:fill:800:800", 600, 400, 600, 400),
            // The aspect ratio of the box is kept if the image is too small.
            ("rs:fill-down:900:300", 600, 400, 600, 200), ("rs:fill-down:800:800", 600, 400, 400, 400),
            ("rs:fill-down:300:300", 600, 400, 300, 300),
            ("rs:force:300:300", 600, 400, 300, 300), ("rs:force:1200:300:1", 600, 400, 1_200, 300),
            // Equal orientations are covered, and others fit.
            ("rs:auto:300:100", 600, 400, 300, 100), ("rs:auto:100:300", 600, 400, 100, 67),
            ("rs:auto:100:300", 400, 600, 100, 300),
            ("rs:fit:100:100/dpr:2", 600, 400, 200, 133), ("rs:fit:400:400/dpr:3", 600, 400, 600, 400),
            ("rs:fill:100:100/dpr:2", 600, 400, 200, 200), ("z:0.5", 600, 400, 300, 200),
            ("w:100/z:2", 600, 400, 200, 133), ("rs:fill:100:100/z:2", 600, 400, 200, 200),
            ("rs:fill:300:300/z:0.5", 600, 400, 150, 150), ("rs:fill:100:100/z:1:2", 600, 400, 100, 200),
            ("rs:fit:300:300:0:1/z:0.5", 600, 400, 150, 150), ("rs:fill-down:900:300/z:0.5", 600, 400, 450, 150),
            ("rs:fit:100:100/mh:200", 600, 400, 100, 100),
            // Extending adds a border.
            ("rs:fit:300:300:0:1", 600, 400, 300, 300), ("rs:fit:900:900:0:1", 600, 400, 900, 900),
            ("rs:fit:300:300/exar:1", 600, 400, 300, 300), ("rs:fit:900:300/exar:1", 600, 400, 900, 300),
            ("c:100:50", 600, 400, 100, 50), ("c:0.5:0.25", 600, 400, 300, 100), ("c:1000:50", 600, 400, 600, 50),
            ("c:300:300/rs:fit:100:100", 600, 400, 100, 100),
            ("rot:90", 600, 400, 400, 600), ("rot:90/rs:fit:100:0", 600, 400, 100, 150),
            ("pd:10:20", 600, 400, 640, 420), ("rs:fit:60:40/pd:1:2:3:4/dpr:2", 600, 400, 132, 88),
            ("pix:7", 600, 400, 600, 400), ("bl:3", 60, 40, 60, 40), ("sh:1", 60, 40, 60, 40),
            ("rs:fit:1:1", 600, 4, 1, 1),
            ("g:sm/rs:fill:100:200", 600, 400, 100, 200), ("c:100:100:sm", 600, 400, 100, 100),
        ])
    func sizes(text: String, width: Int, height: Int, resultWidth: Int, resultHeight: Int) throws {
        let source = try TestImages.pixels(3, width: width, height: height)
        let result = try ServerTransformer(options(text)).transform(source, context: ImageProcessingContext())
        #expect(result.size == PixelSize(width: resultWidth, height: resultHeight), "\(text)")
    }

    @Test(
        "Reducing in the decoder results in the same size as the transformer",
        arguments: [
            "rs:fit:100:100", "rs:fit:101:0", "rs:fit:0:33/dpr:2", "rs:fill:100:70", "rs:fill:700:70", "rs:fill:100:0",
            "rs:fit:900:900", "rot:90/rs:fit:100:50", "rs:fit:90:90/pd:5", "rs:fit:90:90:1", "rs:fit:1000:1000:1",
            "rs:force:100:100", "rs:auto:50:100", "rs:fill:100:100:0:0/g:no", "rs:fill:900:900:1", "q:50", "pd:3",
            "t:10/rs:fit:10:10", "c:100/rs:fit:10:10", "rs:fit:300:300:0:1",
        ])
    func decoding(text: String) async throws {
        let data = try TestImages.png(3, width: 600, height: 400)
        let options = try options(text)
        let plan = ProcessingPlan(source: URL(filePath: "/"), options: options, format: .png)
        var request = ImageRequest(data: data)
        (request.size, request.transformers) = (plan.request.size, plan.request.transformers)
        let manager = ImageManager { $0.diskCache = nil }
        let result = try await manager.encodedImage(for: request, as: plan.encoding)
        let source = try TestImages.pixels(3, width: 600, height: 400)
        let whole = try ServerTransformer(options).transform(source, context: ImageProcessingContext())
        #expect(result.size == whole.size, "\(text)")
    }

    /// A red, a green, and a blue third, from left to right.
    private func stripes() throws -> PixelBuffer {
        let colors = [
            PixelColor(red: 255, green: 0, blue: 0), PixelColor(red: 0, green: 255, blue: 0),
            PixelColor(red: 0, green: 0, blue: 255),
        ]
        let context = ImageProcessingContext()
        var image = try PixelBuffer.filled(with: colors[0], size: PixelSize(width: 90, height: 30))
        for index in 1...2 {
            let stripe = try PixelBuffer.filled(with: colors[index], size: PixelSize(width: 30, height: 30))
            image = try StandardTransformer.overlay(
                stripe, in: PixelRect(x: index * 30, y: 0, width: 30, height: 30)
            ).transform(image, context: context)
        }
        return image
    }

    @Test(
        "Gravities, focus points, and crops select the part of the image",
        arguments: [
            ("rs:fill:10:10/g:we", "red"), ("rs:fill:10:10", "green"), ("rs:fill:10:10/g:ea", "blue"),
            ("rs:fill:10:10/g:fp:0:0.5", "red"), ("rs:fill:10:10/g:fp:0.5:0.5", "green"),
            ("rs:fill:10:10/g:fp:0.9:0.5", "blue"), ("c:30:30:nowe", "red"), ("c:30:30:ea:30", "green"),
            ("c:30:30:we:60", "blue"), ("c:30:30:we:0.3334", "green"), ("c:30:30:ce:-30", "red"),
            ("c:30:30/g:ea", "blue"), ("fl:1/rs:fill:10:10/g:we", "blue"), ("rot:180/c:30:30:we", "blue"),
            ("rot:90/c:30:30:no", "red"), ("rot:270/c:30:30:no", "blue"),
        ])
    func gravity(text: String, name: String) throws {
        let result = try ServerTransformer(options(text)).transform(stripes(), context: ImageProcessingContext())
        let color = try #require(result.color(x: result.width / 2, y: result.height / 2))
        let names = ["red": color.red, "green": color.green, "blue": color.blue]
        #expect(names.max { $0.value < $1.value }?.key == name, "\(text): \(color)")
        #expect((names.values.max() ?? 0) > 250)
    }

    @Test("Backgrounds appear next to the image and below transparent pixels")
    func backgrounds() throws {
        let context = ImageProcessingContext()
        let clear = try PixelBuffer.filled(with: .clear, size: PixelSize(width: 20, height: 10))
        let flat = try ServerTransformer(options("bg:0000ff")).transform(clear, context: context)
        #expect(flat.color(x: 3, y: 3) == PixelColor(red: 0, green: 0, blue: 255))
        #expect(flat.color(x: 19, y: 9) == PixelColor(red: 0, green: 0, blue: 255))
        let red = try PixelBuffer.filled(
            with: PixelColor(red: 255, green: 0, blue: 0), size: PixelSize(width: 20, height: 10))
        let padded = try ServerTransformer(options("pd:0:0:0:5/bg:0000ff")).transform(red, context: context)
        #expect(padded.color(x: 4, y: 5) == PixelColor(red: 0, green: 0, blue: 255))
        #expect(padded.color(x: 5, y: 5) == PixelColor(red: 255, green: 0, blue: 0))
        let extended = try ServerTransformer(options("rs:fit:20:20:0:1:so")).transform(red, context: context)
        #expect(extended.color(x: 5, y: 9) == .clear)
        #expect(extended.color(x: 5, y: 10) == PixelColor(red: 255, green: 0, blue: 0))
    }

    @Test("Pixelated blocks have one color, and trimming removes a uniform border")
    func pixelation() throws {
        let context = ImageProcessingContext()
        let source = try TestImages.pixels(3, width: 64, height: 32)
        let blocks = try ServerTransformer(options("pix:8")).transform(source, context: context)
        for x in 0..<64 { #expect(blocks.color(x: x, y: 5) == blocks.color(x: x / 8 * 8, y: 0)) }
        #expect(blocks.color(x: 0, y: 0) != blocks.color(x: 8, y: 0))
        let border = try ServerTransformer(options("pd:7/bg:ffffff")).transform(stripes(), context: context)
        let trimmed = try ServerTransformer(options("t:10")).transform(border, context: context)
        #expect(trimmed.size == PixelSize(width: 90, height: 30))
    }

    @Test("Trimming with equal edges removes the smaller border on both sides")
    func equalEdges() throws {
        let context = ImageProcessingContext()
        // The borders at the top, right, bottom, and left have 3, 5, 9, and 7 pixels.
        let border = try ServerTransformer(options("pd:3:5:9:7/bg:ffffff")).transform(stripes(), context: context)
        for (text, width, height) in [
            ("t:10", 90, 30), ("t:10:ffffff:1", 92, 30), ("t:10::0:1", 90, 36), ("t:10::1:1", 92, 36),
        ] {
            let trimmed = try ServerTransformer(options(text)).transform(border, context: context)
            #expect(trimmed.size == PixelSize(width: width, height: height), "\(text)")
        }
        let plain = try ServerTransformer(options("t:10::1:1")).transform(stripes(), context: context)
        #expect(plain.size == PixelSize(width: 90, height: 30))
    }

    @Test("Results that exceed the limits are rejected before memory is allocated")
    func limits() throws {
        let source = try TestImages.pixels(3, width: 64, height: 32)
        for text in ["pd:1000000", "rs:fit:1000000:1000000:1", "rs:fit:1000000:1000000:0:1", "z:1000/el:1"] {
            #expect(throws: ImageError.self, "\(text)") {
                try ServerTransformer(options(text)).transform(
                    source, context: ImageProcessingContext(limits: .server))
            }
        }
    }

    @Test(
        "Results are scaled down to the maximum dimension, with their borders",
        arguments: [
            ("w:0", 600, 400, 300, 200), ("rs:fit:400:400", 600, 400, 300, 200), ("rs:fit:200:200", 600, 400, 200, 133),
            ("rs:fit:1200:1200:1", 600, 400, 300, 200), ("rs:fill:400:100", 600, 400, 300, 75),
            ("rs:fill:1000:400", 600, 400, 300, 200), ("rs:fill:400:400/g:no", 600, 400, 300, 300),
            ("rs:fit:0:200", 100, 1_000, 20, 200), ("rs:fit:0:900", 100, 1_000, 30, 300),
            ("rs:force:600:100", 600, 400, 300, 50), ("rs:fit:200:200:0:1/dpr:2", 600, 400, 300, 300),
            ("rs:fit:200:200/pd:100", 600, 400, 300, 250), ("pd:300", 600, 400, 300, 250),
            ("c:500:100", 600, 400, 300, 60),
            ("rot:90", 600, 400, 200, 300), ("z:2/el:1", 600, 400, 300, 200), ("rs:fit:500:1", 600, 4, 150, 1),
        ])
    func maximum(text: String, width: Int, height: Int, resultWidth: Int, resultHeight: Int) async throws {
        var options = try options(text)
        options.maxResultDimension = 300
        let source = try TestImages.pixels(3, width: width, height: height)
        let whole = try ServerTransformer(options).transform(source, context: ImageProcessingContext())
        #expect(whole.size == PixelSize(width: resultWidth, height: resultHeight), "\(text)")
        // The decoder reduces the image to the same size.
        let plan = ProcessingPlan(source: URL(filePath: "/"), options: options, format: .png)
        var request = ImageRequest(data: try TestImages.png(3, width: width, height: height))
        (request.size, request.transformers) = (plan.request.size, plan.request.transformers)
        let result = try await ImageManager { $0.diskCache = nil }.encodedImage(for: request, as: plan.encoding)
        #expect(result.size == whole.size, "\(text)")
    }

    @Test("Options that don't change the pixels don't change the identity of the transformer")
    func identity() throws {
        let identifier = { (text: String) in ServerTransformer(try self.options(text)).identifier }
        #expect(try identifier("w:10/q:50/f:png/fn:a/att:1/mb:5/exp:4000000000") == identifier("w:10"))
        #expect(try identifier("w:10") != identifier("w:11"))
        #expect(try identifier("w:10/g:no") != identifier("w:10"))
    }
}
