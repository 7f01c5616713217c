// SPDX-License-Identifier: MIT

/// A parser for the size of an SVG image, based on the attributes of its root element (SVG 2, sections 8.2 and 8.3).
struct SVGProbe {
    /// The size that browsers use for a replaced element without a size (CSS 2.2, section 10.3.2).
    private static let fallback = PixelSize(width: 300, height: 150)
    /// The maximum number of characters of an attribute value to inspect.
    private static let maxValue = 128
    /// The maximum number of characters of the `style` attribute to inspect.
    private static let maxStyle = 4_096

    private let text: MarkupReader
    private var width: String?
    private var height: String?
    private var fontSize: String?
    private var style: String?
    private var viewBox: (width: Double, height: Double)?

    /// Reads the properties of an SVG, which may be compressed with gzip.
    static func read(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageInfo {
        guard let (unpacked, isShort) = try Gzip.unpack(bytes) else { return try plain(bytes) }
        do throws(HeaderParsingError) {
            return try unpacked.withView(isComplete: !isShort, plain)
        } catch {
            // The required number of compressed bytes can't be determined.
            if case .needsMore = error { throw .needsMore(bytes.available + 1) }
            throw error
        }
    }

    private static func plain(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageInfo {
        let text = try MarkupReader(bytes)
        guard case .svg(let attributes) = try MarkupProlog.read(text) else {
            throw .corrupt(.svg, "the root element isn't svg")
        }
        var reader = SVGProbe(text: text)
        try reader.readAttributes(from: attributes)
        return ImageInfo(format: .svg, storedSize: try reader.size(), hasAlpha: true)
    }

    private init(text: MarkupReader) { self.text = text }

    private mutating func readAttributes(from start: Int) throws(HeaderParsingError) {
        var index = try text.skipSpace(start)
        while let first = try text.character(at: index), first != 0x3E, first != 0x2F {
            let nameStart = index
            while let next = try text.character(at: index), MarkupProlog.isName(next) || next == 0x80 { index += 1 }
            let nameEnd = index
            index = try text.skipSpace(index)
            guard nameEnd > nameStart, try text.character(at: index) == 0x3D else { throw corrupt }
            index = try text.skipSpace(index + 1)
            guard let quote = try text.character(at: index), quote == 0x22 || quote == 0x27,
                let end = try MarkupProlog.endOfQuote(text, from: index + 1, quote)
            else { throw corrupt }
            try read(name: nameStart..<nameEnd, value: index + 1..<end - 1)
            index = try text.skipSpace(end)
        }
        guard try text.character(at: index) != nil else { throw corrupt }
    }

    private var corrupt: HeaderParsingError { .corrupt(.svg, "the attributes of the root element are invalid") }

    private mutating func read(name: Range<Int>, value: Range<Int>) throws(HeaderParsingError) {
        guard name.count <= "font-size".count else { return }
        switch try string(name) {
        case "width": width = try string(value)
        case "height": height = try string(value)
        case "font-size": fontSize = try string(value)
        case "style": style = try string(value, limit: Self.maxStyle)
        case "viewBox":
            let numbers = SVGLength.numbers(try string(value))
            if numbers.count == 4, numbers[2] > 0, numbers[3] > 0 { viewBox = (numbers[2], numbers[3]) }
        default: return
        }
    }

    private func string(_ range: Range<Int>, limit: Int = Self.maxValue) throws(HeaderParsingError) -> String {
        var result = ""
        for index in range.prefix(limit) {
            guard let character = try text.character(at: index) else { break }
            result.append(Character(UnicodeScalar(character)))
        }
        return result
    }

    /// Returns the size. The other side and the aspect ratio of the view box determine a side that's missing or
    /// relative.
    private func size() throws(HeaderParsingError) -> PixelSize {
        let font = SVGFontSize(attribute: fontSize, style: style)
        let (width, height) = (width.flatMap(font.length), height.flatMap(font.length))
        guard width ?? 1 > 0, height ?? 1 > 0 else { throw .corrupt(.svg, "a side has zero pixels") }
        let ratio = viewBox.map { $0.width / $0.height }
        switch (width, height, viewBox) {
        case (let width?, let height?, _): return Self.rounded(width, height)
        case (let width?, nil, _): return Self.rounded(width, ratio.map { width / $0 } ?? Double(Self.fallback.height))
        case (nil, let height?, _):
            return Self.rounded(ratio.map { height * $0 } ?? Double(Self.fallback.width), height)
        case (nil, nil, let box?): return Self.rounded(box.width, box.height)
        case (nil, nil, nil): return Self.fallback
        }
    }

    private static func rounded(_ width: Double, _ height: Double) -> PixelSize {
        // Values that exceed every limit don't need to be distinguished.
        func pixels(_ length: Double) -> Int { Int(min(max(length.rounded(), 1), 1e9)) }
        return PixelSize(width: pixels(width), height: pixels(height))
    }
}
