// SPDX-License-Identifier: MIT

/// A parser for the chroma format of the primary item in a HEIF or AVIF file (ISO/IEC 14496-15, section 8.3; AV1-ISOBMFF,
/// section 2.3).
enum HEIFChroma {
    /// Returns the subsampling, or `nil` if the image has no chroma or the file doesn't contain its format. The format of a
    /// grid is that of its first tile.
    static func sampling(_ file: HeaderBytes) throws(HeaderParsingError) -> ChromaSampling? {
        guard let meta = try BoxList.first("meta", in: file), let pitm = try BoxList.first("pitm", in: meta, from: 4)
        else { return nil }
        let primary = try pitm.byte(at: 0) == 0 ? try pitm.big16(at: 4) : try pitm.big32(at: 4)
        if let box = try configuration(of: primary, in: meta) { return try sampling(box) }
        guard let tile = try firstTile(of: primary, in: meta), let box = try configuration(of: tile, in: meta) else {
            return nil
        }
        return try sampling(box)
    }

    private static func sampling(_ box: BoxList.Box) throws(HeaderParsingError) -> ChromaSampling? {
        if box.name == "av1C" {
            let flags = try box.content.byte(at: 2)
            // Bit 4 is set without chroma, and bits 3 and 2 are set if chroma has half the columns or half the rows.
            guard flags & 0x10 == 0 else { return nil }
            return ChromaSampling(columns: flags & 8 == 0 ? 1 : 2, rows: flags & 4 == 0 ? 1 : 2)
        }
        switch try box.content.byte(at: 16) & 3 {
        case 1: return ChromaSampling(columns: 2, rows: 2)
        case 2: return ChromaSampling(columns: 2, rows: 1)
        case 3: return ChromaSampling(columns: 1, rows: 1)
        default: return nil
        }
    }

    /// Returns the decoder configuration of an item.
    private static func configuration(of item: Int, in meta: HeaderBytes) throws(HeaderParsingError) -> BoxList.Box? {
        try HEIFAssociations.properties(of: item, in: meta).first { $0.name == "av1C" || $0.name == "hvcC" }
    }

    /// Returns the first item from which an item is derived.
    private static func firstTile(of item: Int, in meta: HeaderBytes) throws(HeaderParsingError) -> Int? {
        guard let iref = try BoxList.first("iref", in: meta, from: 4) else { return nil }
        let width = try iref.byte(at: 0) == 0 ? 2 : 4
        var list = BoxList(iref, from: 4)
        while let box = try list.next() {
            guard box.name == "dimg", try box.content.number(at: 0, width, .big) == item,
                try box.content.big16(at: width) > 0
            else { continue }
            return try box.content.number(at: width + 2, width, .big)
        }
        return nil
    }
}
