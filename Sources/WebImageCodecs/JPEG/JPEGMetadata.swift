// SPDX-License-Identifier: MIT

import CJPEG
import WebImageCore

/// The metadata that fits into the segments of a JPEG file.
enum JPEGMetadata {
    /// The identifiers at the start of APP1 segments (Exif 2.32, section 4.7.2, and XMP part 3, section 1.1.3).
    static let exifName = Array("Exif\0\0".utf8CString.dropLast())
    static let xmpName = Array("http://ns.adobe.com/xap/1.0/\0".utf8CString.dropLast())
    /// The maximum size of a segment's contents, in bytes.
    static let maxSegment = Int(WI_JPEG_MAX_SEGMENT)
    /// The maximum size of a thumbnail in bytes. It leaves enough space for EXIF data of the usual size.
    static let maxThumbnail = 48 << 10

    /// Returns EXIF data with a thumbnail, or `nil` if there's neither. If the data doesn't fit into one segment, this
    /// method omits first the maker note, then the thumbnail, and finally everything.
    static func exif(_ exif: [UInt8]?, thumbnail: [UInt8]?) -> [UInt8]? {
        guard exif != nil || thumbnail != nil else { return nil }
        let block = exif.flatMap { ExifBlock($0) } ?? .only(.up)
        for reduced in [block, block.withoutMakerNote] {
            var full = reduced
            full.thumbnail = thumbnail
            let bytes = full.serialized()
            if bytes.count + exifName.count <= maxSegment { return bytes }
        }
        for reduced in [block, block.withoutMakerNote] {
            let bytes = reduced.serialized()
            if bytes.count + exifName.count <= maxSegment { return exif == nil ? nil : bytes }
        }
        return nil
    }
}
