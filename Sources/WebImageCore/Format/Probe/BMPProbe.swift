// SPDX-License-Identifier: MIT

/// Reads the header of a bitmap: OS/2 1 and 2, Windows 3, 4 and 5 ([MS-WMF] 2.2.2, OS/2 2.0 `BITMAPINFOHEADER2`).
enum BMPProbe {
    /// Lengths a header may have: 12 OS/2 1, 16–64 OS/2 2, 40, 52, 56 Windows 3, 108 and 124 Windows 4 and 5.
    static func isHeaderLength(_ length: Int) -> Bool {
        length == 12 || (16...64).contains(length) || length == 108 || length == 124
    }

    /// The header of a file that begins with `BM`.
    static func read(_ bytes: HeaderBytes) throws(ProbeStop) -> ImageProbe {
        let header = try Header(bytes.rest(from: 14), format: .bmp)
        var probe = ImageProbe(format: .bmp, rawSize: header.size, depth: header.depth, hasAlpha: header.hasAlpha)
        probe.hasICCProfile = header.hasProfile
        if header.isUncompressed { probe.smallestFile = smallestFile(header) }
        return probe
    }

    /// Rows are padded to four bytes; nothing else shortens an uncompressed bitmap.
    private static func smallestFile(_ header: Header) -> Int {
        let row = (header.size.width * header.bitsPerPixel + 31) / 32 * 4
        let (pixels, overflow) = row.multipliedReportingOverflow(by: header.size.height)
        return overflow ? .max : 14 + header.length + pixels
    }

    /// What a bitmap's information header says; icons hold the same header.
    struct Header {
        let length: Int
        /// As stored: an icon's height counts its mask as well.
        let size: PixelSize
        let bitsPerPixel: Int
        private(set) var depth = 8
        private(set) var isUncompressed = true
        private(set) var hasAlpha = false
        private(set) var hasProfile = false

        init(_ bytes: HeaderBytes, format: ImageFormat) throws(ProbeStop) {
            length = try bytes.little32(at: 0)
            guard BMPProbe.isHeaderLength(length) else { throw .corrupt(format, "unknown header of \(length) bytes") }
            if length == 12 {
                size = PixelSize(width: try bytes.little16(at: 4), height: try bytes.little16(at: 6))
                bitsPerPixel = try bytes.little16(at: 10)
            } else {
                let height = try bytes.littleSigned32(at: 8)
                size = PixelSize(width: try bytes.littleSigned32(at: 4), height: abs(height))
                bitsPerPixel = try bytes.little16(at: 14)
            }
            guard !size.isEmpty else { throw .corrupt(format, "impossible size \(size)") }
            if length >= 40 { try readCompression(bytes) }
            // Zero bits: the pixels are a PNG or JPEG of their own.
            guard [1, 2, 4, 8, 16, 24, 32].contains(bitsPerPixel) || (bitsPerPixel == 0 && !isUncompressed) else {
                throw .corrupt(format, "impossible \(bitsPerPixel) bits per pixel")
            }
            if bitsPerPixel == 16, depth == 8 { depth = 5 }
        }

        private mutating func readCompression(_ bytes: HeaderBytes) throws(ProbeStop) {
            let compression = try bytes.little32(at: 16)
            // 64 bytes are OS/2's, where 3 is Huffman coding and not bit fields.
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
            // PROFILE_EMBEDDED is `MBED` as a little-endian number; a linked profile is a file elsewhere.
            if length == 124 { hasProfile = try FourCC(bytes, at: 56) == "DEBM" }
        }
    }
}
