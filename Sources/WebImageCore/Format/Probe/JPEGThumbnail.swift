// SPDX-License-Identifier: MIT

import Foundation

/// A search for the thumbnail in the EXIF block of a JPEG file (Exif 2.32, section 4.5.4).
///
/// Files with several images (MPF, CIPA DC-007) store their larger previews after the main image, so this type doesn't
/// search for them.
package enum JPEGThumbnail {
    /// The result of a search in the beginning of a file.
    package enum Search: Sendable, Hashable {
        /// The encoded thumbnail, which begins with the start marker of a JPEG file.
        case found(Data)
        /// A result that means that the file has no thumbnail or that its headers are invalid.
        case none
        /// A request for more data, because the headers continue after the available data.
        case needsMore
    }

    /// The tags of the thumbnail's directory (Exif 2.32, section 4.6.5).
    private enum Tag {
        static let compression = 0x0103
        static let offset = 0x0201
        static let length = 0x0202
    }
    private static let jpegCompression = 6
    /// The minimum size of a JPEG file with tables, a frame, and a scan, in bytes.
    private static let minByteCount = 128
    /// The maximum number of segments before the EXIF block. Cameras store it first or after the JFIF segment.
    private static let maxSegments = 64

    /// Searches the segments before the first scan of a file that begins with these bytes.
    package static func find(in prefix: Data) -> Search {
        prefix.withUnsafeBytes { bytes in
            do throws(HeaderParsingError) {
                return try find(HeaderBytes(bytes, isComplete: false)).map { .found($0) } ?? .none
            } catch {
                if case .needsMore = error { return .needsMore }
                return .none
            }
        }
    }

    private static func find(_ bytes: HeaderBytes) throws(HeaderParsingError) -> Data? {
        guard try bytes.big16(at: 0) == 0xFFD8 else { return nil }
        var segments = JPEGSegments(bytes)
        for _ in 0..<maxSegments {
            // The EXIF block comes before the frame header.
            guard let segment = try segments.next(), isBeforeFrame(segment.marker) else { return nil }
            if segment.marker == 0xE1, try segment.content.has("Exif\0") {
                try segment.content.require(segment.count, at: 0)
                return thumbnail(in: segment.content)
            }
        }
        return nil
    }

    /// Returns whether a segment belongs to an application, is a comment, or contains tables.
    private static func isBeforeFrame(_ marker: UInt8) -> Bool {
        (0xE0...0xEF).contains(marker) || [0xFE, 0xDB, 0xC4].contains(marker)
    }

    /// Returns the thumbnail of an EXIF segment, or `nil` if it's missing or invalid. The whole segment is available.
    private static func thumbnail(in segment: HeaderBytes) -> Data? {
        do throws(HeaderParsingError) {
            let block = try segment.rest(from: 6)
            guard let directory = try TIFFDirectory(block) else { return nil }
            let second = try directory.next(after: directory.firstOffset)
            guard second > 0, second != directory.firstOffset,
                try directory.value(of: Tag.compression, at: second) ?? jpegCompression == jpegCompression,
                let start = try directory.value(of: Tag.offset, at: second),
                let length = try directory.value(of: Tag.length, at: second), length >= minByteCount,
                try block.big16(at: start) == 0xFFD8
            else { return nil }
            return try block.withBytes(length, at: start) { Data($0) }
        } catch {
            return nil
        }
    }
}
