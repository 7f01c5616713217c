// SPDX-License-Identifier: MIT

/// A parser that reads the first directory of a TIFF or BigTIFF file and follows the chain of the other directories.
enum TIFFProbe {
    /// Reads the properties of a TIFF file, and counts the other directories that are available.
    static func read(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageInfo {
        guard let file = try TIFFDirectory(bytes), file.firstOffset > 0 else {
            throw .corrupt(.tiff, "the first directory is missing")
        }
        var probe = ImageInfo(format: .tiff, storedSize: PixelSize(width: 0, height: 0), bitDepth: 1)
        var samples = SampleLayout()
        try file.forEachTag(at: file.firstOffset) { (tag, field) throws(HeaderParsingError) in
            switch tag {
            case 256: probe.storedSize.width = field.first
            case 257: probe.storedSize.height = field.first
            case 258: probe.bitDepth = field.first
            case 262: samples.photometric = field.first
            case 274: probe.orientation = ImageOrientation(rawValue: field.first) ?? .up
            case 277: samples.count = field.first
            // The files have either strips or tiles.
            case 278, 323: probe.rowsPerUnit = field.first
            case 330:
                try HeaderParsingError.check(
                    field.count, limit: HeaderBounds.tiffSubdirectories, "TIFF subdirectories")
            case 332: samples.inkSet = field.first
            case 338: samples.extras = try file.values(of: field, limit: SampleLayout.maxExtras)
            case 34_675:
                try HeaderParsingError.check(field.byteCount, limit: HeaderBounds.iccBytes, "bytes of ICC profile data")
                probe.hasICCProfile = true
            default: break
            }
        }
        let sides = 1...0xFFFF_FFFF
        guard sides.contains(probe.storedSize.width), sides.contains(probe.storedSize.height) else {
            throw .corrupt(.tiff, "invalid size \(probe.storedSize)")
        }
        guard (1...64).contains(probe.bitDepth) else { throw .corrupt(.tiff, "invalid bit depth \(probe.bitDepth)") }
        probe.hasAlpha = samples.hasAlpha
        // The default number of rows in a strip is 2³² − 1.
        if let rows = probe.rowsPerUnit, !(1..<probe.storedSize.height).contains(rows) { probe.rowsPerUnit = nil }
        count(file, &probe, isComplete: bytes.isComplete)
        return probe
    }

    /// Brent's algorithm detects cycles with constant memory. If the chain is cyclic or exceeds the bound, the result
    /// is one page and isn't exact.
    private static func count(_ file: TIFFDirectory, _ probe: inout ImageInfo, isComplete: Bool) {
        var pages = 1
        var offset = file.firstOffset
        var mark = offset
        var lap = 1
        var steps = 0
        while pages <= HeaderBounds.tiffDirectories {
            do throws(HeaderParsingError) {
                offset = try file.next(after: offset)
                guard offset != 0 else {
                    probe.frameCount = pages
                    return
                }
                // Don't count a page whose directory isn't available.
                _ = try file.next(after: offset)
            } catch {
                probe.frameCount = pages
                probe.frameCountIsExact = isComplete
                return
            }
            if offset == mark { break }
            steps += 1
            if steps == lap {
                mark = offset
                lap *= 2
                steps = 0
            }
            pages += 1
        }
        probe.frameCountIsExact = false
    }
}

/// The samples of a pixel (TIFF 6.0, sections 8, 16, and 18).
private struct SampleLayout {
    static let maxExtras = 64

    /// The value of `PhotometricInterpretation`, or `nil` if it's missing.
    var photometric: Int?
    /// The value of `SamplesPerPixel`.
    var count = 1
    /// The value of `InkSet`. 1 means CMYK.
    var inkSet = 1
    var extras: [Int] = []

    /// The number of samples that describe the color, or `nil` if other samples never contain undeclared alpha.
    private var colorCount: Int? {
        switch photometric ?? -1 {
        case 0, 1, 3: 1
        case 2: 3
        case 5: inkSet == 1 ? 4 : nil
        default: nil
        }
    }

    /// Whether a sample contains alpha. An extra sample counts as alpha even if the file doesn't declare it, because
    /// many programs write such files.
    var hasAlpha: Bool {
        // 1 is associated alpha, 2 is unassociated alpha, and 0 is unspecified data. CorelDRAW writes 999 instead of 2.
        if extras.contains(where: { [1, 2, 999].contains($0) }) { return true }
        guard let colorCount else { return false }
        return count > colorCount
    }
}
