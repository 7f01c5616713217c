// SPDX-License-Identifier: MIT

import Foundation

/// The segments of a JPEG file (ITU-T T.81, annex B), for removing metadata without changing the pixels.
package enum JPEGFile {
    /// Returns the file with only the given blocks and the segments that its pixels and colors require: APP0 (JFIF),
    /// profiles in APP2, and APP14 (Adobe).
    ///
    /// Text, segments of other applications, and data after the end of the image are removed. The result is `nil` if
    /// the structure is invalid or a block is too long for a segment.
    package static func replacingMetadata(of data: Data, exif: [UInt8]?, xmp: [UInt8]?) -> Data? {
        let bytes = [UInt8](data)
        guard bytes.count >= 4, bytes[0] == 0xFF, bytes[1] == 0xD8 else { return nil }
        var file: [UInt8] = [0xFF, 0xD8]
        file.reserveCapacity(bytes.count)
        for (name, block) in [(Array("Exif\0\0".utf8), exif), (Array("http://ns.adobe.com/xap/1.0/\0".utf8), xmp)] {
            guard let block else { continue }
            let length = block.count + name.count + 2
            guard length <= 0xFFFF else { return nil }
            file += [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)] + name + block
        }
        var place = 2
        while let part = nextPart(bytes, from: place) {
            if !isMetadata(bytes, part) { file += bytes[part.start..<part.end] }
            if part.marker == 0xD9 { return Data(file) }
            place = part.end
        }
        return nil
    }

    /// Returns whether ``replacingMetadata(of:exif:xmp:)`` would remove nothing from the file.
    static func hasNoMetadata(_ data: Data) -> Bool {
        replacingMetadata(of: data, exif: nil, xmp: nil)?.count == data.count
    }

    /// A segment and its marker. The data of a scan belongs to its segment.
    private struct Part {
        var marker: UInt8
        var start: Int
        var end: Int
    }

    private static func isMetadata(_ bytes: [UInt8], _ part: Part) -> Bool {
        switch part.marker {
        case 0xE0, 0xEE: false
        case 0xE2: !bytes[min(part.start + 4, part.end)..<part.end].starts(with: Array("ICC_PROFILE\0".utf8))
        case 0xE1...0xEF, 0xFE: true
        default: false
        }
    }

    private static func nextPart(_ bytes: [UInt8], from start: Int) -> Part? {
        guard start + 1 < bytes.count, bytes[start] == 0xFF else { return nil }
        var place = start + 1
        // Skip fill bytes.
        while place < bytes.count, bytes[place] == 0xFF { place += 1 }
        guard place < bytes.count else { return nil }
        let marker = bytes[place]
        place += 1
        if marker == 0xD9 || marker == 0x01 || (0xD0...0xD8).contains(marker) {
            return Part(marker: marker, start: start, end: place)
        }
        guard marker != 0, place + 1 < bytes.count else { return nil }
        place += max(2, Int(bytes[place]) << 8 | Int(bytes[place + 1]))
        guard place <= bytes.count else { return nil }
        if marker == 0xDA { place = endOfScan(bytes, from: place) }
        return Part(marker: marker, start: start, end: place)
    }

    /// Returns the end of the entropy-coded data, which is a marker other than a stuffed zero or a restart.
    private static func endOfScan(_ bytes: [UInt8], from start: Int) -> Int {
        var place = start
        while place + 1 < bytes.count {
            if bytes[place] == 0xFF, bytes[place + 1] != 0, !(0xD0...0xD7).contains(bytes[place + 1]) { return place }
            place += 1
        }
        return bytes.count
    }
}
