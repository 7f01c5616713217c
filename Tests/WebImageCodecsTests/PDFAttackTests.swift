// SPDX-License-Identifier: MIT

#if PDF
    import Foundation
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTestBasics

    @Suite("PDF documents from unknown sources")
    struct PDFAttackTests {
        /// A document that must not reach poppler, and the text of the error.
        struct Attack: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let words: String
            let make: @Sendable () -> Data

            init(_ name: String, _ words: String, _ make: @escaping @Sendable () -> Data) {
                testDescription = name
                self.words = words
                self.make = make
            }
        }

        private static func many(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

        /// Returns levels of forms that each draw the form below ten times.
        private static func levels(_ count: Int, uses: Int, _ entries: String = "") -> Data {
            var sample = PDFSample(content: "/F Do", resources: "/XObject << /F 5 0 R >>")
            for level in 0..<count {
                sample.addForm(many("/F Do ", uses), entries, resources: "/XObject << /F \(level + 6) 0 R >>")
            }
            sample.addForm("0 0 50 50 re f", entries)
            return sample.data
        }

        /// Returns zlib data, compressed several times.
        private static func bomb(_ bytes: Int, layers: Int) -> Data {
            var data = Data(count: bytes)
            for _ in 0..<layers { data = CodedBody.zlib.encode(data) }
            return data
        }

        static let attacks: [Attack] = [
            Attack("forms that multiply", "PDF operators with all forms") { levels(9, uses: 10) },
            Attack("a chain of forms that overflows the stack", "nested PDF forms") { levels(500, uses: 1) },
            Attack("a form that draws itself", "draws itself") {
                var sample = PDFSample(content: "/F Do", resources: "/XObject << /F 5 0 R >>")
                sample.addForm("/F Do /F Do", resources: "/XObject << /F 5 0 R >>")
                return sample.data
            },
            Attack("a form that draws itself with the resources of the page", "draws itself") {
                var sample = PDFSample(content: "/F Do", resources: "/XObject << /F 5 0 R >>")
                sample.addStream("/F Do", "/Subtype /Form /BBox [0 0 9 9]")
                return sample.data
            },
            Attack("a mask that contains itself", "draws itself") {
                var sample = PDFSample(content: "/G gs 0 0 9 9 re f", resources: "/ExtGState << /G 5 0 R >>")
                sample.add("<< /SMask << /S /Luminosity /G 6 0 R >> >>")
                sample.addForm(
                    "/G gs 0 0 9 9 re f", "/Group << /S /Transparency >>", resources: "/ExtGState << /G 5 0 R >>")
                return sample.data
            },
            Attack("masks that multiply", "estimated drawing work") {
                var sample = PDFSample(content: "/G gs 0 0 9 9 re f", resources: "/ExtGState << /G 5 0 R >>")
                for level in 0..<6 {
                    sample.add("<< /SMask << /S /Luminosity /G \(6 + 2 * level) 0 R >> >>")
                    sample.addForm(
                        many("/G gs 0 0 9 9 re f ", 10), "/Group << /S /Transparency >>",
                        resources: "/ExtGState << /G \(7 + 2 * level) 0 R >>")
                }
                sample.add("<< >>")
                return sample.data
            },
            Attack("a glyph that shows text of its own font", "draws itself") {
                var sample = PDFSample(content: "BT /T 9 Tf (aaa) Tj ET", resources: "/Font << /T 5 0 R >>")
                sample.add(type3(glyph: 6))
                sample.addStream("9 0 d0 BT /T 9 Tf (aa) Tj ET")
                return sample.data
            },
            Attack("glyphs that multiply", "PDF operators with all forms") {
                var sample = PDFSample(
                    content: "BT /T 9 Tf (\(many("a", 10_000))) Tj ET", resources: "/Font << /T 5 0 R >>")
                sample.add(type3(glyph: 6))
                sample.addStream("9 0 d0 " + many("0 0 9 9 re f ", 1_000))
                return sample.data
            },
            Attack("tiling patterns with tiny steps", "PDF operators with all forms") {
                tiling("/XStep .001 /YStep .001", content: "0 0 100 100 re f")
            },
            Attack("tiling patterns with steps of zero", "PDF operators with all forms") {
                tiling("/XStep 0 /YStep 1", content: "0 0 100 100 re f")
            },
            Attack("tiling patterns that a matrix shrinks", "PDF operators with all forms") {
                tiling("/XStep 1 /YStep 1 /Matrix [.0001 0 0 .0001 0 0]", content: "0 0 100 100 re f")
            },
            Attack("tiling patterns that many texts use", "PDF operators with all forms") {
                tiling("/XStep 1 /YStep 1", content: "BT /T 9 Tf \(many("(a) Tj ", 3_000)) ET")
            },
            Attack("a tiling pattern that a form inherits", "PDF operators with all forms") {
                var sample = PDFSample(
                    content: "/Pattern cs /P scn /F Do",
                    resources: "/Pattern << /P 5 0 R >> /XObject << /F 6 0 R >>")
                sample.addStream(
                    "0 0 1 1 re f",
                    "/PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 1 1] /XStep 1 /YStep 1 /Resources << >>")
                sample.addForm(many("0 0 100 100 re f ", 1_000))
                return sample.data
            },
            Attack("a pattern that fills itself", "draws itself") {
                tiling("/XStep 9 /YStep 9", content: "0 0 100 100 re f", tile: "/Pattern cs /P scn 0 0 1 1 re f")
            },
            Attack("compressed content of 100 MiB", "bytes of decoded PDF streams") {
                var sample = PDFSample(content: "")
                let bomb = PDFAttackTests.bomb(100 << 20, layers: 1)
                let number = sample.addStream(bomb, "/Filter /FlateDecode")
                return PDFAttackTests.replacing(sample.data, "/Contents 4 0 R", "/Contents \(number) 0 R")
            },
            Attack("content that is compressed three times", "bytes of decoded PDF streams") {
                var sample = PDFSample(content: "")
                let bomb = PDFAttackTests.bomb(100 << 20, layers: 3)
                let number = sample.addStream(bomb, "/Filter [/FlateDecode /Fl /FlateDecode]")
                return PDFAttackTests.replacing(sample.data, "/Contents 4 0 R", "/Contents \(number) 0 R")
            },
            Attack("many filters", "filters of one PDF stream") {
                var sample = PDFSample(content: "")
                let number = sample.addStream("", "/Filter [\(many("/ASCIIHexDecode ", 1_000))]")
                return PDFAttackTests.replacing(sample.data, "/Contents 4 0 R", "/Contents \(number) 0 R")
            },
            Attack("a compressed stream of objects", "bytes of decoded PDF streams") {
                let data = PDFAttackTests.bomb(100 << 20, layers: 1)
                var file = Data("%PDF-1.7\n1 0 obj\n<< /Type /ObjStm /N 1 /First 9 /Filter /FlateDecode ".utf8)
                file += Data("/Length \(data.count) >>\nstream\n".utf8) + data + Data("\nendstream\nendobj\n".utf8)
                return file
            },
            Attack("huge inline images", "pixels of an image") {
                PDFSample(content: "100 0 0 100 0 0 cm BI /W 30000 /H 30000 /BPC 8 /CS /G /F /Fl ID x EI").data
            },
            Attack("huge images", "pixels of an image") {
                var sample = PDFSample(content: "/I Do", resources: "/XObject << /I 5 0 R >>")
                sample.addStream(
                    "", "/Subtype /Image /Width 30000 /Height 30000 /BitsPerComponent 1 /ColorSpace /DeviceGray")
                return sample.data
            },
            Attack("an image that is drawn many times", "estimated drawing work") {
                var sample = PDFSample(content: many("/I Do ", 10_000), resources: "/XObject << /I 5 0 R >>")
                sample.addStream(
                    "", "/Subtype /Image /Width 3000 /Height 3000 /BitsPerComponent 1 /ColorSpace /DeviceGray")
                return sample.data
            },
            Attack("a million saved states", "saved graphics states") {
                PDFSample(content: many("q ", 1_000_000)).data
            },
            Attack("a path with many lines", "estimated drawing work") {
                PDFSample(
                    content: "0 0 m " + (0..<300_000).map { "\($0 * 37 % 100) \($0 * 61 % 100) l " }.joined() + "f"
                ).data
            },
            Attack("many operators", "operators of a PDF page") {
                PDFSample(content: many("n ", 1_000_001)).data
            },
            Attack("tiny dashes", "dashes") { PDFSample(content: "[.00001] 0 d 0 0 m 100 100 l S").data },
            Attack("a huge page", "1000000 pixels") {
                PDFSample(content: "", page: "/MediaBox [0 0 1e6 1000000]").data
            },
            Attack("functions with huge tables", "samples of a PDF function") {
                var sample = PDFSample(
                    content: "/S sh",
                    resources: "/Shading << /S << /ShadingType 1 /ColorSpace /DeviceGray /Function 5 0 R >> >>")
                sample.addStream(
                    "", "/FunctionType 0 /Domain [0 1 0 1] /Range [0 1] /Size [30000 30000] /BitsPerSample 8")
                return sample.data
            },
            Attack("nested transparency groups", "bytes of nested PDF transparency groups") {
                PDFAttackTests.replacing(
                    levels(25, uses: 1, "/Group << /S /Transparency >>"), "/MediaBox [0 0 100 100]",
                    "/MediaBox [0 0 4000 4000]",
                    all: "/BBox [0 0 100 100]", "/BBox [0 0 4000 4000]")
            },
            Attack("deeply nested arrays", "nested PDF values") {
                PDFSample(content: "", resources: "/XObject \(many("[", 100_000))").data
            },
            Attack("streams whose lengths are streams", "PDF objects that describe each other") {
                var sample = PDFSample(content: "/F Do", resources: "/XObject << /F 5 0 R >>")
                for number in 5..<5_000 { sample.add("<< /Length \(number + 1) 0 R >>\nstream\n\nendstream") }
                return sample.data
            },
            Attack("a cycle of page tree nodes", "no pages") {
                PDFAttackTests.replacing(PDFSample(content: "").data, "/Kids [3 0 R]", "/Kids [2 0 R]")
            },
            Attack("an encrypted document", "encryption, even if the document opens without a password") {
                PDFSample(content: "").data(trailer: "/Encrypt << /Filter /Standard /V 1 /R 2 >>")
            },
            Attack("an encrypted document without a valid table of objects", "encryption, even if") {
                let whole = PDFSample(content: "").data(trailer: "/Encrypt << /Filter /Standard /V 5 /R 6 >>")
                return PDFAttackTests.replacing(whole, "startxref", "startnone")
            },
        ]

        private static func type3(glyph: Int) -> String {
            """
            << /Type /Font /Subtype /Type3 /FontBBox [0 0 9 9] /FontMatrix [.1 0 0 .1 0 0] /FirstChar 97 /LastChar 97 \
            /Widths [9] /Encoding << /Differences [97 /a] >> /CharProcs << /a \(glyph) 0 R >> \
            /Resources << /Font << /T 5 0 R >> >> >>
            """
        }

        private static func tiling(_ entries: String, content: String, tile: String = "0 0 .5 .5 re f") -> Data {
            var sample = PDFSample(
                content: "/Pattern cs /P scn \(content)",
                resources: "/Pattern << /P 5 0 R >> /Font << /T << /Type /Font /Subtype /Type1 /BaseFont /Courier >> >>"
            )
            sample.addStream(
                tile,
                """
                /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 1 1] \
                /Resources << /Pattern << /P 5 0 R >> >> \(entries)
                """
            )
            return sample.data
        }

        /// Returns a document with replaced text. The table of objects becomes invalid, so it must be repaired.
        private static func replacing(_ data: Data, _ old: String, _ new: String, all: String = "", _ text: String = "")
            -> Data
        {
            var result = data
            for (old, new) in [(old, new), (all, text)] where !old.isEmpty {
                while let range = result.range(of: Data(old.utf8)) {
                    result.replaceSubrange(range, with: Data(new.utf8))
                }
            }
            return result
        }

        /// The limits of a server. Instrumented code takes up to ten times as long, so it may use more processor time.
        private static var limits: ImageLimits {
            var limits = ImageLimits.server
            #if ADDRESS_SANITIZER || THREAD_SANITIZER
                limits.maxDecodingTime *= 10
            #endif
            return limits
        }

        private func decode(_ data: Data, _ limits: ImageLimits = limits) throws -> DecodedImage {
            try PDFCoder().decode(
                data, info: nil, options: ImageDecodingOptions(), context: ImageProcessingContext(limits: limits))
        }

        /// The processor time of the current thread. Other tests don't affect it.
        private static var processorTime: Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }

        private func bytes(_ image: DecodedImage) -> [UInt8] {
            let pixels = image.pixels
            return pixels.withUnsafeBytes { buffer in
                (0..<pixels.height).flatMap {
                    buffer[($0 * pixels.bytesPerRow)..<($0 * pixels.bytesPerRow + pixels.width * 4)]
                }
            }
        }

        @Test("A document that needs too much work is rejected before poppler receives it", arguments: attacks)
        func rejection(_ attack: Attack) throws {
            let data = attack.make()
            if let directory = ProcessInfo.processInfo.environment["WEBIMAGE_ATTACKS"] {
                let name = attack.testDescription.replacing(" ", with: "-") + ".pdf"
                try data.write(to: URL(filePath: directory).appending(path: name))
            }
            var failure: ImageError?
            let start = Self.processorTime
            do {
                _ = try decode(data)
            } catch {
                failure = error as? ImageError
            }
            let time = Self.processorTime - start
            let message = try #require(failure).message
            #expect(message.contains(attack.words), "\(message)")
            #expect(time < Self.limits.maxDecodingTime * 4)
            if case .limitExceeded(let failure)? = failure { #expect(failure.actual > failure.limit) }
        }

        @Test("Cycles of sections in the table of objects end")
        func tableCycles() throws {
            let plain = PDFSample(content: "1 0 0 rg 0 0 100 100 re f")
            let table = try #require(plain.data.range(of: Data("xref\n".utf8)))
            let cycle = plain.data(trailer: "/Prev \(table.lowerBound)")
            let image = try decode(cycle)
            #expect(image.size == PixelSize(width: 100, height: 100))
            #expect(try bytes(decode(plain.data)) == bytes(image))
        }

        @Test("Documents without a valid table of objects are repaired")
        func repair() throws {
            let whole = PDFSample(content: "1 0 0 rg 0 0 100 100 re f").data
            let end = try #require(whole.range(of: Data("xref\n".utf8))).lowerBound
            let pixels = try bytes(decode(whole))
            #expect(try bytes(decode(whole.prefix(end))) == pixels)
            #expect(try bytes(decode(Data("junk before the header\n".utf8) + whole)) == pixels)
        }

        @Test("Inline images, forms, patterns, masks, glyphs, and annotations are drawn")
        func features() throws {
            let white = try bytes(decode(PDFSample(content: "").data))
            var patterned = PDFSample(
                content: "/Pattern cs /P scn 0 0 100 100 re f", resources: "/Pattern << /P 5 0 R >>")
            patterned.addStream(
                "0 1 0 rg 0 0 5 5 re f",
                "/PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 9 9] /XStep 9 /YStep 9 /Resources << >>")
            var annotated = PDFSample(
                content: "",
                page:
                    "/MediaBox [0 0 100 100] /Annots [<< /Subtype /Stamp /F 4 /Rect [0 0 50 50] /AP << /N 5 0 R >> >>]")
            annotated.addForm("0 0 1 rg 0 0 100 100 re f")
            var masked = PDFSample(content: "/G gs 0 0 100 100 re f", resources: "/ExtGState << /G 5 0 R >>")
            masked.add("<< /SMask << /S /Luminosity /G 6 0 R >> >>")
            masked.addForm("1 g 0 0 50 100 re f", "/Group << /S /Transparency /CS /DeviceGray >>")
            var glyphs = PDFSample(content: "BT /T 9 Tf 9 9 Td (aaa) Tj ET", resources: "/Font << /T 5 0 R >>")
            glyphs.add(Self.type3(glyph: 6))
            glyphs.addStream("9 0 d0 0 0 9 9 re f")
            let samples = [
                PDFSample(content: "q 100 0 0 100 0 0 cm BI /W 2 /H 1 /BPC 8 /CS /G ID ab EI Q 0 0 9 9 re f"),
                patterned, annotated, masked, glyphs,
            ]
            for (place, sample) in samples.enumerated() {
                #expect(try bytes(decode(sample.data)) != white, "sample \(place)")
            }
        }

        @Test("All pages of documents with compressed objects are found")
        func pages() throws {
            let data = try Fixture.named("pages.pdf").data()
            var options = ImageDecodingOptions()
            options.frames = .index(1)
            _ = try PDFCoder().decode(data, info: nil, options: options, context: ImageProcessingContext())
            options.frames = .index(1_000)
            #expect(throws: ImageError.self) {
                try PDFCoder().decode(data, info: nil, options: options, context: ImageProcessingContext())
            }
        }
    }
#endif
