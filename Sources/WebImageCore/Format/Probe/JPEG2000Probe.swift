// SPDX-License-Identifier: MIT

/// A parser for the headers of JPEG 2000 images: the boxes of JP2 files (ISO/IEC 15444-1, annex I) and the SIZ segment
/// of codestreams (annex A.5.1).
struct JPEG2000Probe {
    static let signature: [UInt8] = [0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A]
    /// The SOC marker and the SIZ marker, with which a codestream begins.
    static let codestreamMark: [UInt8] = [0xFF, 0x4F, 0xFF, 0x51]

    private var hasAlpha = false
    private var hasICCProfile = false
    /// The number of columns of the palette, or `nil` if there's none.
    private var paletteColumns: Int?
    /// The number of colors that the color space has, or `nil` if it's unknown.
    private var colorCount: Int?

    static func read(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageInfo {
        if try bytes.has(codestreamMark) { return try codestream(bytes).info }
        var reader = JPEG2000Probe()
        var list = BoxList(bytes)
        while let box = try list.next() {
            switch box.name {
            case "jp2h": try reader.read(header: box.content)
            // OpenJPEG also reads these boxes outside the header.
            case "pclr", "cdef", "colr": try reader.read(box)
            case "jp2c":
                var (probe, channels) = try codestream(box.content)
                if let columns = reader.paletteColumns {
                    channels = columns
                    probe.bitDepth = 8
                }
                // Without a channel definition, one channel in addition to the colors is alpha.
                probe.hasAlpha = reader.hasAlpha || reader.colorCount.map { channels == $0 + 1 } ?? false
                probe.hasICCProfile = reader.hasICCProfile
                return probe
            default: continue
            }
        }
        throw .corrupt(.jpeg2000, "the codestream is missing")
    }

    private mutating func read(header: HeaderBytes) throws(HeaderParsingError) {
        var list = BoxList(header)
        while let box = try list.next() { try read(box) }
    }

    private mutating func read(_ box: BoxList.Box) throws(HeaderParsingError) {
        switch box.name {
        case "pclr":
            // OpenJPEG allocates an image for each column.
            let columns = Int(try box.content.byte(at: 2))
            try HeaderParsingError.check(columns, limit: HeaderBounds.jpeg2000Components, "palette columns")
            paletteColumns = columns
        case "cdef":
            let count = try box.content.big16(at: 0)
            for index in 0..<min(count, HeaderBounds.jpeg2000Components) {
                // Type 1 is opacity, and type 2 is opacity by which the colors are multiplied.
                let kind = try box.content.big16(at: 2 + index * 6 + 2)
                if kind == 1 || kind == 2 { hasAlpha = true }
            }
        case "colr": try readColors(box.content)
        default: break
        }
    }

    /// Reads a color specification. Decoders use the first one.
    private mutating func readColors(_ content: HeaderBytes) throws(HeaderParsingError) {
        switch try content.byte(at: 0) {
        case 1:
            // The enumerated color spaces are CMYK, sRGB, gray, sYCC, and e-sYCC (ISO/IEC 15444-2, table M.25).
            let counts = [12: 4, 16: 3, 17: 1, 18: 3, 24: 3]
            if colorCount == nil { colorCount = counts[try content.big32(at: 3)] }
        case 2:
            let length = content.declaredLength ?? 0
            try HeaderParsingError.check(length, limit: HeaderBounds.iccBytes, "bytes of ICC profile data")
            hasICCProfile = true
            // The header of a profile contains the color space (ICC.1:2010, section 7.2.6).
            guard colorCount == nil, length >= 3 + 20 else { return }
            if try content.has("GRAY", at: 3 + 16) { colorCount = 1 }
            if try content.has("RGB ", at: 3 + 16) { colorCount = 3 }
        default: break
        }
    }

    /// Reads the SIZ segment, and checks the numbers for which OpenJPEG allocates memory.
    private static func codestream(
        _ bytes: HeaderBytes
    ) throws(HeaderParsingError) -> (info: ImageInfo, components: Int) {
        guard try bytes.has(codestreamMark) else { throw .corrupt(.jpeg2000, "the SIZ segment is missing") }
        let right = try bytes.big32(at: 8)
        let bottom = try bytes.big32(at: 12)
        let left = try bytes.big32(at: 16)
        let top = try bytes.big32(at: 20)
        let tile = (width: try bytes.big32(at: 24), height: try bytes.big32(at: 28))
        let origin = (x: try bytes.big32(at: 32), y: try bytes.big32(at: 36))
        guard right > left, bottom > top else {
            throw .corrupt(.jpeg2000, "invalid size \(right - left) × \(bottom - top)")
        }
        guard tile.width > 0, tile.height > 0, origin.x <= left, origin.y <= top, origin.x + tile.width > left,
            origin.y + tile.height > top
        else { throw .corrupt(.jpeg2000, "invalid tiles") }
        let columns = (right - origin.x + tile.width - 1) / tile.width
        let rows = (bottom - origin.y + tile.height - 1) / tile.height
        let limit = HeaderBounds.jpeg2000Tiles
        let (tiles, overflow) = columns.multipliedReportingOverflow(by: rows)
        try HeaderParsingError.check(overflow ? .max : tiles, limit: limit, "tiles")
        let components = try bytes.big16(at: 40)
        guard components > 0 else { throw .corrupt(.jpeg2000, "it has no components") }
        try HeaderParsingError.check(components, limit: HeaderBounds.jpeg2000Components, "components")
        var depth = 1
        var smallest = (x: 255, y: 255)
        for index in 0..<components {
            let bits = Int(try bytes.byte(at: 42 + index * 3) & 0x7F) + 1
            let step = (x: Int(try bytes.byte(at: 43 + index * 3)), y: Int(try bytes.byte(at: 44 + index * 3)))
            guard bits <= 38, step.x > 0, step.y > 0 else { throw .corrupt(.jpeg2000, "invalid component \(index)") }
            depth = max(depth, bits)
            smallest = (min(smallest.x, step.x), min(smallest.y, step.y))
        }
        guard depth <= 16 else {
            throw .unsupported(.jpeg2000, "\(depth) bits per sample (the decoder supports 16)")
        }
        // The component with the most samples determines the size.
        func samples(_ start: Int, _ end: Int, _ step: Int) -> Int {
            (end + step - 1) / step - (start + step - 1) / step
        }
        let size = PixelSize(width: samples(left, right, smallest.x), height: samples(top, bottom, smallest.y))
        guard !size.isEmpty else { throw .corrupt(.jpeg2000, "invalid size \(size)") }
        // Two and four components of a codestream are colors with alpha.
        let info = ImageInfo(
            format: .jpeg2000, storedSize: size, bitDepth: depth, hasAlpha: components == 2 || components == 4)
        return (info, components)
    }
}
