// SPDX-License-Identifier: MIT

/// A parser for the headers of bitmaps: OS/2 1 and 2 and Windows 3, 4, and 5 ([MS-WMF] 2.2.2; OS/2 2.0
/// `BITMAPINFOHEADER2`).
enum BMPProbe {
    /// Returns whether a header can have this length: 12 for OS/2 1, 16–64 for OS/2 2, 40, 52, or 56 for Windows 3,
    /// and 108 or 124 for Windows 4 and 5.
    static func isHeaderLength(_ length: Int) -> Bool {
        length == 12 || (16...64).contains(length) || length == 108 || length == 124
    }

    static func read(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageInfo {
        let header = try Header(bytes.rest(from: 14), format: .bmp)
        var probe = ImageInfo(format: .bmp, storedSize: header.size, bitDepth: header.depth, hasAlpha: header.hasAlpha)
        probe.hasICCProfile = header.hasProfile
        if header.isUncompressed { probe.smallestFile = smallestFile(header) }
        return probe
    }

    /// Returns the minimum file size. Rows are padded to four bytes, and an uncompressed bitmap can't be shorter.
    private static func smallestFile(_ header: Header) -> Int {
        let row = (header.size.width * header.bitsPerPixel + 31) / 32 * 4
        let (pixels, overflow) = row.multipliedReportingOverflow(by: header.size.height)
        return overflow ? .max : 14 + header.length + pixels
    }

    /// The information header of a bitmap. Icons contain the same header.
    struct Header {
        let length: Int
        /// The stored size. In an icon, the height includes the mask.
        let size: PixelSize
        let bitsPerPixel: Int
        private(set) var depth = 8
        private(set) var isUncompressed = true
        private(set) var hasAlpha = false
        private(set) var hasProfile = false

        init(_ bytes: HeaderBytes, format: ImageFormat) throws(HeaderParsingError) {
            length = try bytes.little32(at: 0)
            guard BMPProbe.isHeaderLength(length) else { throw .corrupt(format, "unknown header length \(length)") }
            if length == 12 {
                size = PixelSize(width: try bytes.little16(at: 4), height: try bytes.little16(at: 6))
                bitsPerPixel = try bytes.little16(at: 10)
            } else {
                let height = try bytes.littleSigned32(at: 8)
                size = PixelSize(width: try bytes.littleSigned32(at: 4), height: abs(height))
                bitsPerPixel = try bytes.little16(at: 14)
            }
            guard !size.isEmpty else { throw .corrupt(format, "invalid size \(size)") }
            if length >= 40 { try readCompression(bytes) }
            // A value of zero means that the pixels are an embedded PNG or JPEG image.
            guard [1, 2, 4, 8, 16, 24, 32].contains(bitsPerPixel) || (bitsPerPixel == 0 && !isUncompressed) else {
                throw .corrupt(format, "invalid bit depth of \(bitsPerPixel) bits per pixel")
            }
            if bitsPerPixel == 16, depth == 8 { depth = 5 }
        }

        private mutating func readCompression(_ bytes: HeaderBytes) throws(HeaderParsingError) {
            let compression = try bytes.little32(at: 16)
            // A header of 64 bytes is from OS/2, where 3 is Huffman coding and not bit fields.
            let hasMasks = (compression == 3 || compression == 6) && length != 64
            isUncompressed = compression == 0 || hasMasks
            if hasMasks {
                let end = length == 40 ? (compression == 6 ? 56 : 52) : length
                var widest = 0
                for offset in stride(from: 40, to: min(end, 52), by: 4) {
                    widest = max(widest, try bytes.little32(at: offset).nonzeroBitCount)
                }
                depth = max(1, widest)
                if end >= 56 { hasAlpha = try bytes.little32(at: 52) != 0 }
            }
            // PROFILE_EMBEDDED is `MBED` as a little-endian number. A linked profile is a separate file.
            if length == 124 { hasProfile = try FourCC(bytes, at: 56) == "DEBM" }
        }
    }
}
