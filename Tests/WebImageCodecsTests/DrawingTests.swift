// SPDX-License-Identifier: MIT

#if SVG
    import Foundation
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTestBasics

    @Suite("SVG and PDF as vector images")
    struct DrawingTests {
        private func decode(_ text: String, _ options: ImageDecodingOptions = ImageDecodingOptions()) throws
            -> DecodedImage
        {
            try ImageCoderRegistry.standard.decode(Data(text.utf8), options: options, context: ImageProcessingContext())
        }

        private func document(_ content: String, attributes: String = "width='20' height='10'") -> String {
            "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' \(attributes)>\(content)</svg>"
        }

        @Test("The requested size can exceed the size of the document")
        func sizes() throws {
            let text = document("<rect width='20' height='10' fill='red'/>")
            let cases: [(TargetSize, PixelSize)] = [
                (.fit(width: 300, height: 300), PixelSize(width: 300, height: 150)),
                (.fit(width: 10), PixelSize(width: 10, height: 5)),
                (.fill(width: 60, height: 60), PixelSize(width: 60, height: 60)),
                (.exact(width: 50, height: 10), PixelSize(width: 50, height: 10)),
                (.fitting(byteCount: 1_000_000), PixelSize(width: 20, height: 10)),
                (.scaled(width: 3, height: 3), PixelSize(width: 60, height: 30)),
                (.scaled(width: 0.5, height: 1), PixelSize(width: 10, height: 10)),
            ]
            for (target, size) in cases {
                let image = try decode(text, ImageDecodingOptions(size: target))
                #expect(image.size == size)
                let middle = try #require(image.pixels.pixel(x: size.width / 2, y: size.height / 2))
                #expect(middle.red == 255 && middle.green == 0 && middle.alpha == 255)
            }
        }

        @Test("Edges are drawn at the requested size instead of being enlarged")
        func sharpness() throws {
            let text = document("<rect width='10' height='10' fill='black'/>")
            let image = try decode(text, ImageDecodingOptions(size: .fit(width: 400)))
            #expect(image.pixels.pixel(x: 199, y: 50)?.alpha == 255)
            #expect(image.pixels.pixel(x: 200, y: 50)?.alpha == 0)
        }

        @Test("Resources outside the document aren't loaded")
        func externalReferences() throws {
            let file = Fixtures.directory.appending(path: "codecs/rgb8.png")
            #expect(FileManager.default.fileExists(atPath: file.path))
            for address in [file.path, file.absoluteString, "rgb8.png", "http://127.0.0.1:1/a.png"] {
                let image = try decode(document("<image width='20' height='10' xlink:href='\(address)'/>"))
                #expect(image.pixels.packedBytes().allSatisfy { $0 == 0 }, "\(address)")
            }
            let entity = """
                <!DOCTYPE svg [<!ENTITY word SYSTEM "\(file.absoluteString)">]>
                \(document("<text>&word;</text>"))
                """
            _ = try? decode(entity)
        }

        @Test("Images in `data:` URLs are drawn")
        func dataAddress() throws {
            let png = try Data(contentsOf: Fixtures.directory.appending(path: "codecs/rgb8.png")).base64EncodedString()
            let text = document(
                "<image width='20' height='10' preserveAspectRatio='none' xlink:href='data:image/png;base64,\(png)'/>")
            #expect(try decode(text).pixels.pixel(x: 10, y: 5)?.alpha == 255)
        }

        @Test("Text beyond the limit is rejected")
        func textLimit() throws {
            let text = document(String(repeating: " ", count: 2 << 20))
            #expect { try decode(text) } throws: { ($0 as? ImageError)?.code == 6009 }
            #expect(
                try SVGCoder(maxTextBytes: 3 << 20).decode(
                    Data(text.utf8), info: nil, options: ImageDecodingOptions(), context: ImageProcessingContext()
                ).size.width == 20)
        }

        @Test("Multiplying entities end with an error or an image")
        func entities() throws {
            var text = "<!DOCTYPE svg [<!ENTITY e0 \"aaaaaaaaaa\">"
            for level in 1..<12 {
                let before = "&e\(level - 1);"
                text += "<!ENTITY e\(level) \"\(String(repeating: before, count: 10))\">"
            }
            text += "]>" + document("<text>&e11;</text>")
            do { _ = try decode(text) } catch { #expect(error is ImageError) }
        }

        #if PDF
            @Test("A PDF page is drawn at the requested size on a white background")
            func page() throws {
                let data = try Fixture.named("page.pdf").data()
                let own = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
                let image = try ImageCoderRegistry.standard.decode(
                    data, options: ImageDecodingOptions(size: .fit(width: Double(own.size.width * 3))),
                    context: ImageProcessingContext())
                #expect(image.size.width == own.size.width * 3)
                #expect(image.isOpaque)
            }
        #endif
    }
#endif
