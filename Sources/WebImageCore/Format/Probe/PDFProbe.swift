// SPDX-License-Identifier: MIT

/// A parser for the size of a PDF page (ISO 32000-1, section 7.7.3.3) at 72 dots per inch.
///
/// Pages may be compressed in object streams, which only a PDF library can read. The parser uses the first
/// uncompressed `/MediaBox` near the beginning of the file or, if there's none, US Letter (612 × 792). It never
/// determines the number of pages.
enum PDFProbe {
    private static let letter = PixelSize(width: 612, height: 792)
    /// The maximum number of characters of a media box to inspect.
    private static let maxBox = 128

    static func read(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageInfo {
        let size = try mediaBox(bytes) ?? letter
        return ImageInfo(format: .pdf, storedSize: size, hasAlpha: true, frameCountIsExact: false)
    }

    private static func mediaBox(_ bytes: HeaderBytes) throws(HeaderParsingError) -> PixelSize? {
        for offset in 0..<HeaderBounds.pdfBytes {
            if offset >= bytes.available {
                // The media box may be anywhere in the window.
                guard !bytes.isComplete else { return nil }
                throw .needsMore(bytes.available + 1)
            }
            guard try bytes.byte(at: offset) == 0x2F, try bytes.has("/MediaBox", at: offset),
                let size = try size(bytes, at: offset + 9)
            else { continue }
            return size
        }
        return nil
    }

    private static func size(_ bytes: HeaderBytes, at start: Int) throws(HeaderParsingError) -> PixelSize? {
        var text = ""
        for offset in start..<start + maxBox {
            if bytes.isComplete, offset >= bytes.available { return nil }
            let character = try bytes.byte(at: offset)
            if character == 0x5D { break }
            // Accept whitespace, brackets, and numbers. Other characters mean a reference to another object.
            guard character <= 0x20 || character == 0x5B || (0x2B...0x39).contains(character) else { return nil }
            text.append(Character(UnicodeScalar(character)))
        }
        guard let bracket = text.firstIndex(of: "[") else { return nil }
        let numbers = SVGLength.numbers(String(text[text.index(after: bracket)...]))
        guard numbers.count == 4 else { return nil }
        let width = abs(numbers[2] - numbers[0])
        let height = abs(numbers[3] - numbers[1])
        guard width >= 1, height >= 1, width <= 1e9, height <= 1e9 else { return nil }
        return PixelSize(width: Int(width.rounded(.up)), height: Int(height.rounded(.up)))
    }
}
