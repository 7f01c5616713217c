// SPDX-License-Identifier: MIT

/// A parser for the header of a QOI file (qoiformat.org, version 1.0).
enum QOIProbe {
    static let headerSize = 14
    /// The size of the end marker in bytes, which consists of zeros and a one.
    private static let endSize = 8
    /// The maximum number of pixels that one byte represents.
    private static let longestRun = 62

    /// Returns whether the signature is followed by a valid header with three or four channels and one of two color
    /// spaces.
    static func isPlausible(_ bytes: HeaderBytes) throws(HeaderParsingError) -> Bool {
        let channels = try bytes.byte(at: 12)
        let space = try bytes.byte(at: 13)
        return (channels == 3 || channels == 4) && space <= 1
    }

    static func read(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageInfo {
        let size = PixelSize(width: try bytes.big32(at: 4), height: try bytes.big32(at: 8))
        guard !size.isEmpty else { throw .corrupt(.qoi, "invalid size \(size)") }
        var probe = ImageInfo(format: .qoi, storedSize: size, hasAlpha: try bytes.byte(at: 12) == 4)
        probe.smallestFile = size.area.map { headerSize + ($0 - 1) / longestRun + 1 + endSize } ?? .max
        return probe
    }
}
