// SPDX-License-Identifier: MIT

/// A strict format detector. A signature alone isn't sufficient for formats with short signatures.
enum FormatSniffer {
    /// The number of bytes in which `%PDF-` may begin (implementation note 13 of the PDF Reference, the predecessor of
    /// ISO 32000-1).
    private static let pdfWindow = 1_024
    private static let pdfMark: StaticString = "%PDF-"

    /// Returns the format, or `nil` if the data matches none. ``PNGProbe`` distinguishes APNG from PNG.
    ///
    /// - Throws: ``HeaderParsingError/needsMore(_:)`` if the beginning of the file still matches several formats.
    static func format(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageFormat? {
        if let format = try settled(bytes, binary) { return format }
        if let format = try settled(bytes, TextSniffer.format) {
            guard format == .text, try hasPDFMark(bytes) else { return format }
            return .pdf
        }
        return try hasPDFMark(bytes) ? .pdf : nil
    }

    /// Runs a test. For complete data, a test that requires more data means that the format doesn't match.
    private static func settled(
        _ bytes: HeaderBytes, _ test: (HeaderBytes) throws(HeaderParsingError) -> ImageFormat?
    ) throws(HeaderParsingError) -> ImageFormat? {
        do throws(HeaderParsingError) {
            return try test(bytes)
        } catch {
            if case .needsMore = error, !bytes.isComplete { throw error }
            return nil
        }
    }

    private static func binary(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageFormat? {
        switch try bytes.byte(at: 0) {
        case 0xFF: return try markers(bytes)
        case 0x89: return try bytes.has(PNGProbe.signature) ? .png : nil
        case 0x47: return try bytes.has(anyOf: ["GIF87a", "GIF89a"]) ? .gif : nil
        case 0x52: return try webp(bytes)
        case 0x42:
            guard try bytes.has("BM"), BMPProbe.isHeaderLength(try bytes.little32(at: 14)) else { return nil }
            return .bmp
        case 0x46: return try RAFPreviews.isPlausible(bytes) ? .raf : nil
        case 0x49, 0x4D: return try tiff(bytes)
        case 0x50: return try PNMHeader.isPlausible(bytes) ? PNMHeader.format(of: try bytes.byte(at: 1)) : nil
        case 0x25: return try bytes.has(pdfMark) ? .pdf : nil
        case 0x1A: return try bytes.has([0x1A, 0x45, 0xDF, 0xA3]) ? .webm : nil
        case 0x1F: return try bytes.has([0x1F, 0x8B]) ? try gzip(bytes) : nil
        case 0x69: return try ICNSDirectory.isPlausible(bytes) ? .icns : nil
        case 0x71:
            guard try bytes.has("qoif"), try QOIProbe.isPlausible(bytes) else { return nil }
            return .qoi
        case 0x00:
            if let format = try boxes(bytes) { return format }
            return try icon(bytes)
        default: return nil
        }
    }

    /// Returns the format of data that begins with a marker FF xx.
    private static func markers(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageFormat? {
        if try bytes.has([0xFF, 0x0A]) { return .jxl }
        if try bytes.has([0xFF, 0x4F, 0xFF, 0x51]) { return .jpeg2000 }
        guard try bytes.has([0xFF, 0xD8, 0xFF]) else { return nil }
        if bytes.isComplete, bytes.available == 3 { return .jpeg }
        switch try bytes.byte(at: 3) {
        // Frame headers, tables, application data, comments, and fill bytes (T.81, table B.1).
        case 0xC0...0xCF, 0xDB, 0xDD, 0xDE, 0xE0...0xEF, 0xFE, 0xFF: return .jpeg
        default: return nil
        }
    }

    private static func webp(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageFormat? {
        guard try bytes.has("RIFF"), try bytes.has("WEBP", at: 8) else { return nil }
        let chunk = try FourCC(bytes, at: 12)
        return chunk == "VP8 " || chunk == "VP8L" || chunk == "VP8X" ? .webp : nil
    }

    private static func tiff(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageFormat? {
        let marks: [[UInt8]] = [
            [0x49, 0x49, 0x2A, 0x00], [0x4D, 0x4D, 0x00, 0x2A], [0x49, 0x49, 0x2B, 0x00], [0x4D, 0x4D, 0x00, 0x2B],
        ]
        for mark in marks {
            if try bytes.has(mark) { return try RAWSniffer.format(bytes) ?? .tiff }
        }
        return try RAWSniffer.signature(bytes)
    }

    private static func icon(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageFormat? {
        let isIcon = try bytes.has([0, 0, 1, 0])
        let isCursor = try bytes.has([0, 0, 2, 0])
        guard isIcon || isCursor, try ICOProbe.isPlausible(bytes) else { return nil }
        return isIcon ? .ico : .cur
    }

    private static func gzip(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageFormat {
        guard let (text, isShort) = try Gzip.unpack(bytes) else { return .gzip }
        do throws(HeaderParsingError) {
            let kind = try text.withView(isComplete: !isShort) { (view) throws(HeaderParsingError) in
                try MarkupProlog.read(try MarkupReader(view))
            }
            if case .svg = kind { return .svg }
            return .gzip
        } catch {
            if case .needsMore = error { throw .needsMore(bytes.available + 1) }
            throw error
        }
    }

    private static func boxes(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageFormat? {
        if try bytes.has([0x00, 0x00, 0x00, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]) { return .jxl }
        if try bytes.has([0x00, 0x00, 0x00, 0x0C, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A]) { return .jpeg2000 }
        return try BrandSniffer.format(bytes)
    }

    private static func hasPDFMark(_ bytes: HeaderBytes) throws(HeaderParsingError) -> Bool {
        for offset in 0..<pdfWindow {
            if try bytes.has(pdfMark, at: offset) { return true }
            if bytes.isComplete, offset >= bytes.available { return false }
        }
        return false
    }
}

extension [UInt8] {
    func withView<Value>(
        isComplete: Bool, _ body: (HeaderBytes) throws(HeaderParsingError) -> Value
    ) throws(HeaderParsingError) -> Value {
        let result: Result<Value, HeaderParsingError> = withUnsafeBytes { buffer in
            do throws(HeaderParsingError) {
                return .success(try body(HeaderBytes(buffer, isComplete: isComplete)))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
