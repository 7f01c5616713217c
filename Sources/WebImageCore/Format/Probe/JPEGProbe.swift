// SPDX-License-Identifier: MIT

/// A parser for the marker segments of a JPEG file before its first scan (ITU-T T.81, annex B).
struct JPEGProbe {
    private let bytes: HeaderBytes
    private var frame: ImageInfo?
    private var frameMarker: UInt8 = 0
    private var orientation: ImageOrientation?
    private var iccBytes = 0
    private var work = Work()

    /// The parts that a parser has passed. All JPEG files that are embedded in one file share it.
    struct Work {
        fileprivate var segments = 0
        fileprivate var strayBytes = 0
        /// The maximum number of segments, or `nil` if only the size of the file limits it.
        private let maxSegments: Int?

        init(maxSegments: Int? = nil) { self.maxSegments = maxSegments }

        fileprivate mutating func passSegment() throws(HeaderParsingError) {
            segments += 1
            guard let maxSegments else { return }
            try HeaderParsingError.check(segments, limit: maxSegments, "segments of embedded JPEG files")
        }

        fileprivate mutating func passStrayBytes(_ count: Int) throws(HeaderParsingError) {
            strayBytes += count
            guard strayBytes < HeaderBounds.strayBytes else {
                throw .corrupt(.jpeg, "more than \(HeaderBounds.strayBytes) bytes between segments")
            }
        }
    }

    /// Reads the properties of a JPEG file from the segments before its first scan.
    static func read(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageInfo {
        var reader = JPEGProbe(bytes: bytes)
        do {
            try reader.walk()
        } catch {
            // After the frame header, wait for missing segments, but ignore invalid ones in a complete file.
            guard bytes.isComplete, reader.frame != nil else { throw error }
            if case .failed(.limitExceeded) = error { throw error }
        }
        guard var probe = reader.frame else { throw .corrupt(.jpeg, "there is no frame header before the first scan") }
        probe.orientation = reader.orientation ?? .up
        probe.hasICCProfile = reader.iccBytes > 0
        return probe
    }

    /// Reads the properties of a JPEG file that's embedded in another file. The result is `nil` if libjpeg doesn't
    /// support the coding process, which is the case for the lossless JPEG data of camera RAW files.
    ///
    /// - Parameters:
    ///   - bytes: The JPEG file.
    ///   - work: The parts of all embedded files that were passed, to which the parts of this file are added.
    /// - Throws: An error of the parser, also if the work exceeds its limits.
    static func embedded(_ bytes: HeaderBytes, work: inout Work) throws(HeaderParsingError) -> ImageInfo? {
        guard try bytes.has([0xFF, 0xD8, 0xFF]) else { return nil }
        var reader = JPEGProbe(bytes: bytes)
        reader.work = work
        defer { work = reader.work }
        try reader.walk()
        guard var probe = reader.frame, [0xC0, 0xC1, 0xC2, 0xC9, 0xCA].contains(reader.frameMarker) else { return nil }
        probe.orientation = reader.orientation ?? .up
        probe.hasICCProfile = reader.iccBytes > 0
        return probe
    }

    private init(bytes: HeaderBytes) { self.bytes = bytes }

    private mutating func walk() throws(HeaderParsingError) {
        var offset = 2
        while true {
            let marker = try nextMarker(&offset)
            try work.passSegment()
            switch marker {
            case 0x01, 0xD0...0xD8:
                continue
            case 0xD9, 0xDA:
                return
            default:
                let length = try bytes.big16(at: offset)
                guard length >= 2 else { throw .corrupt(.jpeg, "invalid segment length") }
                try read(marker, try bytes.part(at: offset + 2, length: length - 2))
                offset += length
            }
        }
    }

    /// Returns the code of the next marker and moves `offset` past it. Like decoders, this function skips stray bytes.
    private mutating func nextMarker(_ offset: inout Int) throws(HeaderParsingError) -> UInt8 {
        while true {
            while try bytes.byte(at: offset) != 0xFF { try skip(&offset) }
            offset += 1
            while try bytes.byte(at: offset) == 0xFF { try skip(&offset) }
            let code = try bytes.byte(at: offset)
            offset += 1
            guard code == 0 else { return code }
            try work.passStrayBytes(2)
        }
    }

    private mutating func skip(_ offset: inout Int) throws(HeaderParsingError) {
        try work.passStrayBytes(1)
        offset += 1
    }

    private mutating func read(_ marker: UInt8, _ segment: HeaderBytes) throws(HeaderParsingError) {
        switch marker {
        case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
            guard frame == nil else { return }
            frame = try Self.frame(marker, segment)
            frameMarker = marker
        case 0xE1:
            guard orientation == nil, try segment.has("Exif\0") else { return }
            try segment.require(segment.declaredLength ?? 0, at: 0)
            orientation = ImageOrientation(exif: try segment.rest(from: 6))
        case 0xE2:
            guard try segment.has("ICC_PROFILE\0") else { return }
            iccBytes += max(0, (segment.declaredLength ?? 0) - 14)
            try HeaderParsingError.check(iccBytes, limit: HeaderBounds.iccBytes, "bytes of ICC profile data")
        default:
            return
        }
    }

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

    /// Returns the minimum file size.
    ///
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
