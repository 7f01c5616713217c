// SPDX-License-Identifier: MIT

#if SVG
    import Foundation
    import Testing
    import WebImageCodecs
    import WebImageCore
    import WebImageTestBasics

    @Suite("SVG documents from unknown sources")
    struct SVGAttackTests {
        /// A document that must not reach librsvg, and the text of the error.
        struct Attack: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let text: String
            let words: String

            init(_ name: String, _ words: String, _ content: String, attributes: String = "", prolog: String = "") {
                testDescription = name
                text = prolog + SVGAttackTests.document(content, attributes)
                self.words = words
            }
        }

        static func document(_ content: String, _ attributes: String = "") -> String {
            """
            <svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='100' height='100' \
            \(attributes)>\(content)</svg>
            """
        }

        private static func many(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

        private static func filter(_ primitives: String) -> String {
            "<filter id='f'>\(primitives)</filter><rect width='90' height='90' filter='url(#f)'/>"
        }

        /// Returns levels of elements that each refer ten times to the level below.
        private static func levels(_ count: Int, _ level: (Int) -> String) -> String {
            (0..<count).map { level($0) }.joined()
        }

        static let attacks: [Attack] = [
            Attack(
                "kernels that abort the process", "numbers in a filter kernel",
                filter("<feConvolveMatrix order='21' kernelMatrix='\(many("1 ", 441))'/>")),
            Attack(
                "private languages that abort the process", "the language x-private",
                "<style>rect:lang(x-private) {fill: red}</style><rect xml:lang='x-foo' width='9' height='9'/>"),
            Attack(
                "nested pseudo-classes that overflow the stack", "nested parentheses",
                "<style>rect\(many(":not(", 150))a\(many(")", 150)){fill:red}</style><rect/>"),
            Attack(
                "a chain of references that overflows the stack", "nested elements and references",
                levels(1_000) { "<g id='u\($0)'><use xlink:href='#u\($0 + 1)'/></g>" } + "<rect id='u1000'/>"),
            Attack(
                "a chain of patterns that overflows the stack", "nested elements and references",
                levels(800) { "<pattern id='p\($0)' width='1' height='1'><rect fill='url(#p\($0 + 1))'/></pattern>" }
                    + "<rect width='9' height='9' fill='url(#p0)'/>"),
            Attack("deep elements", "nested SVG elements", many("<g>", 200) + many("</g>", 200)),
            Attack(
                "multiplying uses", "SVG elements with all references",
                "<rect id='u0'/>" + levels(9) { "<g id='u\($0 + 1)'>\(many("<use href='#u\($0)'/>", 10))</g>" }),
            Attack(
                "multiplying markers", "SVG elements with all references",
                "<marker id='m'>\(many("<rect/>", 1_000))</marker>"
                    + "<path d='M0 0\(many("h1", 1_000))' marker-mid='url(#m)'/>"),
            Attack(
                "multiplying patterns of a stylesheet", "SVG elements with all references",
                "<style>.a{fill:url(#p)}</style><pattern id='p'>\(many("<rect/>", 1_000))</pattern>"
                    + many("<rect class='a'/>", 1_000)),
            Attack(
                "inherited patterns", "SVG elements with all references",
                "<pattern id='p'>\(many("<rect/>", 1_000))</pattern><g fill='url(#p)'>\(many("<rect/>", 1_000))</g>"),
            Attack(
                "multiplying masks", "SVG elements with all references",
                "<mask id='m0'/>"
                    + levels(6) { "<mask id='m\($0 + 1)'>\(many("<rect mask='url(#m\($0))'/>", 10))</mask>" }
                    + "<rect mask='url(#m6)'/>"),
            Attack("many elements", "SVG elements", many("<g/>", 60_000)),
            Attack(
                "many attributes", "attributes in one element",
                "<rect \((0..<1_000).map { "a\($0)=''" }.joined(separator: " "))/>"),
            Attack("long attributes", "bytes in one attribute", "<rect transform='\(many("rotate(1)", 20_000))'/>"),
            Attack("octaves of turbulence", "octaves", filter("<feTurbulence numOctaves='1000000000'/>")),
            Attack("large morphology", "estimated drawing work", filter("<feMorphology radius='1000000'/>")),
            Attack(
                "morphology that a transform enlarges", "estimated drawing work",
                "<g transform='scale(1000)'>\(filter("<feMorphology radius='1'/>"))</g>"),
            Attack(
                "many filter primitives", "estimated drawing work",
                filter(many("<feGaussianBlur stdDeviation='3'/>", 5_000))),
            Attack(
                "many filters", "filters of one element",
                "<rect width='9' height='9' filter='\(many("blur(3px) ", 500))'/>"),
            Attack("large fonts", "units of font size", "<text font-size='1e9'>a</text>"),
            Attack("long texts", "characters of a text", "<text>\(many("abcd ", 20_000))</text>"),
            Attack(
                "tiny dashes", "dashes",
                "<rect width='1e7' height='1e7' stroke='red' stroke-dasharray='.01'/>"),
            Attack(
                "crossing lines", "estimated drawing work",
                "<path d='M0 0\((0..<40_000).map { "L\($0 * 37 % 100) \($0 * 61 % 100)" }.joined())'/>"),
            Attack(
                "many selectors", "selectors",
                "<style>\((0..<5_000).map { "a.c\($0){fill:red}" }.joined())</style>"),
            Attack(
                "selectors that compare siblings", "estimated drawing work",
                "<style>\(many("rect:nth-child(2n+1){fill:red}", 100))</style>" + many("<rect/>", 5_000)),
            Attack(
                "rules that apply to all elements", "matches of elements and rules",
                "<style>\(many("*{fill:red}", 1_000))</style>" + many("<g/>", 1_000)),
            Attack(
                "a quoted reference with a parenthesis", "SVG elements with all references",
                "<pattern id='p)'>\(many("<rect/>", 1_000))</pattern>"
                    + many("<rect fill='url(&quot;#p)&quot;)'/>", 1_000)),
            Attack("large stylesheets", "bytes of stylesheets", "<style>\(many(" ", 300_000))</style>"),
            Attack("long lists of languages", "languages", "<g systemLanguage='\(many("en,", 1_000))en'/>"),
            Attack(
                "nested entities", "entities that contain references", "<text>&b;</text>",
                prolog: "<!DOCTYPE svg [<!ENTITY a 'x'><!ENTITY b '&a;&a;'>]>"),
            Attack(
                "multiplying entities", "bytes of inserted entities", "<text>\(many("&a;", 2_000))</text>",
                prolog: "<!DOCTYPE svg [<!ENTITY a '\(many("x", 1_000))'>]>"),
            Attack(
                "external entities", "unknown", "<text>&a;</text>",
                prolog: "<!DOCTYPE svg [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>"),
            Attack(
                "large embedded images", "pixels",
                "<image width='9' height='9' xlink:href='data:image/png;base64,\(header(width: 16_000, height: 16_000))'/>"
            ),
            Attack(
                "many embedded images", "embedded images",
                many("<image href='data:image/png;base64,\(header(width: 1, height: 1))'/>", 100)),
        ]

        /// Returns the header of a PNG image in base 64.
        private static func header(width: UInt32, height: UInt32) -> String {
            var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
            for number in [width, height] {
                bytes += (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
            }
            bytes += [1, 0, 0, 0, 0]
            bytes += bigEndian(crc(bytes[12...]))
            bytes += [0, 0, 0, 0, 0x49, 0x44, 0x41, 0x54] + bigEndian(crc([0x49, 0x44, 0x41, 0x54]))
            return Data(bytes).base64EncodedString()
        }

        private static func bigEndian(_ number: UInt32) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
        }

        private static func crc(_ bytes: ArraySlice<UInt8>) -> UInt32 {
            ~bytes.reduce(UInt32.max) { sum, byte in
                (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1
                }
            }
        }

        private func decode(
            _ text: String, limits: ImageLimits = .desktop, size: TargetSize = .exact(width: 400, height: 400)
        ) throws -> DecodedImage {
            try ImageCoderRegistry.standard.decode(
                Data(text.utf8), options: ImageDecodingOptions(size: size),
                context: ImageProcessingContext(limits: limits))
        }

        @Test("A document that librsvg can't draw in bounded time is rejected with the reason", arguments: attacks)
        func rejection(_ attack: Attack) throws {
            #expect {
                try decode(attack.text)
            } throws: {
                "\($0)".contains(attack.words)
            }
        }

        @Test("A document whose root librsvg doesn't receive is rejected", arguments: ["script", "feTile"])
        func omittedRoot(_ name: String) throws {
            let text = "<\(name) xmlns='http://www.w3.org/2000/svg'><svg width='9' height='9'/></\(name)>"
            let info = ImageInfo(format: .svg, storedSize: PixelSize(width: 9, height: 9))
            #expect {
                try SVGCoder().decode(
                    Data(text.utf8), info: info, options: ImageDecodingOptions(), context: ImageProcessingContext())
            } throws: {
                "\($0)".contains("it has no element")
            }
        }

        @Test("A drawing of more than 4,096² pixels is rejected with the limit")
        func rasterLimit() throws {
            #expect {
                try decode(Self.document("<rect/>"), size: .exact(width: 5_000, height: 5_000))
            } throws: {
                ($0 as? ImageError)?.code == 6002
            }
        }

        @Test("A shorter decoding time rejects documents that need more work")
        func timeLimit() throws {
            let text = Self.document(
                "<filter id='f'>\(Self.many("<feTurbulence/>", 4))</filter>"
                    + "<rect width='100' height='100' filter='url(#f)'/>")
            #expect(try decode(text).size.width == 400)
            #expect {
                try decode(text, limits: .icon, size: .exact(width: 2_000, height: 2_000))
            } throws: {
                ($0 as? ImageError)?.code == 6009
            }
        }

        @Test("References that form a cycle are removed, and the rest is drawn")
        func cycles() throws {
            let contents = [
                "<g id='a'><use xlink:href='#b'/></g><g id='b'><use xlink:href='#a'/></g>",
                "<g id='a'><use xlink:href='#a'/></g>",
                "<pattern id='p' width='1' height='1'><rect fill='url(#p)'/></pattern><rect fill='url(#p)'/>",
                "<mask id='m' mask='url(#m)'><rect/></mask><rect mask='url(#m)'/>",
                "<clipPath id='c'><rect clip-path='url(#c)'/></clipPath><rect clip-path='url(#c)'/>",
                "<marker id='m'><path d='M0 0h1h1' marker-mid='url(#m)'/></marker><path d='M0 0h1h1' marker-mid='url(#m)'/>",
                "<linearGradient id='g' xlink:href='#h'/><linearGradient id='h' xlink:href='#g'/><rect fill='url(#g)'/>",
            ]
            for content in contents {
                let image = try decode(Self.document(content + "<rect width='100' height='100' fill='lime'/>"))
                #expect(image.pixels.pixel(x: 200, y: 200)?.green == 255, "\(content)")
            }
        }

        @Test("A tile filter with an empty input, which aborts librsvg 2.54, draws the document without the tile")
        func emptyTile() throws {
            for region in ["width='0' height='0'", "x='500' y='500' width='5' height='5'"] {
                let filter = Self.filter("<feFlood \(region)/><feTile/>")
                #expect(try decode(Self.document(filter)).size.width == 400)
            }
        }

        @Test("An SVG within a `data:` URL isn't drawn, regardless of its declared type")
        func nestedDocument() throws {
            let inner = Self.document("<rect width='100' height='100' fill='red'/>")
            for type in ["image/svg+xml", "image/png", "text/plain", ""] {
                let address = "data:\(type);base64,\(Data(inner.utf8).base64EncodedString())"
                let image = try decode(Self.document("<image width='100' height='100' xlink:href='\(address)'/>"))
                let pixels = image.pixels.packedBytes()
                #expect(areEqual(pixels, [UInt8](repeating: 0, count: pixels.count)), "\(type)")
            }
        }

        @Test("Simple entities, character references, CDATA, and namespace prefixes are drawn")
        func syntax() throws {
            let text = """
                <?xml version='1.0' encoding='UTF-8'?><?xml-stylesheet href='a.css'?><!-- <svg> -->
                <!DOCTYPE svg:svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd' [
                <!ENTITY ns 'http://www.w3.org/2000/svg'><!ENTITY box "<svg:rect class='b' width='50' height='100'/>">
                <!ATTLIST svg:rect opacity CDATA '0'>]>
                <svg:svg xmlns:svg='&ns;' width='100' height='100'>
                <svg:style><![CDATA[ @import url(a.css); .b { fill: lime } ]]></svg:style>
                &box;<svg:rect x='50' width='50' height='100' fill='&#x6C;ime'/></svg:svg>
                """
            let image = try decode(text)
            for x in [100, 300] {
                #expect(image.pixels.pixel(x: x, y: 200)?.green == 255)
                #expect(image.pixels.pixel(x: x, y: 200)?.alpha == 255)
            }
        }

        @Test("Random nesting and mutations end with an image or a typed error, and the same result each time")
        func randomDocuments() throws {
            var random = SeededGenerator(18)
            for _ in 0..<150 {
                var bytes = Array(Self.randomDocument(&random).utf8)
                for _ in 0..<Int.random(in: 0...3, using: &random) where Bool.random(using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 32...126, using: &random)
                }
                let text = String(decoding: bytes, as: UTF8.self)
                #expect(outcome(text) == outcome(text))
            }
        }

        /// Returns the pixels or the code of the error. The estimate rejects documents that would take longer than 20
        /// milliseconds. The clocks are stopped, so the result doesn't depend on the machine.
        private func outcome(_ text: String) -> [UInt8] {
            var limits = ImageLimits.icon
            limits.maxDecodingTime = .milliseconds(20)
            let clock = WorkClock(elapsedTime: { .zero }, processorTime: { .zero }, thread: { 1 })
            do throws(ImageError) {
                return try ImageCoderRegistry.standard.decode(
                    Data(text.utf8), options: ImageDecodingOptions(size: .exact(width: 40, height: 40)),
                    context: ImageProcessingContext(limits: limits, clock: clock)
                ).pixels.packedBytes()
            } catch {
                return Array("\(error.code)".utf8)
            }
        }

        private static func randomDocument(_ random: inout SeededGenerator) -> String {
            let names = [
                "g", "use", "rect", "path", "text", "mask", "pattern", "marker", "clipPath", "symbol", "filter",
            ]
            let links = ["fill", "stroke", "mask", "clip-path", "filter", "marker-mid"]
            var content = ""
            var open: [String] = []
            for index in 0..<Int.random(in: 5...60, using: &random) {
                let name = names.randomElement(using: &random) ?? "g"
                let target = Int.random(in: 0...60, using: &random)
                let link = links.randomElement(using: &random) ?? "fill"
                content += "<\(name) id='e\(index)' xlink:href='#e\(target)' \(link)='url(#e\(target / 2))'"
                content +=
                    " width='9' height='9' d='M0 0h9v9' transform='scale(\(Int.random(in: 1...9, using: &random)))'>"
                if Bool.random(using: &random) { content += "</\(name)>" } else { open.append(name) }
                if open.count > 3, Bool.random(using: &random), let last = open.popLast() { content += "</\(last)>" }
            }
            return document(content + open.reversed().map { "</\($0)>" }.joined())
        }
    }
#endif
