// SPDX-License-Identifier: MIT

#if SVG
    import Foundation
    import Testing
    import WebImageCore
    import WebImageTestBasics

    @testable import WebImageCodecs

    @Suite("Stylesheets of SVG documents")
    struct SVGStyleSheetTests {
        /// A stylesheet and the text that librsvg receives.
        struct Case: Sendable, CustomTestStringConvertible {
            let text: String
            let written: String

            var testDescription: String { text }

            init(_ text: String, _ written: String) {
                self.text = text
                self.written = written
            }
        }

        static let cases: [Case] = [
            Case("a{fill:red}b{fill:blue}", "a{fill:red;}\nb{fill:blue;}\n"),
            Case("a{fill:red", "a{fill:red;}\n"),
            Case("a{fill:rgb(1,2,3", "a{fill:rgb(1,2,3);}\n"),
            Case("a{font-family:'b", "a{font-family:'b';}\n"),
            // A bracket that isn't closed includes the text that follows.
            Case("a{fill:red;b:(;}c{fill:blue;d:)}e{fill:lime}", "a{fill:red;}\n"),
            Case("a{fill:red;b:(]);c:d}", "a{fill:red;c:d;}\n"),
            Case("a{b:[);c:]}d{e:f}", "a{}\nd{e:f;}\n"),
            Case("a{b:);c:d}", "a{c:d;}\n"),
            Case("a{fill:red)#;pl (stroke: red}b{c:d}", "a{}\n"),
            // An address without quotes ends at the first parenthesis.
            Case("a{fill:url(b(c);d:e;f:)}", "a{d:e;}\n"),
            Case("a{fill:.url(b');mask:url(#m);x:')}", "a{mask:url(#m);x:')}';}\n"),
            Case("a{fill:#url(b');mask:url(#m);x:')}", "a{fill:#url(b');mask:url(#m);x:');}\n"),
            Case("a{fill:URL( ')' );d:e}", "a{fill:URL( ')' );d:e;}\n"),
            Case("a{fill:curl(');d:e;f:')}", "a{fill:curl(');d:e;f:');}\n"),
            // A line break ends a string.
            Case("a{b:'c\n;mask:url(#m);d:'}\n}e{f:g}", "a{mask:url(#m);}\ne{f:g;}\n"),
            Case("a[b='{']{c:d}", "a[b='{']{c:d;}\n"),
            Case("a:not((b){c:d}e){f:g}", "a:not((b){c:d}e){f:g;}\n"),
            Case("a){b:c}d{e:f}", "d{e:f;}\n"),
            Case("a{b c:d;*e:f;:g;h:i}", "a{h:i;}\n"),
            Case("@media x{a{b:c}}d{e:f}", "d{e:f;}\n"),
        ]

        @Test("The rules that librsvg receives are those that it would read", arguments: cases)
        func writing(_ item: Case) throws {
            let sheet = try SVGStyleSheet(Array(item.text.utf8))
            #expect(sheet.text(isScoped: false) == item.written)
        }

        @Test(
            "The text of a custom property neither adds declarations nor comments",
            arguments: [
                "a{fill:var(--x, red;mask:url(#m))}", "a{fill:var(--x, red}*{mask:url(#m))}",
                "a{fill:/var(--c)}b{fill:*/ url(#m)}", "a{fill:var(--u)(b');mask:url(#m);b:')}",
            ])
        func references(_ rules: String) throws {
            let text = """
                <svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>
                <style>:root{--c:* x;--u:url}\(rules)</style><a/><b/></svg>
                """
            var document = try SVGDocument(Data(text.utf8), limits: .server)
            _ = try SVGGraph(&document)
            let written = String(decoding: document.text(), as: UTF8.self)
            let style = try #require(written.split(separator: "<style>").last?.split(separator: "</style>").first)
            for rule in style.split(separator: "\n") {
                #expect(!rule.contains("mask") && !rule.contains("/*") && !rule.hasPrefix("*"), "\(rule)")
            }
        }

        @Test("A written stylesheet has the same rules when it's read again")
        func random() throws {
            let tokens = [
                "a", "#b", ".c", "{", "}", "(", ")", "[", "]", ":", ";", ",", "'", "\"", "\n", " ", "url(", "/*", "*/",
                "@media x", "fill", "--d", "\\", "/", "*", "lang(en)", "!important", "#", ".url(", ">",
            ]
            var generator = SeededGenerator(34)
            for _ in 0..<4_000 {
                let count = Int.random(in: 0...40, using: &generator)
                let text = (0..<count).map { _ in tokens.randomElement(using: &generator) ?? "" }.joined()
                guard let sheet = try? SVGStyleSheet(Array("a{fill:red}\(text)".utf8)) else { continue }
                let written = sheet.text(isScoped: false)
                let again = try SVGStyleSheet(Array(written.utf8))
                #expect(again.text(isScoped: false) == written, "\(text)")
                #expect(again.rules.map { $0.declarations } == sheet.rules.map { $0.declarations }, "\(text)")
                #expect(again.rules.map { $0.keys } == sheet.rules.map { $0.keys }, "\(text)")
            }
        }
    }
#endif
