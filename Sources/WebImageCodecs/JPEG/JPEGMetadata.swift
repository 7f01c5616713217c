// SPDX-License-Identifier: MIT

import CJPEG
import WebImageCore

/// What fits into the segments of a JPEG beside its pixels.
enum JPEGMetadata {
    /// What APP1 segments begin with (Exif 2.32, section 4.7.2; XMP part 3, section 1.1.3).
    static let exifName = Array("Exif\0\0".utf8CString.dropLast())
    static let xmpName = Array("http://ns.adobe.com/xap/1.0/\0".utf8CString.dropLast())
    /// Bytes of a segment.
    static let maxSegment = Int(WI_JPEG_MAX_SEGMENT)
    /// Bytes of a thumbnail, so that EXIF of usual length has room beside it.
    static let maxThumbnail = 48 << 10

    /// EXIF with a thumbnail; nil where there is neither. Where both do not fit into one segment, first the note of the
    /// camera's maker, then the thumbnail, then all is left out.
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
