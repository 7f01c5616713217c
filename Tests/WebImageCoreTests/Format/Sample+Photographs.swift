// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// Apple icons, JPEG 2000 images, and camera RAW files.
extension Sample {
    /// Returns an Apple icon with entries.
    static func appleIcon(_ entries: [(name: String, data: ByteBuilder)]) -> ByteBuilder {
        let content = entries.reduce(ByteBuilder()) { $0.entry($1.name, $1.data) }
        return ByteBuilder().text("icns").big(content.bytes.count + 8, 4).joined(content)
    }

    static let appleIcons = [
        Sample(
            "Apple icon of three",
            appleIcon([
                ("TOC ", ByteBuilder().zeros(24)), ("is32", ByteBuilder().zeros(30)),
                ("s8mk", ByteBuilder().zeros(256)),
                ("ic08", png(256, 255)), ("ic05", ByteBuilder().text("ARGB").zeros(20)),
            ]),
            ImageInfo(format: .icns, storedSize: size(256, 255), frameCount: 3)),
        Sample(
            "Apple icon with a mask",
            appleIcon([("il32", ByteBuilder().zeros(8)), ("l8mk", ByteBuilder().zeros(1_024))]),
            ImageInfo(format: .icns, storedSize: size(32, 32), hasAlpha: true)),
        Sample(
            "Apple icon with JPEG 2000", appleIcon([("ic09", jp2(512, 512)), ("ic04", ByteBuilder().zeros(9))]),
            ImageInfo(format: .icns, storedSize: size(512, 512))),
    ]

    static func codestream(
        _ width: Int, _ height: Int, tile: (Int, Int)? = nil, bits: [Int] = [8, 8, 8], steps: Int = 1
    ) -> ByteBuilder {
        var siz = ByteBuilder().zeros(2).big(width, 4).big(height, 4).zeros(8).big(tile?.0 ?? width, 4)
            .big(tile?.1 ?? height, 4).zeros(8).big(bits.count, 2)
        for bit in bits { siz = siz.big(bit - 1, 1).big(steps, 1).big(steps, 1) }
        return ByteBuilder().raw(0xFF, 0x4F).segment(0x51, siz).zeros(8)
    }

    static func jp2(_ width: Int, _ height: Int, header: ByteBuilder = ByteBuilder()) -> ByteBuilder {
        ByteBuilder().raw(0, 0, 0, 12).text("jP  ").raw(0x0D, 0x0A, 0x87, 0x0A)
            .box("ftyp", ByteBuilder().text("jp2 ").zeros(4).text("jp2 ")).box("jp2h", header)
            .box("jp2c", codestream(width, height))
    }

    static let wavelets = [
        Sample(
            "JPEG 2000 codestream", codestream(300, 200, tile: (64, 64), bits: [12, 12]),
            ImageInfo(format: .jpeg2000, storedSize: size(300, 200), bitDepth: 12, hasAlpha: true)),
        Sample(
            "JPEG 2000 with alpha and a profile",
            jp2(
                31, 17,
                header: ByteBuilder().box("colr", ByteBuilder().raw(2, 0, 0).zeros(40))
                    .box("cdef", ByteBuilder().big(2, 2).big(0, 2).big(0, 2).big(1, 2).big(1, 2).big(1, 2).big(0, 2))),
            ImageInfo(format: .jpeg2000, storedSize: size(31, 17), hasAlpha: true, hasICCProfile: true)),
        Sample(
            "JPEG 2000 whose samples are two pixels apart", codestream(301, 200, steps: 2),
            ImageInfo(format: .jpeg2000, storedSize: size(151, 100))),
    ]

    /// Returns a file with the structure of TIFF: a first directory with `entries`, a manufacturer, and a subdirectory
    /// that declares sensor data.
    static func raw(
        _ entries: [(tag: Int, kind: Int, count: Int, value: Int)], make: String?, photometric: Int = 32_803,
        signature: ByteBuilder = ByteBuilder().text("II").raw(42, 0), tail: ByteBuilder = ByteBuilder()
    ) -> ByteBuilder {
        var all = entries
        let name = make.map { ByteBuilder().text($0 + "\0") } ?? ByteBuilder()
        let subdirectory = 8 + 2 + (entries.count + (make == nil ? 0 : 2)) * 12 + 4
        if make != nil {
            all.append((271, 2, name.bytes.count, subdirectory + 18))
            all.append((330, 4, 1, subdirectory))
        }
        var directory = ByteBuilder().little(all.count, 2)
        for entry in all.sorted(by: { $0.tag < $1.tag }) {
            directory = directory.little(entry.tag, 2).little(entry.kind, 2).little(entry.count, 4)
                .little(entry.value, 4)
        }
        let inner = ByteBuilder().little(1, 2).little(262, 2).little(3, 2).little(1, 4).little(photometric, 4).zeros(4)
        let file = signature.little(8, 4).joined(directory).zeros(4)
        return (make == nil ? file : file.joined(inner).joined(name)).joined(tail)
    }

    /// A RAW file with a small preview and a large one after it. `rawSize` is the length of the structure.
    private static func previews(
        _ make: String?, _ extra: [(tag: Int, kind: Int, count: Int, value: Int)] = [],
        signature: ByteBuilder = ByteBuilder().text("II").raw(42, 0)
    ) -> ByteBuilder {
        let small = jpeg(160, 120)
        let large = jpeg(640, 480)
        func file(_ start: Int) -> ByteBuilder {
            raw(
                extra + [
                    (259, 3, 1, 6), (273, 4, 1, start + small.bytes.count), (274, 3, 1, 6),
                    (279, 4, 1, large.bytes.count), (513, 4, 1, start), (514, 4, 1, small.bytes.count),
                ], make: make, signature: signature)
        }
        return file(file(0).bytes.count).joined(small).joined(large)
    }

    private static func preview(_ format: ImageFormat) -> ImageInfo {
        ImageInfo(format: format, storedSize: size(640, 480), orientation: .right, smallestFile: 900)
    }

    static let raws = [
        Sample("Nikon RAW", previews("NIKON CORPORATION"), preview(.nef)),
        Sample("Sony RAW", previews("SONY"), preview(.arw)),
        Sample("Pentax RAW", previews("RICOH IMAGING COMPANY, LTD."), preview(.pef)),
        Sample("Samsung RAW", previews("SAMSUNG"), preview(.raw)),
        Sample("DNG", previews(nil, [(50_706, 1, 4, 0x0401)]), preview(.dng)),
        Sample("Olympus RAW", previews(nil, signature: ByteBuilder().text("IIRO")), preview(.orf)),
        Sample("Fujifilm RAW", fujifilm(), preview(.raf)),
        Sample("Fujifilm RAW whose JPEG file is directly after the positions", fujifilm(start: 92), preview(.raf)),
        Sample("Panasonic RAW", previews(nil, signature: ByteBuilder().text("IIU").raw(0)), preview(.rw2)),
        Sample("Panasonic RAW with JpgFromRaw", wholePreview, preview(.rw2)),
        Sample("Canon RAW 3", canon3, preview(.cr3)),
        Sample("Canon RAW 3 with a preview box", canon3Preview, preview(.cr3)),
        Sample("Canon RAW 3 with only a thumbnail", canon3Thumbnail(version: 0), thumbnail(.cr3)),
        Sample("Canon RAW 3 with a thumbnail of version 1", canon3Thumbnail(version: 1), thumbnail(.cr3)),
        Sample("Olympus maker note", olympus(.relative("OLYMPUS\0II\u{3}\0")), preview(.orf)),
        Sample("Olympus maker note with inline settings", olympus(.inline), preview(.orf)),
        Sample("OM System maker note", olympus(.relative("OM SYSTEM\0\0\0II\u{4}\0")), preview(.orf)),
        Sample("old Olympus maker note", olympus(.absolute("OLYMP\0\u{1}\0")), preview(.orf)),
        Sample("Epson maker note", olympus(.absolute("EPSON\0\u{1}\0")), preview(.orf)),
        Sample("DNG with an uncompressed thumbnail", uncompressed, uncompressedInfo),
    ]

    /// Returns a Fujifilm file whose JPEG file contains the orientation.
    ///
    /// - Parameters:
    ///   - offset: The position of the JPEG file in the header. The default is its position in the file.
    ///   - count: The size of the JPEG file in the header. The default is its size in the file.
    ///   - start: The position of the JPEG file in the file.
    static func fujifilm(offset: Int? = nil, count: Int? = nil, start: Int = 148) -> ByteBuilder {
        let image = jpeg(640, 480, before: ByteBuilder().segment(0xE1, ByteBuilder().text("Exif\0\0").joined(exif(6))))
        return ByteBuilder().text("FUJIFILMCCD-RAW 0201FF119101X-T0").zeros(28).text("0100").zeros(20)
            .big(offset ?? start, 4).big(count ?? image.bytes.count, 4).zeros(start - 92).joined(image).zeros(40)
    }

    private static func thumbnail(_ format: ImageFormat) -> ImageInfo {
        ImageInfo(format: format, storedSize: size(160, 120), orientation: .right, smallestFile: 57)
    }

    /// A DNG file whose first directory describes 9 × 5 pixels in one strip.
    private static let uncompressed = raw(
        [
            (256, 4, 1, 9), (257, 4, 1, 5), (258, 3, 1, 8), (259, 3, 1, 1), (273, 4, 1, 200), (274, 3, 1, 8),
            (279, 4, 1, 135), (50_706, 1, 4, 0x0401),
        ], make: nil)

    private static let uncompressedInfo = ImageInfo(
        format: .dng, storedSize: size(9, 5), orientation: .left, rowsPerUnit: .max)

    /// The kinds of maker notes with the position of a preview, as documented in ExifTool.
    private enum OlympusNote {
        /// A note with a header and with positions relative to the note.
        case relative(String)
        /// The same, but the settings have the type UNDEFINED.
        case inline
        /// A note with a header of 8 bytes, positions relative to the file, and no settings.
        case absolute(String)
    }

    private static func directory(_ entries: [(tag: Int, kind: Int, count: Int, value: Int)]) -> ByteBuilder {
        entries.reduce(ByteBuilder().little(entries.count, 2)) {
            $0.little($1.tag, 2).little($1.kind, 2).little($1.count, 4).little($1.value, 4)
        }.zeros(4)
    }

    private static func olympus(_ kind: OlympusNote) -> ByteBuilder {
        let image = jpeg(640, 480)
        func first(_ exif: Int) -> ByteBuilder {
            raw([(274, 3, 1, 6), (34_665, 4, 1, exif)], make: nil, signature: ByteBuilder().text("IIRO"))
        }
        let exif = first(0).bytes.count
        let note = exif + 18
        func content(_ start: Int) -> ByteBuilder {
            switch kind {
            case .relative(let header):
                let settings = header.utf8.count + 18
                return ByteBuilder().text(header).joined(directory([(0x2020, 13, 1, settings)]))
                    .joined(directory([(0x0101, 4, 1, start - note), (0x0102, 4, 1, image.bytes.count)]))
            case .inline:
                return ByteBuilder().text("OLYMPUS\0II\u{3}\0").joined(directory([(0x2020, 7, 30, 30)]))
                    .joined(directory([(0x0101, 4, 1, start - note), (0x0102, 4, 1, image.bytes.count)]))
            case .absolute(let header):
                return ByteBuilder().text(header)
                    .joined(directory([(0x1036, 4, 1, start), (0x1037, 4, 1, image.bytes.count)]))
            }
        }
        let count = content(0).bytes.count
        return first(exif).joined(directory([(37_500, 7, count, note)])).joined(content(note + count)).joined(image)
    }

    private static let wholePreview: ByteBuilder = {
        let image = jpeg(640, 480)
        let signature = ByteBuilder().text("IIU").raw(0)
        func file(_ start: Int) -> ByteBuilder {
            raw([(46, 7, image.bytes.count, start), (274, 3, 1, 6)], make: nil, signature: signature)
        }
        return file(file(0).bytes.count).joined(image)
    }()

    private static let canonMetadata: [UInt8] = [
        0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
    ]
    private static let canonPreview: [UInt8] = [
        0xEA, 0xF4, 0x2B, 0x5E, 0x1C, 0x98, 0x4B, 0x88, 0xB9, 0xFB, 0xB7, 0xDC, 0x40, 0x6E, 0x4D, 0x16,
    ]

    /// Returns the box with the metadata and the thumbnail in `moov`, in the layout that canon_cr3 documents.
    private static func canonHeader(version: UInt8 = 0, track: ByteBuilder? = nil) -> ByteBuilder {
        let image = jpeg(160, 120)
        let sides = ByteBuilder().raw(version, 0, 0, 0).big(160, 2).big(120, 2).big(image.bytes.count, 4)
        let header = version == 0 ? sides.big(1, 2).zeros(2) : sides
        let own = ByteBuilder().joined(canonMetadata).box("CMT1", exif(6)).box("THMB", header.joined(image).zeros(3))
        let boxes = ByteBuilder().box("uuid", own)
        return brands("crx ", "isom").box("moov", track.map { boxes.box("trak", $0) } ?? boxes)
    }

    private static func canon3Thumbnail(version: UInt8) -> ByteBuilder {
        canonHeader(version: version).box("mdat", ByteBuilder().zeros(40))
    }

    private static let canon3Preview: ByteBuilder = {
        let image = jpeg(640, 480)
        let header = ByteBuilder().zeros(4).big(1, 2).big(640, 2).big(480, 2).big(1, 2).big(image.bytes.count, 4)
        let preview = ByteBuilder().joined(canonPreview).zeros(8).box("PRVW", header.joined(image).zeros(3))
        return canonHeader().box("uuid", preview).box("mdat", ByteBuilder().zeros(40))
    }()

    private static let canon3: ByteBuilder = {
        let large = jpeg(640, 480)
        func head(_ start: Int) -> ByteBuilder {
            let table = ByteBuilder().box("stsz", ByteBuilder().zeros(4).big(large.bytes.count, 4).big(1, 4))
                .box("co64", ByteBuilder().zeros(4).big(1, 4).big(start, 8))
            let track = ByteBuilder().box("mdia", ByteBuilder().box("minf", ByteBuilder().box("stbl", table)))
            return canonHeader(track: track)
        }
        return head(head(0).bytes.count + 8).box("mdat", large)
    }()
}
