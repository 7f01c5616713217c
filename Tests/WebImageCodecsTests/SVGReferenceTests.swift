// SPDX-License-Identifier: MIT

#if SVG
    import Foundation
    import Testing
    import WebImageCore
    import WebImageTestBasics

    @testable import WebImageCodecs

    @Suite("References in SVG documents")
    struct SVGReferenceTests {
        /// A document in which a thousand elements refer to a thousand elements.
        struct Case: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let content: String

            /// Creates a case from the attributes of the target and those of the elements that refer to it.
            init(
                _ name: String, target: String = "id='p'", element: String = "rect", _ attributes: String,
                before: String = "", group: String = ""
            ) {
                testDescription = name
                let contents = String(repeating: "<rect/>", count: 1_000)
                let uses = String(repeating: "<\(element) \(attributes)/>", count: 1_000)
                content = "\(before)<pattern \(target)>\(contents)</pattern><g \(group)>\(uses)</g>"
            }
        }

        static let cases: [Case] = [
            Case("an identifier that begins with a combining mark", target: "id='\u{301}p'", "fill='url(#\u{301}p)'"),
            Case("an identifier that begins with a no-break space", target: "id='\u{A0}p'", "fill='url(#\u{A0}p)'"),
            Case("a quoted identifier that ends with a space", target: "id='p '", "fill='url(\"#p \")'"),
            Case(
                "an identifier that is equal to another one in Swift", target: "id='e\u{301}'",
                "fill='url(#e\u{301})'", before: "<pattern id='\u{E9}'/>"),
            Case("identifiers in two namespaces", target: "xlink:id='q' id='p'", "fill='url(#p)'"),
            Case("an identifier in a namespace", "fill='url(#p)'", before: "<g xml:id='p'/>"),
            Case("an identifier within a stylesheet", "fill='url(#p)'", before: "<style><pattern id='p'/></style>"),
            Case("an invalid value and that of the parent", "fill='invalid'", group: "fill='url(#p)'"),
            Case("an invalid color function and the value of the parent", "fill='rgb(1,2)'", group: "fill='url(#p)'"),
            Case("an invalid important value", "style='fill:@ !important' ", group: "fill='url(#p)'"),
            Case("a keyword in capital letters", "fill='red' style='fill:INHERIT'", group: "fill='url(#p)'"),
            Case(
                "a rule that might not apply", "", before: "<style>rect:not(g rect){fill:red}</style>",
                group: "fill='url(#p)'"),
            Case(
                "a marker at another place", element: "path d='M0 0h1'", "marker-end='none'",
                group: "marker-start='url(#p)'"),
            Case(
                "a color where a marker must be", element: "path d='M0 0h1'", "marker-start='red'",
                group: "marker-start='url(#p)'"),
            Case("a mask that is inherited by name", "mask='Inherit'", group: "mask='url(#p)'"),
            Case(
                "a class that begins with a combining mark", "class='a \u{301}b'",
                before: "<style>.\u{301}b{fill:url(#p)}</style>"),
            Case("a class after a no-break space", "class='a\u{A0}b'", before: "<style>.b{fill:url(#p)}</style>"),
            Case(
                "an attribute in another namespace", "xlink:class='b' class='a'",
                before: "<style>.a{fill:url(#p)}</style>"),
            Case("two addresses", element: "use", "xlink:href='#q' href='#p'", before: "<g id='q'/>"),
        ]

        @Test("References count in all forms in which librsvg follows them", arguments: cases)
        func counting(_ item: Case) throws {
            let error = #expect(throws: ImageError.self) { try document(item.content) }
            #expect(
                error?.message.contains("SVG elements with all references") ?? false, "\(String(describing: error))")
        }

        @Test(
            "Values that certainly apply replace those of the parent",
            arguments: [
                "fill='none'", "fill='Lime'", "fill='#0f0'", "fill='rgb(1, 20, 255)'", "fill='url(#q)'",
                "style='fill:none !important'",
            ])
        func replacing(_ attributes: String) throws {
            let item = Case("", attributes, before: "<pattern id='q'/>", group: "fill='url(#p)'")
            #expect(try !document(item.content).isEmpty)
        }

        @Test(
            "References that form a cycle through stylesheets or parents are removed, and the rest is drawn",
            arguments: [
                "<style>rect{fill:url(#p)}</style>{pattern}<rect width='100' height='100'/>",
                "<style>rect{fill:url(#p) none!important}</style>{pattern}<rect width='100' height='100'/>",
                "<style>rect{fill:inherit}</style><g fill='url(#p)'>{pattern}<rect width='100' height='100'/></g>",
                "<style>#a rect{fill:url(#p)}</style>{pattern}<g id='a'><rect width='100' height='100'/></g>",
                "<g fill='url(#p)'>{pattern}<rect width='100' height='100'/></g>",
            ])
        func cycles(_ content: String) throws {
            // The second rectangle of the pattern refers to the pattern.
            let pattern = """
                <pattern id='p' width='1' height='1'><circle r='300' style='fill:lime;stroke:none'/>\
                <rect width='9' height='9' style='stroke:lime'/></pattern>
                """
            let text = content.replacing("{pattern}", with: pattern)
            let written = try document(text)
            let image = try ImageCoderRegistry.standard.decode(
                written, options: ImageDecodingOptions(), context: ImageProcessingContext(limits: .desktop))
            #expect(image.pixels.pixel(x: 50, y: 50)?.green == 255)
            #expect(try document(String(decoding: written, as: UTF8.self), isComplete: true) == written)
        }

        @Test("An attribute that isn't a property keeps its text, and other declarations of the element remain")
        func otherAttributes() throws {
            let text = """
                <style>rect.a{fill:url(#p)}</style><pattern id='p'><rect class='a' style='stroke:red;fill:url(#p)' \
                data-fill='url(#p)'/></pattern><rect class='a'/>
                """
            let written = String(decoding: try document(text), as: UTF8.self)
            #expect(written.contains("data-fill=\"url(#p)\" style=\"stroke:red;fill:none !important;\""))
        }

        @Test("A comment in an attribute is found before a combining mark")
        func comment() throws {
            let written = String(decoding: try document("<g opacity='/*\u{301}1*/.5' fill='red'/>"), as: UTF8.self)
            #expect(written.contains("<g fill=\"red\"></g>"))
        }

        /// Returns the document that librsvg receives.
        private func document(_ content: String, isComplete: Bool = false) throws -> Data {
            let text = isComplete ? content : SVGAttackTests.document(content)
            var document = try SVGDocument(Data(text.utf8), limits: .server)
            let graph = try SVGGraph(&document)
            try SVGWork.check(document, graph, size: PixelSize(width: 100, height: 100), time: 1e12)
            return document.text()
        }
    }
#endif
