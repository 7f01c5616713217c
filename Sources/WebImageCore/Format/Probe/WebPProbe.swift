// SPDX-License-Identifier: MIT

/// A parser for the chunks of a WebP file (RFC 9649).
struct WebPProbe {
    private let bytes: HeaderBytes
    private var probe = ImageInfo(format: .webp, storedSize: PixelSize(width: 0, height: 0))
    private var isAnimated = false
    private var frames = 0
    /// Whether the essential properties are known. Later chunks can only refine them.
    private var isReady = false

    /// Reads the properties of a WebP file, including the available frames and EXIF data after the first image.
    static func read(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageInfo {
        var reader = WebPProbe(bytes: bytes)
        var ended = true
        do {
            try reader.walk()
        } catch {
            if case .failed = error { throw error }
            guard reader.isReady else { throw error }
            ended = bytes.isComplete
        }
        guard reader.isReady else { throw .corrupt(.webp, "it contains no images") }
        if reader.isAnimated {
            reader.probe.frameCount = max(1, reader.frames)
            reader.probe.frameCountIsExact = ended
        }
        return reader.probe
    }

    private init(bytes: HeaderBytes) { self.bytes = bytes }

    private mutating func walk() throws(HeaderParsingError) {
        let end = try bytes.little32(at: 4) + 8
        var offset = 12
        while offset + 8 <= end {
            let name = try FourCC(bytes, at: offset)
            let length = try bytes.little32(at: offset + 4)
            // A still image without an extended header consists of a single chunk.
            if try read(name, try bytes.part(at: offset + 8, length: length)) { return }
            offset += 8 + length + length & 1
        }
    }

    /// Adds a chunk, and returns whether the remaining chunks don't matter.
    private mutating func read(_ name: FourCC, _ chunk: HeaderBytes) throws(HeaderParsingError) -> Bool {
        switch name {
        case "VP8X": try readExtended(chunk)
        case "VP8 ", "VP8L":
            let isPlain = probe.storedSize.width == 0
            if isPlain { try name == "VP8 " ? readLossy(chunk) : readLossless(chunk) }
            probe.isLosslessWebP = name == "VP8L"
            isReady = true
            return isPlain
        case "ALPH": probe.hasAlpha = true
        case "ANIM":
            guard isAnimated, frames == 0 else { return false }
            probe.loopCount = try chunk.little16(at: 4)
            isReady = true
        case "ANMF":
            frames += 1
            isReady = true
        case "ICCP":
            try HeaderParsingError.check(
                chunk.declaredLength ?? 0, limit: HeaderBounds.iccBytes, "bytes of ICC profile data")
            probe.hasICCProfile = true
        case "EXIF":
            let length = chunk.declaredLength ?? 0
            try HeaderParsingError.check(length, limit: HeaderBounds.exifBytes, "bytes of EXIF data")
            try chunk.require(length, at: 0)
            probe.orientation = ImageOrientation(exif: chunk)
        default: break
        }
        return false
    }

    private mutating func readExtended(_ chunk: HeaderBytes) throws(HeaderParsingError) {
        guard probe.storedSize.width == 0 else { return }
        let flags = try chunk.byte(at: 0)
        isAnimated = flags & 0x02 != 0
        probe.hasAlpha = flags & 0x10 != 0
        probe.hasICCProfile = flags & 0x20 != 0
        probe.storedSize = PixelSize(
            width: try chunk.number(at: 4, 3, .little) + 1, height: try chunk.number(at: 7, 3, .little) + 1)
        guard probe.storedSize.width * probe.storedSize.height <= 0xFFFF_FFFF else {
            throw .corrupt(.webp, "invalid canvas size \(probe.storedSize)")
        }
        // The loop count is in one of the next two chunks, so wait for it if the image is animated.
        if isAnimated { probe.loopCount = 0 }
        isReady = !isAnimated
    }

    /// Reads the frame header of a key frame (RFC 6386, section 9.1).
    private mutating func readLossy(_ chunk: HeaderBytes) throws(HeaderParsingError) {
        guard try chunk.byte(at: 0) & 1 == 0, try chunk.has([0x9D, 0x01, 0x2A], at: 3) else {
            throw .corrupt(.webp, "the first frame isn't a key frame")
        }
        probe.storedSize = PixelSize(
            width: try chunk.little16(at: 6) & 0x3FFF, height: try chunk.little16(at: 8) & 0x3FFF)
        guard !probe.storedSize.isEmpty else { throw .corrupt(.webp, "a side has zero pixels") }
    }

    private mutating func readLossless(_ chunk: HeaderBytes) throws(HeaderParsingError) {
        guard try chunk.byte(at: 0) == 0x2F else { throw .corrupt(.webp, "the lossless signature is missing") }
        let header = try chunk.little32(at: 1)
        guard header >> 29 == 0 else { throw .corrupt(.webp, "unknown version of the lossless format") }
        probe.storedSize = PixelSize(width: header & 0x3FFF + 1, height: header >> 14 & 0x3FFF + 1)
        probe.hasAlpha = header >> 28 & 1 == 1
    }
}
