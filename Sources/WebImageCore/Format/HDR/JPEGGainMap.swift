// SPDX-License-Identifier: MIT

import Foundation

/// The gain map of a JPEG file, which is a JPEG file of its own after the base image.
///
/// A list of all images (MPF, CIPA DC-007) contains its position. If the file has no list, the XMP packet of Ultra HDR
/// contains the size of the gain map (GContainer).
package struct JPEGGainMap: Sendable, Hashable {
    /// The position of the gain map in the file.
    package let range: Range<Int>
    /// The metadata of the gain map.
    package let metadata: GainMapMetadata

    /// The names at the beginning of the segments with metadata.
    package static let xmpName: StaticString = "http://ns.adobe.com/xap/1.0/\0"
    package static let isoName: StaticString = "urn:iso:std:iso:ts:21496:-1\0"
    package static let mpfName: StaticString = "MPF\0"
    private static let exifName: StaticString = "Exif\0\0"

    /// The tag with the entries of the images (CIPA DC-007, table 3), and the size of an entry in bytes.
    private static let entriesTag = 0xB002
    private static let entrySize = 16
    /// The maximum number of images in a file. Files of cameras have up to four.
    static let maxImages = 16
    /// The maximum number of segments before the first scan of an image.
    private static let maxSegments = 1_024

    /// Finds the gain map in a whole file. The result is `nil` if the file has none or its structure is invalid.
    package static func find(in file: UnsafeRawBufferPointer) -> JPEGGainMap? {
        let bytes = HeaderBytes(file, isComplete: true)
        do throws(HeaderParsingError) {
            let base = try Segments(bytes)
            if let mpf = base.mpf, let ranges = try? images(mpf, fileSize: file.count),
                let found = find(in: ranges, of: bytes, base)
            {
                return found
            }
            guard let packet = base.xmpPacket else { return nil }
            return find(in: GainMapDirectory.gainMaps(packet, fileSize: file.count), of: bytes, base)
        } catch {
            return nil
        }
    }

    /// Finds the gain map in a whole file.
    package static func find(in file: Data) -> JPEGGainMap? { file.withUnsafeBytes { find(in: $0) } }

    /// Returns the first of the images that has the metadata of a gain map.
    private static func find(in ranges: [Range<Int>], of file: HeaderBytes, _ base: Segments) -> JPEGGainMap? {
        for range in ranges {
            guard let map = try? Segments(try file.part(at: range.lowerBound, length: range.count)) else { continue }
            if let metadata = map.metadata(base: base) { return JPEGGainMap(range: range, metadata: metadata) }
        }
        return nil
    }

    /// Returns the positions of the images after the base image. Positions outside the file are skipped.
    private static func images(_ mpf: HeaderBytes, fileSize: Int) throws(HeaderParsingError) -> [Range<Int>] {
        guard let root = try TIFFDirectory(mpf), let field = try root.field(entriesTag, at: root.firstOffset) else {
            return []
        }
        var ranges: [Range<Int>] = []
        for index in 0..<min(field.byteCount / entrySize, maxImages) {
            let entry = field.position + index * entrySize
            let length = try mpf.number(at: entry + 4, 4, root.order)
            let offset = try mpf.number(at: entry + 8, 4, root.order)
            // The offset of the base image is 0. The other offsets count from the header of the directory.
            let start = mpf.position + offset
            guard offset > 0, length > 4, start <= fileSize, length <= fileSize - start else { continue }
            ranges.append(start..<start + length)
        }
        return ranges
    }

    /// The segments with metadata before the first scan of an image.
    private struct Segments {
        private(set) var mpf: HeaderBytes?
        private var exif: HeaderBytes?
        private var xmp: HeaderBytes?
        private var iso: HeaderBytes?

        init(_ file: HeaderBytes) throws(HeaderParsingError) {
            guard try file.big16(at: 0) == 0xFFD8 else { throw .outside }
            var segments = JPEGSegments(file)
            for _ in 0..<maxSegments {
                guard let segment = try segments.next() else { return }
                try add(segment.marker, segment.content)
            }
        }

        private mutating func add(_ marker: UInt8, _ segment: HeaderBytes) throws(HeaderParsingError) {
            func content(_ name: StaticString) throws(HeaderParsingError) -> HeaderBytes? {
                try segment.has(name) ? try segment.rest(from: name.utf8CodeUnitCount) : nil
            }
            if marker == 0xE1 {
                if exif == nil { exif = try content(exifName) }
                if xmp == nil { xmp = try content(xmpName) }
            } else if marker == 0xE2 {
                if iso == nil { iso = try content(isoName) }
                if mpf == nil { mpf = try content(mpfName) }
            }
        }

        var xmpPacket: [UInt8]? {
            guard let xmp, let length = xmp.declaredLength else { return nil }
            return try? xmp.withBytes(length, at: 0) { Array($0) }
        }

        /// Returns the metadata of the gain map with these segments. Those of ISO 21496-1 take precedence.
        func metadata(base: Segments) -> GainMapMetadata? {
            if let iso, let length = iso.declaredLength,
                let found = try? iso.withBytes(length, at: 0, { GainMapMetadata(iso: $0) })
            {
                return found
            }
            guard let packet = xmpPacket else { return nil }
            return GainMapMetadata(xmp: packet, appleHeadroom: base.exif.flatMap { AppleMakerNote.headroom(exif: $0) })
        }
    }
}
