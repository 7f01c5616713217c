// SPDX-License-Identifier: MIT

extension MetadataReader {
    /// Reads `eXIf` and the `iTXt` chunk with XMP (PNG, third edition, sections 11.3.3.4 and 11.3.4.5; XMP part 3,
    /// section 1.1.5).
    mutating func readPNG() throws(HeaderParsingError) {
        var offset = 8
        for _ in 0..<HeaderBounds.pngChunks where offset + 12 <= bytes.available {
            let count = try bytes.big32(at: offset)
            let name = try FourCC(bytes, at: offset + 4)
            if name == "eXIf" { try storeEXIF(bytes, from: offset + 8, count: count) }
            if name == "iTXt" { try readText(try bytes.part(at: offset + 8, length: count), count: count) }
            if name == "IEND" { return }
            offset += 12 + count
        }
    }

    private mutating func readText(_ text: HeaderBytes, count: Int) throws(HeaderParsingError) {
        let keyword: StaticString = "XML:com.adobe.xmp\0"
        guard try text.has(keyword) else { return }
        var place = keyword.utf8CodeUnitCount
        let isPacked = try text.byte(at: place) == 1
        let method = try text.byte(at: place + 1)
        place += 2
        // Skip the language and the translated keyword, which end with a zero byte.
        for _ in 0..<2 {
            while try text.byte(at: place) != 0 { place += 1 }
            place += 1
        }
        guard isPacked else { return try storeXMP(text, from: place, count: count - place) }
        // The zlib header has two bytes (RFC 1950).
        guard method == 0, count - place > 2, count - place <= XMPPacket.maxBytes else { return }
        let packed = try text.withBytes(count - place - 2, at: place + 2) { [UInt8]($0) }
        let (packet, end) = Inflate.unpack(packed, limit: XMPPacket.maxBytes)
        if case .finished = end { store(xmp: packet) }
    }

    /// Reads the items of AVIF and HEIF files (ISO/IEC 14496-12, sections 8.11.3 and 8.11.6; ISO/IEC 23008-12, annex
    /// A.2).
    mutating func readItems() throws(HeaderParsingError) {
        guard let meta = try BoxList.first("meta", in: bytes), let iinf = try BoxList.first("iinf", in: meta, from: 4),
            let iloc = try BoxList.first("iloc", in: meta, from: 4)
        else { return }
        var list = BoxList(iinf, from: try iinf.byte(at: 0) == 0 ? 6 : 8)
        var items: (exif: Int?, xmp: Int?)
        while let box = try list.next() {
            guard box.name == "infe" else { continue }
            let version = try box.content.byte(at: 0)
            guard version >= 2 else { continue }
            let width = version == 2 ? 2 : 4
            let item = try box.content.number(at: 4, width, .big)
            let kind = try FourCC(box.content, at: 6 + width)
            if kind == "Exif", items.exif == nil { items.exif = item }
            if kind == "mime", items.xmp == nil, try isXMP(box.content, from: 10 + width) { items.xmp = item }
        }
        let locations = ItemLocations(iloc)
        if let item = items.exif, let place = try locations.location(of: item), place.count > 4 {
            // This number is the offset of the TIFF header, counted from the end of the number.
            let offset = try bytes.big32(at: place.offset)
            guard offset <= place.count - 4 else { return }
            try storeEXIF(bytes, from: place.offset + 4 + offset, count: place.count - 4 - offset)
        }
        if let item = items.xmp, let place = try locations.location(of: item) {
            try storeXMP(bytes, from: place.offset, count: place.count)
        }
    }

    /// Returns whether an item entry has the content type of RDF. The position `start` is that of its name.
    private func isXMP(_ entry: HeaderBytes, from start: Int) throws(HeaderParsingError) -> Bool {
        var place = start
        while try entry.byte(at: place) != 0 { place += 1 }
        return try entry.has("application/rdf+xml", at: place + 1)
    }
}

/// The locations of items in the file (ISO/IEC 14496-12, section 8.11.3).
struct ItemLocations {
    private let iloc: HeaderBytes

    init(_ iloc: HeaderBytes) { self.iloc = iloc }

    /// Returns the location of `item`, or `nil` if the item consists of several parts or isn't stored in the file
    /// itself.
    func location(of item: Int) throws(HeaderParsingError) -> (offset: Int, count: Int)? {
        let version = try iloc.byte(at: 0)
        guard version <= 2 else { return nil }
        let sizes = try iloc.big16(at: 4)
        let (offsetWidth, lengthWidth, baseWidth) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        let indexWidth = version == 0 ? 0 : sizes & 15
        let idWidth = version == 2 ? 4 : 2
        guard max(offsetWidth, lengthWidth, baseWidth, indexWidth) <= 8 else { return nil }
        let count = try iloc.number(at: 6, idWidth, .big)
        try HeaderParsingError.check(count, limit: HeaderBounds.boxes, "item locations")
        var place = 6 + idWidth
        for _ in 0..<count {
            let found = try iloc.number(at: place, idWidth, .big)
            place += idWidth
            var method = 0
            if version > 0 {
                method = try iloc.big16(at: place) & 15
                place += 2
            }
            let base = try iloc.number(at: place + 2, baseWidth, .big)
            place += 2 + baseWidth
            let parts = try iloc.big16(at: place)
            place += 2
            let width = indexWidth + offsetWidth + lengthWidth
            guard found == item else {
                place += parts * width
                continue
            }
            guard parts == 1, method == 0 else { return nil }
            let offset = try iloc.number(at: place + indexWidth, offsetWidth, .big)
            let length = try iloc.number(at: place + indexWidth + offsetWidth, lengthWidth, .big)
            let (sum, overflow) = base.addingReportingOverflow(offset)
            return overflow ? nil : (sum, length)
        }
        return nil
    }
}
