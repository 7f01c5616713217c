// SPDX-License-Identifier: MIT

/// A parser for the directory of an icon or cursor. The result describes the largest image and, for equal sizes, the
/// one with the most bits per pixel.
enum ICOProbe {
    private struct Entry {
        var size: PixelSize
        var bits: Int
        var offset: Int
        var length: Int
    }

    static func isPlausible(_ bytes: HeaderBytes) throws(HeaderParsingError) -> Bool {
        let count = try bytes.little16(at: 4)
        guard (1...256).contains(count) else { return false }
        for index in 0..<count {
            let entry = try entry(bytes, index, isIcon: false)
            guard entry.length > 0, entry.offset >= 6 + count * 16 else { return false }
        }
        return true
    }

    static func read(_ bytes: HeaderBytes, format: ImageFormat) throws(HeaderParsingError) -> ImageInfo {
        let count = try bytes.little16(at: 4)
        var best = try entry(bytes, 0, isIcon: format == .ico)
        for index in 1..<max(1, count) {
            let next = try entry(bytes, index, isIcon: format == .ico)
            let area = next.size.width * next.size.height
            let bestArea = best.size.width * best.size.height
            if area > bestArea || (area == bestArea && next.bits > best.bits) { best = next }
        }
        var probe = ImageInfo(format: format, storedSize: best.size, hasAlpha: true, frameCount: count)
        do {
            try refine(&probe, try bytes.part(at: best.offset, length: best.length))
        } catch {
            // The image is corrupt or missing, but another image in the file may be valid.
            if case .needsMore = error, !bytes.isComplete { throw error }
        }
        return probe
    }

    private static func entry(_ bytes: HeaderBytes, _ index: Int, isIcon: Bool) throws(HeaderParsingError) -> Entry {
        let offset = 6 + index * 16
        let width = Int(try bytes.byte(at: offset))
        let height = Int(try bytes.byte(at: offset + 1))
        return Entry(
            size: PixelSize(width: width == 0 ? 256 : width, height: height == 0 ? 256 : height),
            // Cursors store their hot spot in the field where icons store the number of bits.
            bits: isIcon ? try bytes.little16(at: offset + 6) : 0,
            offset: try bytes.little32(at: offset + 12), length: try bytes.little32(at: offset + 8))
    }

    private static func refine(_ probe: inout ImageInfo, _ picture: HeaderBytes) throws(HeaderParsingError) {
        if try picture.has(PNGProbe.signature) {
            let inner = try PNGProbe.read(picture)
            probe.storedSize = inner.storedSize
            probe.bitDepth = inner.bitDepth
            probe.hasAlpha = inner.hasAlpha
            probe.hasICCProfile = inner.hasICCProfile
        } else {
            let header = try BMPProbe.Header(picture, format: probe.format)
            // The stored height is the sum of the heights of the color image and of its mask.
            probe.storedSize = PixelSize(width: header.size.width, height: max(1, header.size.height / 2))
            probe.bitDepth = header.depth
        }
    }
}
