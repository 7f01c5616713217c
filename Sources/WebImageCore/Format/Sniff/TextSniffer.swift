// SPDX-License-Identifier: MIT

/// A detector for text formats.
enum TextSniffer {
    /// The number of bytes to inspect to distinguish text from other data.
    private static let window = 1_024

    /// Returns HTML, XML, SVG, JSON, or text, or `nil` if the data isn't text.
    static func format(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageFormat? {
        let text = try MarkupReader(bytes)
        switch try MarkupProlog.read(text) {
        case .svg: return .svg
        case .html: return .html
        case .xml: return .xml
        case .other: break
        }
        guard try isText(text) else { return nil }
        return try isJSON(text) ? .json : .text
    }

    /// Returns whether the data is UTF-8 or UTF-16 without control characters other than those for text layout.
    private static func isText(_ text: MarkupReader) throws(HeaderParsingError) -> Bool {
        guard try text.character(at: 0) != nil else { return false }
        var following = 0
        for index in 0..<window {
            guard let character = try text.character(at: index) else { return true }
            if following > 0 {
                guard try text.continues(at: index) else { return false }
                following -= 1
                continue
            }
            switch character {
            case 0x09...0x0D, 0x1B, 0x20...0x7E: continue
            case 0x80:
                guard let length = try text.sequenceLength(at: index) else { return false }
                following = length - 1
            default: return false
            }
        }
        return true
    }

    private static func isJSON(_ text: MarkupReader) throws(HeaderParsingError) -> Bool {
        let start = try text.skipSpace(0)
        guard let bracket = try text.character(at: start),
            let next = try text.character(at: try text.skipSpace(start + 1))
        else { return false }
        switch (bracket, next) {
        case (0x7B, 0x22), (0x7B, 0x7D): return true
        case (0x5B, 0x5D), (0x5B, 0x5B), (0x5B, 0x7B), (0x5B, 0x22), (0x5B, 0x2D), (0x5B, 0x30...0x39): return true
        case (0x5B, 0x74), (0x5B, 0x66), (0x5B, 0x6E): return true
        default: return false
        }
    }
}
