// SPDX-License-Identifier: MIT

/// A search for JPEG previews in the boxes of a Canon CR3 file, as documented by the project canon_cr3 of Laurent
/// Clévy: the first sample of each track, and the boxes `PRVW` and `THMB`.
enum CR3Previews {
    /// The UUIDs of the box with the metadata in `moov` and of the box with the preview.
    private static let metadata: [UInt8] = [
        0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
    ]
    private static let preview: [UInt8] = [
        0xEA, 0xF4, 0x2B, 0x5E, 0x1C, 0x98, 0x4B, 0x88, 0xB9, 0xFB, 0xB7, 0xDC, 0x40, 0x6E, 0x4D, 0x16,
    ]

    static func read(_ bytes: HeaderBytes) throws(HeaderParsingError) -> RAWPreviewList {
        var found = RAWPreviewList()
        var list = BoxList(bytes)
        var seenMovie = false
        do throws(HeaderParsingError) {
            while let box = try list.next() {
                if box.name == "moov" {
                    try read(movie: box.content, &found)
                    seenMovie = true
                } else if box.name == "uuid", try box.content.has(preview) {
                    try read(images: box.content, from: 24, &found)
                } else if box.name == "mdat", seenMovie {
                    // The media data is the last box, and the tracks contain the positions in it.
                    break
                }
            }
        } catch {
            if case .needsMore = error, !bytes.isComplete { throw error }
            if case .failed(.limitExceeded) = error { throw error }
        }
        return found
    }

    private static func read(movie: HeaderBytes, _ found: inout RAWPreviewList) throws(HeaderParsingError) {
        var list = BoxList(movie)
        while let box = try list.next() {
            if box.name == "uuid", try box.content.has(metadata) {
                if let exif = try BoxList.first("CMT1", in: box.content, from: 16) {
                    try exif.require(exif.declaredLength ?? 0, at: 0)
                    found.orientation = ImageOrientation(exif: exif)
                }
                try read(images: box.content, from: 16, &found)
            } else if box.name == "trak" {
                try read(track: box.content, &found)
            }
        }
    }

    /// Adds the images of `PRVW` and `THMB` boxes.
    ///
    /// The size of the JPEG file is at offset 12 in `PRVW` and at offset 8 in `THMB`. The file follows the 16 bytes of
    /// the header, or 12 bytes in version 1 of `THMB`. Padding follows the file.
    private static func read(
        images: HeaderBytes, from start: Int, _ found: inout RAWPreviewList
    ) throws(HeaderParsingError) {
        var list = BoxList(images, from: start)
        while let box = try list.next() {
            let isThumbnail = box.name == "THMB"
            guard isThumbnail || box.name == "PRVW", let length = box.content.declaredLength, length > 16 else {
                continue
            }
            let version = try box.content.byte(at: 0)
            let header = isThumbnail && version == 1 ? 12 : 16
            let count = try box.content.big32(at: isThumbnail ? 8 : 12)
            try found.add(offset: box.content.position + header, count: min(count, length - header))
        }
    }

    private static func read(track: HeaderBytes, _ found: inout RAWPreviewList) throws(HeaderParsingError) {
        guard let mdia = try BoxList.first("mdia", in: track), let minf = try BoxList.first("minf", in: mdia),
            let stbl = try BoxList.first("stbl", in: minf), let sizes = try BoxList.first("stsz", in: stbl),
            let offsets = try BoxList.first("co64", in: stbl)
        else { return }
        guard try offsets.big32(at: 4) > 0, try sizes.big32(at: 8) > 0 else { return }
        let common = try sizes.big32(at: 4)
        try found.add(
            offset: try offsets.number(at: 8, 8, .big), count: common > 0 ? common : try sizes.big32(at: 12))
    }
}
