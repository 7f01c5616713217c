// SPDX-License-Identifier: MIT

/// A parser for the headers of Apple icons. The result describes the largest image.
enum ICNSProbe {
    /// Reads the properties of the largest icon and the number of icons.
    static func read(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageInfo {
        let directory = try ICNSDirectory(bytes)
        let icon = directory.icons[directory.largest]
        var probe = ImageInfo(
            format: .icns, storedSize: PixelSize(width: icon.side, height: icon.side),
            hasAlpha: icon.coding != .rgb || icon.mask != nil, frameCount: directory.icons.count)
        do {
            try refine(&probe, icon, try bytes.part(at: icon.range.lowerBound, length: icon.range.count))
        } catch {
            // The image is corrupt or missing, but another image in the file may be valid.
            if case .needsMore = error, !bytes.isComplete { throw error }
        }
        return probe
    }

    private static func refine(
        _ probe: inout ImageInfo, _ icon: ICNSDirectory.Icon, _ content: HeaderBytes
    ) throws(HeaderParsingError) {
        let inner: ImageInfo
        switch icon.coding {
        case .png: inner = try PNGProbe.read(content)
        case .jpeg2000: inner = try JPEG2000Probe.read(content)
        case .argb, .rgb: return
        }
        probe.storedSize = inner.storedSize
        probe.bitDepth = inner.bitDepth
        probe.hasAlpha = inner.hasAlpha
        probe.hasICCProfile = inner.hasICCProfile
    }
}
