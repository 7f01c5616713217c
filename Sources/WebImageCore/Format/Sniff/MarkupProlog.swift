// SPDX-License-Identifier: MIT

/// A parser for the prolog and the root element of a markup document (XML 1.0, section 2.8).
enum MarkupProlog {
    /// The type of a document.
    enum Kind: Equatable {
        /// SVG, with the index at which the attributes of the root element begin.
        case svg(attributes: Int)
        case html
        case xml
        case other
    }

    /// The elements with which HTML documents without a doctype begin (WHATWG MIME Sniffing, section 7.1).
    private static let htmlNames: Set<String> = [
        "html", "head", "script", "iframe", "h1", "div", "font", "table", "a", "style", "title", "b", "body", "br", "p",
        "meta", "link", "center",
    ]

    /// Parses the document up to the name of the root element.
    static func read(_ text: MarkupReader) throws(HeaderParsingError) -> Kind {
        var index = try text.skipSpace(0)
        var seenProlog = false
        while try text.character(at: index) == 0x3C {
            let end: Int?
            if try text.has(seenProlog ? "<?" : "<?xml", at: index) {
                end = try text.end(of: "?>", from: index)
            } else if try text.has("<!--", at: index) {
                end = try text.end(of: "-->", from: index + 4)
            } else if try text.has("<!doctype", at: index) {
                if try text.has("html", at: try text.skipSpace(index + 9)) { return .html }
                end = try endOfDoctype(text, from: index + 9)
            } else {
                return try root(text, at: index + 1, seenProlog)
            }
            seenProlog = true
            guard let end else { return .xml }
            index = try text.skipSpace(end)
        }
        return seenProlog ? .xml : .other
    }

    private static func root(_ text: MarkupReader, at start: Int, _ seenProlog: Bool) throws(HeaderParsingError) -> Kind
    {
        var name = ""
        var index = start
        while let character = try text.character(at: index), isName(character), name.utf8.count < 256 {
            name.append(Character(UnicodeScalar(character)))
            index += 1
        }
        guard let first = name.unicodeScalars.first, first.properties.isAlphabetic || first == "_",
            let end = try text.character(at: index), MarkupReader.isSpace(end) || end == 0x2F || end == 0x3E
        else { return seenProlog ? .xml : .other }
        let local = name.split(separator: ":", omittingEmptySubsequences: false).last.map(String.init) ?? name
        if local == "svg" { return .svg(attributes: index) }
        return htmlNames.contains(local.lowercased()) ? .html : .xml
    }

    /// Returns whether a character is a letter, a digit, `-`, `.`, `:`, or `_`. Non-ASCII characters appear as 0x80
    /// and can't be part of the relevant names.
    static func isName(_ character: UInt8) -> Bool {
        switch character {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }

    /// Returns the index after the `>` of a document type. The internal subset may contain other `>` characters in
    /// quotes, comments, and declarations.
    private static func endOfDoctype(_ text: MarkupReader, from start: Int) throws(HeaderParsingError) -> Int? {
        var index = start
        var depth = 0
        while let character = try text.character(at: index) {
            switch character {
            case 0x22, 0x27:
                guard let end = try endOfQuote(text, from: index + 1, character) else { return nil }
                index = end
                continue
            case 0x5B: depth += 1
            case 0x5D: depth -= 1
            case 0x3C where try text.has("<!--", at: index):
                guard let end = try text.end(of: "-->", from: index + 4) else { return nil }
                index = end
                continue
            case 0x3E where depth <= 0: return index + 1
            default: break
            }
            index += 1
        }
        return nil
    }

    static func endOfQuote(_ text: MarkupReader, from start: Int, _ quote: UInt8) throws(HeaderParsingError) -> Int? {
        var index = start
        while let character = try text.character(at: index) {
            index += 1
            if character == quote { return index }
        }
        return nil
    }
}
