// SPDX-License-Identifier: MIT

#if SVG
    import Foundation
    import Testing
    import WebImageCodecs
    import WebImageCore

    @Suite("Custom properties and relative lengths of SVG documents")
    struct SVGVariableTests {
        /// A document whose center is green if its references are substituted as in browsers.
        struct Case: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let content: String
            var attributes = ""

            init(_ name: String, _ content: String, attributes: String = "") {
                testDescription = name
                self.content = content
                self.attributes = attributes
            }
        }

        private static let size = "width='64' height='64'"
        private static let green = PixelColor(red: 0, green: 170, blue: 0)

        /// Returns a rectangle that fills the document.
        private static func box(_ attributes: String) -> String { "<rect \(attributes) \(size)/>" }

        static let cases: [Case] = [
            Case(
                "a custom property of the root", "<style>:root{--c:#0a0}.a{fill:var(--c)}</style>" + box("class='a'")),
            Case("a fallback", box("style='fill:var(--c, #0a0)'")),
            Case("a nested fallback", box("style='fill:var(--a, var(--b, var(--c,#0a0)))'")),
            Case(
                "a style attribute of an ancestor", "<g style='--c:#0a0'><g>\(box("style='fill:var(--c)'"))</g></g>"),
            Case("a style attribute of the root", box("style='fill:var(--c)'"), attributes: "style='--c: #0a0 '"),
            Case("a presentation attribute", "<g style='--c:#0a0'>\(box("fill='var(--c)'"))</g>"),
            Case("a presentation attribute with a fallback", box("fill='var( --c , #0a0 )'")),
            Case(
                "a redefinition",
                "<style>:root{--c:red}.x{--c:#0a0}.a{fill:var(--c)}</style>"
                    + "<g class='x'>\(box("class='a'"))</g>"),
            Case(
                "a stylesheet after the element",
                box("class='a'")
                    + "<style>.a{fill:var(--c)}</style><style>svg{--c:#0a0}</style>"),
            Case(
                "the most specific rule",
                "<style>#i{--c:#0a0}.x{--c:red}svg{--c:blue}.a{fill:var(--c)}</style>"
                    + box("class='a'"), attributes: "id='i' class='x'"),
            Case(
                "the last one of equal rules",
                "<style>.x{--c:red}.y{--c:#0a0}.a{fill:var(--c)}</style>"
                    + box("class='a'"), attributes: "class='y x'"),
            Case(
                "an important definition",
                "<style>svg{--c:#0a0 !important}.a{fill:var(--c)}</style>" + box("class='a'"),
                attributes: "style='--c:red'"),
            Case(
                "an important declaration",
                "<style>.a{fill:var(--c) !important}</style>"
                    + "<g style='--c:#0a0'>\(box("class='a' style='fill:red'"))</g>"),
            Case("names with case", "<g style='--C:red;--c:#0a0'>\(box("style='FILL:VAR(--c)'"))</g>"),
            Case("a part of a value", "<g style='--g:170'>\(box("style='fill:rgb(0,var(--g),0)'"))</g>"),
            Case("an empty value", "<g style='--e:;'>\(box("style='fill:var(--e) #0a0'"))</g>"),
            Case(
                "a reference within a definition",
                "<style>:root{--a:#0a0;--b:var(--a)}.x{--a:red;fill:var(--b)}</style>" + box("class='x'")),
            Case(
                "the initial value and the inherited value",
                "<g style='--a:red;--b:#0a0'><g style='--a:initial;--b:inherit'>"
                    + "\(box("style='fill:var(--a, var(--b))'"))</g></g>"),
            Case("a cycle", "<g style='--a:var(--b);--b:var(--a, red)'>\(box("style='fill:var(--a, #0a0)'"))</g>"),
            Case(
                "a property that refers to itself",
                "<g style='--a:red'><g style='--a:var(--a)'>"
                    + "\(box("style='fill:var(--a, #0a0)'"))</g></g>"),
            Case(
                "an invalid reference, which doesn't make another rule apply",
                "<style>rect{fill:red}</style><g fill='#0a0'>\(box("style='fill:var(--no)'"))</g>"),
            Case("an invalid reference in an attribute", "<g fill='#0a0'>\(box("fill='var(--no)'"))</g>"),
            Case("an invalid reference in an attribute without inheritance", box("fill='#0a0' opacity='var(--no)'")),
            Case("invalid syntax", "<g fill='#0a0'>\(box("style='fill:var(c, red)'"))</g>"),
            Case(
                "the descendants of an element",
                "<style>g rect.a{--c:#0a0}.a{fill:var(--c, red)}</style><g><g>\(box("class='a'"))</g></g>"),
            Case(
                "the children of an element",
                "<style>g>.a{--c:#0a0}svg > .a{--c:red}.a{fill:var(--c)}</style><g>\(box("class='a'"))</g>"),
            Case(
                "selectors that the document doesn't match exactly",
                "<style>rect:hover,rect[x]{--c:red}.a{fill:var(--c, #0a0)}</style>" + box("class='a'")),
            Case(
                "the colors of a gradient",
                "<style>:root{--c:#0a0}stop{stop-color:var(--c)}</style>"
                    + "<linearGradient id='l'><stop/></linearGradient>" + box("fill='url(#l)'")),
            Case(
                "a reference to a gradient",
                "<linearGradient id='l'><stop stop-color='#0a0'/></linearGradient>"
                    + "<g style='--p:url(#l)'>\(box("style='fill:var(--p)'"))</g>"),
            Case(
                "a text that only looks like a function",
                "<g style='--c:red'>"
                    + box("style='fill:#0a0;font-family:\"var(--c)\";--x:my-var(--c)'") + "</g>"),
        ]

        private func decode(_ text: String) throws -> DecodedImage {
            try ImageCoderRegistry.standard.decode(Data(text.utf8), context: ImageProcessingContext())
        }

        private func color(_ pixels: PixelBuffer, _ x: Int, _ y: Int) -> PixelColor? {
            pixels.pixel(x: x, y: y).map {
                PixelColor(red: $0.red, green: $0.green, blue: $0.blue, alpha: $0.alpha)
            }
        }

        private func document(_ content: String, _ attributes: String = "width='64' height='64'") -> String {
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 64 64' \(attributes)>\(content)</svg>"
        }

        @Test("References are substituted", arguments: cases)
        func substitutes(_ item: Case) throws {
            let image = try decode(document(item.content, "\(Self.size) \(item.attributes)"))
            #expect(color(image.pixels, 32, 32) == Self.green)
        }

        @Test("A rule can have different values for different elements, without a change of its precedence")
        func scopes() throws {
            let text = document(
                """
                <style>.a{fill:var(--c)} rect{fill:blue} #last{fill:#00f} .b{fill:black}</style>
                <g style='--c:#f00'><rect class='a' width='16' height='64'/></g>
                <g style='--c:#0a0'><rect class='a' x='16' width='16' height='64'/></g>
                <rect class='a' style='--c:#fff' x='32' width='16' height='64'/>
                <rect class='a' style='--c:#fff' id='last' x='48' width='16' height='64'/>
                """)
            let pixels = try decode(text).pixels
            #expect(color(pixels, 8, 8) == PixelColor(red: 255, green: 0, blue: 0))
            #expect(color(pixels, 24, 8) == Self.green)
            #expect(color(pixels, 40, 8) == PixelColor(red: 255, green: 255, blue: 255))
            #expect(color(pixels, 56, 8) == PixelColor(red: 0, green: 0, blue: 255))
        }

        private static func many(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

        /// Returns definitions of which each repeats the one before it.
        private static func doubling(_ levels: Int, _ count: Int) -> String {
            var text = "--a0:xxxxxxxxxx;"
            for level in 1...levels {
                let references = many("var(--a\(level - 1))", count)
                text += "--a\(level):\(references);"
            }
            return text
        }

        static let attacks: [Case] = [
            Case("multiplying properties", "<g style='\(doubling(20, 10))'/>"),
            Case("multiplying properties of a rule", "<style>:root{\(doubling(20, 10))}</style>"),
            Case(
                "multiplying fallbacks",
                "<g style='--a:\(many("x", 60_000))'>\(many("<g style='fill:var(--b, var(--a))'/>", 200))</g>"),
            Case("a long chain", "<g style='\(doubling(1_000, 1))'/>"),
            Case("deep fallbacks", "<g style='fill:\(many("var(--a,", 5_000))red\(many(")", 5_000))'/>"),
            Case(
                "a rule with many scopes",
                "<style>*{fill:var(--c);d:\"\(many("x", 10_000))\"}</style>" + elementsWithScopes(1_000)),
            Case(
                "many selectors with ancestors",
                "<style>\(many(many("g ", 200) + "g{--c:red}", 100))</style>"
                    + "\(many("<g>", 100))\(many("<g/>", 2_000))\(many("</g>", 100))"),
            Case(
                "references to patterns through properties",
                "<style>:root{--p:url(#p)}.a{fill:var(--p)}</style>"
                    + "<pattern id='p'>\(many("<rect/>", 1_000))</pattern>\(many("<rect class='a'/>", 1_000))"),
        ]

        private static func elementsWithScopes(_ count: Int) -> String {
            (0..<count).map { "<g style='--c:#\(100_000 + $0)'/>" }.joined()
        }

        @Test("Documents that multiply references are rejected in time", arguments: attacks)
        func attack(_ item: Case) throws {
            #expect { try decode(document(item.content)) } throws: { error in
                guard case .limitExceeded(let failure)? = error as? ImageError else { return false }
                return failure.kind == .metadataSize
            }
        }

        @Test(
            "Lengths in font sizes are those of browsers",
            arguments: [
                ("width='2em' height='2em'", 32), ("width='2rem' height='4ch'", 32), ("width='4ex' height='2em'", 32),
                ("width='2em' height='2em' font-size='10px'", 20),
                ("width='2em' height='2em' style='font-size:150%'", 48),
                ("width='2em' height='2em' font-size='10px' style='font:20px serif'", 40),
            ])
        func fontSizes(_ attributes: String, _ side: Int) throws {
            let content =
                "<rect width='\(side)' height='\(side)' fill='red'/><rect width='2em' height='2em' fill='#0a0'/>"
            let text = "<svg xmlns='http://www.w3.org/2000/svg' \(attributes)>\(content)</svg>"
            #expect(try ImageInfo(data: Data(text.utf8)).size == PixelSize(width: side, height: side))
            let image = try decode(text)
            #expect(image.size == PixelSize(width: side, height: side))
            for place in [0, side / 2, side - 1] {
                #expect(color(image.pixels, place, place) == Self.green)
            }
        }
    }
#endif
