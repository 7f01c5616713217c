// SPDX-License-Identifier: MIT

/// A parser for the marker segments of a JPEG file before its first scan (ITU-T T.81, annex B).
struct JPEGProbe {
    private var frame: ImageInfo?
    private var frameMarker: UInt8 = 0
    private var orientation: ImageOrientation?
    private var iccBytes = 0
    /// The numbers of the segments with a profile, each with their total number. A file can contain a profile twice.
    private var iccParts: Set<Int> = []
    private var hasFineQuantization = false
    private var detail = JPEGDetail()
    private var segments: JPEGSegments

    static func read(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageInfo {
        var reader = JPEGProbe(JPEGSegments(bytes))
        do {
            try reader.walk()
        } catch {
            // After the frame header, wait for missing segments, but ignore invalid ones in a complete file.
            guard bytes.isComplete, reader.frame != nil else { throw error }
            if case .failed(.limitExceeded) = error { throw error }
        }
        let detail = try reader.storedDetail(isComplete: bytes.isComplete)
        guard var probe = reader.frame else { throw .corrupt(.jpeg, "there is no frame header before the first scan") }
        probe.orientation = reader.orientation ?? .up
        probe.hasICCProfile = reader.iccBytes > 0
        probe.detail = detail
        return probe
    }

    /// Returns the detail at the beginning of the first scan, or the one that the quantization implies if it's finer. Files
    /// with another coding process have fine detail, because no estimate is possible, and because a reduction saves little
    /// of the time that their scans take.
    private func storedDetail(isComplete: Bool) throws(HeaderParsingError) -> StoredDetail {
        guard frame == nil || [0xC0, 0xC1].contains(frameMarker) else { return .fine }
        var estimate = StoredDetail.ordinary
        do throws(HeaderParsingError) {
            if let scan = try segments.scan { estimate = try detail.estimate(scan) }
        } catch {
            if case .needsMore = error, !isComplete { throw error }
        }
        return max(estimate, hasFineQuantization ? .fine : .ordinary)
    }

    /// Reads the properties of a JPEG file that's embedded in another file, and adds its parts to those of all embedded
    /// files that were passed. The result is `nil` if libjpeg doesn't support the coding process, which is the case for
    /// the lossless JPEG data of camera RAW files. If the work exceeds its limits, the function throws.
    static func embedded(_ bytes: HeaderBytes, work: inout JPEGSegments.Work) throws(HeaderParsingError) -> ImageInfo? {
        guard try bytes.has([0xFF, 0xD8, 0xFF]) else { return nil }
        var reader = JPEGProbe(JPEGSegments(bytes, work: work))
        defer { work = reader.segments.work }
        try reader.walk()
        guard var probe = reader.frame, [0xC0, 0xC1, 0xC2, 0xC9, 0xCA].contains(reader.frameMarker) else { return nil }
        probe.orientation = reader.orientation ?? .up
        probe.hasICCProfile = reader.iccBytes > 0
        probe.detail = reader.hasFineQuantization ? .fine : .ordinary
        return probe
    }

    private init(_ segments: JPEGSegments) { self.segments = segments }

    private mutating func walk() throws(HeaderParsingError) {
        while let segment = try segments.next() {
            try read(segment.marker, segment.content)
            try detail.add(segment.marker, segment.content)
        }
    }

    private mutating func read(_ marker: UInt8, _ segment: HeaderBytes) throws(HeaderParsingError) {
        switch marker {
        case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
            guard frame == nil else { return }
            frame = try Self.frame(marker, segment)
            frameMarker = marker
        case 0xDB:
            // The segment begins with the number of a table, whose upper half is 0 for steps of 8 bits.
            guard segment.declaredLength ?? 0 > 64, try segment.byte(at: 0) == 0 else { return }
            var sum = 0
            for index in 1...64 { sum += Int(try segment.byte(at: index)) }
            hasFineQuantization = sum < Self.fineSteps
        case 0xE1:
            guard orientation == nil, try segment.has("Exif\0") else { return }
            try segment.require(segment.declaredLength ?? 0, at: 0)
            orientation = ImageOrientation(exif: try segment.rest(from: 6))
        case 0xE2:
            guard try segment.has("ICC_PROFILE\0"), let count = segment.declaredLength, count >= 14,
                iccParts.insert(try segment.big16(at: 12)).inserted
            else { return }
            iccBytes += count - 14
            try HeaderParsingError.check(iccBytes, limit: HeaderBounds.iccBytes, "bytes of ICC profile data")
        default:
            return
        }
    }

    /// The sum of the steps below which a table is fine. The table of the standard has this sum at quality 97.
    private static let fineSteps = 220

    private static func frame(_ marker: UInt8, _ segment: HeaderBytes) throws(HeaderParsingError) -> ImageInfo {
        let depth = Int(try segment.byte(at: 0))
        let size = PixelSize(width: try segment.big16(at: 3), height: try segment.big16(at: 1))
        let components = Int(try segment.byte(at: 5))
        guard (2...16).contains(depth), components > 0, size.width > 0 else {
            throw .corrupt(.jpeg, "invalid frame header")
        }
        // The decoder reads rows of 8-bit samples. Extended JPEG files, such as medical images, may have 12 bits.
        guard depth == 8 else { throw .unsupported(.jpeg, "\(depth) bits per sample (the decoder supports 8)") }
        guard size.height > 0 else { throw .unsupported(.jpeg, "a height that is defined after the first scan (DNL)") }
        try segment.require(components * 3, at: 6)
        return ImageInfo(
            format: .jpeg, storedSize: size, bitDepth: depth, isProgressive: [0xC2, 0xC6, 0xCA, 0xCE].contains(marker),
            smallestFile: try smallestFile(marker, size, components, segment))
    }

    /// Sequential and progressive Huffman coding requires at least one bit for the DC coefficient of each block of
    /// each component. Arithmetic, lossless, and hierarchical coding have no such bound.
    private static func smallestFile(
        _ marker: UInt8, _ size: PixelSize, _ components: Int, _ segment: HeaderBytes
    ) throws(HeaderParsingError) -> Int {
        guard marker <= 0xC2 else { return 0 }
        var widest = 1
        var tallest = 1
        for index in 0..<components {
            let factors = Int(try segment.byte(at: 7 + index * 3))
            widest = max(widest, factors >> 4)
            tallest = max(tallest, factors & 15)
        }
        var blocks = 0
        for index in 0..<components {
            let factors = Int(try segment.byte(at: 7 + index * 3))
            let columns = (size.width * (factors >> 4) + widest * 8 - 1) / (widest * 8)
            let rows = (size.height * (factors & 15) + tallest * 8 - 1) / (tallest * 8)
            blocks += columns * rows
        }
        return blocks / 8
    }
}
