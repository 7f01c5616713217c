// SPDX-License-Identifier: MIT

/// A parser for the chunks of a WebP file (RFC 9649).
struct WebPProbe {
    private let bytes: HeaderBytes
    private var probe = ImageProbe(format: .webp, rawSize: PixelSize(width: 0, height: 0))
    private var isAnimated = false
    private var frames = 0
    /// Whether the essential properties are known. Later chunks can only refine them.
    private var isReady = false

    /// Reads the properties of a WebP file, including the available frames and EXIF data after the first image.
    static func read(_ bytes: HeaderBytes) throws(ProbeStop) -> ImageProbe {
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

    private mutating func walk() throws(ProbeStop) {
        let end = try bytes.little32(at: 4) + 8
        var offset = 12
        while offset + 8 <= end {
            let name = try FourCC(bytes, at: offset)
            let length = try bytes.little32(at: offset + 4)
            // A still image without an extended header consists of a single chunk.
            if try take(name, try bytes.part(at: offset + 8, length: length)) { return }
            offset += 8 + length + length & 1
        }
    }

    /// Adds a chunk.
    ///
    /// - Returns: Whether the remaining chunks don't matter.
    private mutating func take(_ name: FourCC, _ chunk: HeaderBytes) throws(ProbeStop) -> Bool {
        switch name {
        case "VP8X": try takeExtended(chunk)
        case "VP8 ", "VP8L":
            let isPlain = probe.rawSize.width == 0
            if isPlain { try name == "VP8 " ? takeLossy(chunk) : takeLossless(chunk) }
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
            try ProbeStop.check(chunk.declaredLength ?? 0, limit: ProbeBounds.iccBytes, "bytes of ICC profile data")
            probe.hasICCProfile = true
        case "EXIF":
            let length = chunk.declaredLength ?? 0
            try ProbeStop.check(length, limit: ProbeBounds.exifBytes, "bytes of EXIF data")
            try chunk.require(length, at: 0)
            probe.orientation = Orientation(exif: chunk)
        default: break
        }
        return false
    }

    private mutating func takeExtended(_ chunk: HeaderBytes) throws(ProbeStop) {
        guard probe.rawSize.width == 0 else { return }
        let flags = try chunk.byte(at: 0)
        isAnimated = flags & 0x02 != 0
        probe.hasAlpha = flags & 0x10 != 0
        probe.hasICCProfile = flags & 0x20 != 0
        probe.rawSize = PixelSize(
            width: try chunk.number(at: 4, 3, .little) + 1, height: try chunk.number(at: 7, 3, .little) + 1)
        guard probe.rawSize.width * probe.rawSize.height <= 0xFFFF_FFFF else {
            throw .corrupt(.webp, "invalid canvas size \(probe.rawSize)")
        }
        // The loop count is in one of the next two chunks, so wait for it if the image is animated.
        if isAnimated { probe.loopCount = 0 }
        isReady = !isAnimated
    }

    /// Reads the frame header of a key frame (RFC 6386, section 9.1).
    private mutating func takeLossy(_ chunk: HeaderBytes) throws(ProbeStop) {
        guard try chunk.byte(at: 0) & 1 == 0, try chunk.has([0x9D, 0x01, 0x2A], at: 3) else {
            throw .corrupt(.webp, "the first frame isn't a key frame")
        }
        probe.rawSize = PixelSize(
            width: try chunk.little16(at: 6) & 0x3FFF, height: try chunk.little16(at: 8) & 0x3FFF)
        guard !probe.rawSize.isEmpty else { throw .corrupt(.webp, "a side has zero pixels") }
    }

    private mutating func takeLossless(_ chunk: HeaderBytes) throws(ProbeStop) {
        guard try chunk.byte(at: 0) == 0x2F else { throw .corrupt(.webp, "the lossless signature is missing") }
        let header = try chunk.little32(at: 1)
        guard header >> 29 == 0 else { throw .corrupt(.webp, "unknown version of the lossless format") }
        probe.rawSize = PixelSize(width: header & 0x3FFF + 1, height: header >> 14 & 0x3FFF + 1)
        probe.hasAlpha = header >> 28 & 1 == 1
    }
}
