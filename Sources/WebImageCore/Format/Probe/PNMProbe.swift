// SPDX-License-Identifier: MIT

/// A parser for the headers of PBM, PGM, PPM, and PAM files (the manual pages pbm, pgm, ppm, and pam of Netpbm).
enum PNMProbe {
    static func read(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageInfo {
        let header = try PNMHeader(bytes)
        return ImageInfo(
            format: header.format, storedSize: header.size, bitDepth: header.bitDepth, hasAlpha: header.hasAlpha,
            smallestFile: header.smallestFile)
    }
}
