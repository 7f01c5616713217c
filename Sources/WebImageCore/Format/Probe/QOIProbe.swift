// SPDX-License-Identifier: MIT

/// Reads the header of a QOI file (qoiformat.org, version 1.0).
enum QOIProbe {
    /// Bytes of the header.
    static let headerSize = 14
    /// Zeros and a one behind the pixels.
    private static let endSize = 8
    /// One byte stands for at most so many pixels.
    private static let longestRun = 62

    /// Whether what follows the mark is a header: three or four channels, one of two colour spaces.
    static func isPlausible(_ bytes: HeaderBytes) throws(ProbeStop) -> Bool {
        let channels = try bytes.byte(at: 12)
        let space = try bytes.byte(at: 13)
        return (channels == 3 || channels == 4) && space <= 1
    }

    static func read(_ bytes: HeaderBytes) throws(ProbeStop) -> ImageProbe {
        let size = PixelSize(width: try bytes.big32(at: 4), height: try bytes.big32(at: 8))
        guard !size.isEmpty else { throw .corrupt(.qoi, "impossible size \(size)") }
        var probe = ImageProbe(format: .qoi, rawSize: size, hasAlpha: try bytes.byte(at: 12) == 4)
        probe.smallestFile = size.area.map { headerSize + ($0 - 1) / longestRun + 1 + endSize } ?? .max
        return probe
    }
}
