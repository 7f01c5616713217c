// SPDX-License-Identifier: MIT

/// A reader that finds EXIF and XMP in a file.
///
/// Every read uses ``HeaderBytes``. An invalid structure ends the search, but the blocks that were found before remain
/// available.
struct MetadataReader {
    let bytes: HeaderBytes
    /// The EXIF block, starting with its byte order mark.
    private(set) var exif: [UInt8]?
    private(set) var xmp: [UInt8]?

    init(_ bytes: HeaderBytes) { self.bytes = bytes }

    mutating func read(_ format: ImageFormat?) {
        do throws(HeaderParsingError) {
            switch format {
            case .jpeg: try readJPEG()
            case .png, .apng: try readPNG()
            case .webp: try readWebP()
            case .avif, .heif: try readItems()
            case .jxl: try readJXL()
            case .tiff: try readTIFF()
            default: break
            }
        } catch {
            return
        }
    }

    /// Stores `count` bytes as EXIF without the optional `Exif\0\0` prefix. Only the first block is used.
    mutating func storeEXIF(_ part: HeaderBytes, from start: Int = 0, count: Int) throws(HeaderParsingError) {
        guard exif == nil, count <= ExifBlock.maxBytes, count > 8 else { return }
        let prefix = try part.has("Exif\0", at: start) ? 6 : 0
        exif = try part.withBytes(count - prefix, at: start + prefix) { [UInt8]($0) }
    }

    mutating func storeXMP(_ part: HeaderBytes, from start: Int = 0, count: Int) throws(HeaderParsingError) {
        guard xmp == nil, count <= XMPPacket.maxBytes, count > 0 else { return }
        xmp = try part.withBytes(count, at: start) { [UInt8]($0) }
    }

    /// Stores an XMP packet that was compressed.
    mutating func store(xmp packet: [UInt8]) { if xmp == nil { xmp = packet } }

    /// Reads the APP1 segments before the first scan (Exif 2.32, section 4.7.2; XMP part 3, section 1.1.3).
    private mutating func readJPEG() throws(HeaderParsingError) {
        var segments = JPEGSegments(bytes)
        while let segment = try segments.next() {
            guard segment.marker == 0xE1 else { continue }
            let name: StaticString = "http://ns.adobe.com/xap/1.0/\0"
            if try segment.content.has("Exif\0") {
                try storeEXIF(segment.content, count: segment.count)
            } else if try segment.content.has(name) {
                let start = name.utf8CodeUnitCount
                try storeXMP(segment.content, from: start, count: segment.count - start)
            }
        }
    }

    /// Reads the RIFF chunks (RFC 9649, section 2.7).
    private mutating func readWebP() throws(HeaderParsingError) {
        var offset = 12
        for _ in 0..<HeaderBounds.boxes where offset + 8 <= bytes.available {
            let name = try FourCC(bytes, at: offset)
            let count = try bytes.little32(at: offset + 4)
            if name == "EXIF" { try storeEXIF(bytes, from: offset + 8, count: count) }
            if name == "XMP " { try storeXMP(bytes, from: offset + 8, count: count) }
            offset += 8 + count + count & 1
        }
    }

    /// Reads the boxes of the container (ISO/IEC 18181-2, section 9) except those that are compressed with Brotli.
    private mutating func readJXL() throws(HeaderParsingError) {
        guard try bytes.byte(at: 0) == 0 else { return }
        var list = BoxList(bytes)
        while let box = try list.next() {
            let count = box.content.available
            if box.name == "Exif", count > 4 {
                let offset = try box.content.big32(at: 0)
                guard offset <= count - 4 else { continue }
                try storeEXIF(box.content, from: 4 + offset, count: count - 4 - offset)
            } else if box.name == "xml " {
                try storeXMP(box.content, count: count)
            }
        }
    }

    /// Reads the first directory, which corresponds to the EXIF block of other formats.
    private mutating func readTIFF() throws(HeaderParsingError) {
        guard let block = ExifBlock(reading: bytes) else { return }
        if !block.isEmpty { exif = block.serialized() }
        let order: HeaderBytes.Order = block.isBigEndian ? .big : .little
        let directory = try bytes.number(at: 4, 4, order)
        for index in 0..<min(try bytes.number(at: directory, 2, order), ExifBlock.maxEntries) {
            let entry = directory + 2 + index * 12
            guard try bytes.number(at: entry, 2, order) == ExifBlock.Tag.xmp else { continue }
            let count = try bytes.number(at: entry + 4, 4, order)
            guard count > 4, [1, 7].contains(try bytes.number(at: entry + 2, 2, order)) else { return }
            return try storeXMP(bytes, from: try bytes.number(at: entry + 8, 4, order), count: count)
        }
    }
}
