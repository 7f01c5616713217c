// SPDX-License-Identifier: MIT

/// A parser for the blocks of a GIF (GIF89a specification).
struct GIFProbe {
    private let bytes: HeaderBytes
    private var offset: Int
    private var probe: ImageInfo
    private var frames = 0

    /// Reads the properties of a GIF up to its first frame, and counts the other frames that are available.
    static func read(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageInfo {
        var reader = try GIFProbe(bytes)
        do {
            try reader.walk()
            reader.probe.frameCountIsExact = true
            let hasTrailer = try reader.hasTrailer()
            reader.probe.isTruncated = bytes.isComplete && !hasTrailer
        } catch {
            guard reader.frames > 0 else { throw error }
            reader.probe.frameCountIsExact = bytes.isComplete
            reader.probe.isTruncated = bytes.isComplete
        }
        guard reader.frames > 0 else { throw .corrupt(.gif, "it contains no frames") }
        reader.probe.frameCount = reader.frames
        return reader.probe
    }

    private init(_ bytes: HeaderBytes) throws(HeaderParsingError) {
        self.bytes = bytes
        let size = PixelSize(width: try bytes.little16(at: 6), height: try bytes.little16(at: 8))
        offset = 13 + Self.tableBytes(try bytes.byte(at: 10))
        probe = ImageInfo(format: .gif, storedSize: size)
    }

    private static func tableBytes(_ flags: UInt8) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1)
    }

    private mutating func walk() throws(HeaderParsingError) {
        while true {
            switch try bytes.byte(at: offset) {
            case 0x2C: try readFrame()
            case 0x21: try readExtension()
            // This is the trailer, or invalid data after which no decoder could continue.
            default: return
            }
        }
    }

    /// Returns whether the blocks or the file end with a trailer. Decoders skip stray bytes between blocks.
    private func hasTrailer() throws(HeaderParsingError) -> Bool {
        let last = try bytes.byte(at: max(0, bytes.available - 1))
        return try bytes.byte(at: offset) == 0x3B || last == 0x3B
    }

    private mutating func readFrame() throws(HeaderParsingError) {
        let size = PixelSize(width: try bytes.little16(at: offset + 5), height: try bytes.little16(at: offset + 7))
        let flags = try bytes.byte(at: offset + 9)
        if frames == 0 {
            let right = try bytes.little16(at: offset + 1) + size.width
            let bottom = try bytes.little16(at: offset + 3) + size.height
            try setCanvas(first: size, right: right, bottom: bottom)
            probe.isProgressive = flags & 0x40 != 0
        }
        frames += 1
        offset += 10 + Self.tableBytes(flags) + 1
        try skipBlocks()
    }

    /// Sets the canvas size. If the first frame extends beyond the logical screen, whose sides may be zero, the canvas
    /// is enlarged.
    ///
    /// Later frames are cropped. Chromium, Pillow, and libnsgif behave in the same way.
    private mutating func setCanvas(first: PixelSize, right: Int, bottom: Int) throws(HeaderParsingError) {
        probe.storedSize.width = max(probe.storedSize.width, right)
        probe.storedSize.height = max(probe.storedSize.height, bottom)
        guard !probe.storedSize.isEmpty else { throw .corrupt(.gif, "a side has zero pixels") }
        // A code of 12 bits represents at most 4,096 pixels, so a byte produces at most 2,731 pixels.
        probe.smallestFile = first.width * first.height / 2_731 + 13
    }

    private mutating func readExtension() throws(HeaderParsingError) {
        let label = try bytes.byte(at: offset + 1)
        let size = try bytes.byte(at: offset + 2)
        if label == 0xF9, size >= 4, try bytes.byte(at: offset + 3) & 1 == 1 {
            probe.hasAlpha = true
        }
        if label == 0xFF, size == 11, try bytes.has(anyOf: ["NETSCAPE2.0", "ANIMEXTS1.0"], at: offset + 3) {
            offset += 14
            return try readLoop()
        }
        offset += 2
        try skipBlocks()
    }

    /// Reads the sub-blocks of the looping extension. The one that begins with 1 contains the number of repetitions, and
    /// another one may precede it.
    private mutating func readLoop() throws(HeaderParsingError) {
        while true {
            let size = Int(try bytes.byte(at: offset))
            if size >= 3, try bytes.byte(at: offset + 1) & 7 == 1 {
                probe.loopCount = GIFLoopCount.plays(stored: try bytes.little16(at: offset + 2))
            }
            offset += size + 1
            if size == 0 { return }
        }
    }

    private mutating func skipBlocks() throws(HeaderParsingError) {
        while true {
            let size = Int(try bytes.byte(at: offset))
            offset += size + 1
            if size == 0 { return }
        }
    }
}
