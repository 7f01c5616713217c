// SPDX-License-Identifier: MIT

/// A parser for the chunks of a PNG file (W3C PNG, third edition, sections 5, 11, and 12).
struct PNGProbe {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private let bytes: HeaderBytes
    private var probe: ImageInfo
    private var seenData = false
    private var seenEnd = false
    private var textChunks = 0
    /// The number of control chunks of animation frames.
    private var frames = 0

    /// Reads the available chunks after the image data, too. Encoders write wrong numbers of frames into `acTL`, so
    /// this function counts the frames, as for GIF.
    static func read(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageInfo {
        var reader = try PNGProbe(bytes)
        var isWhole = true
        do {
            try reader.walk()
        } catch {
            if case .failed = error { throw error }
            guard reader.seenData else { throw error }
            isWhole = bytes.isComplete
        }
        reader.probe.isTruncated = bytes.isComplete && !reader.seenEnd
        if reader.probe.format == .apng {
            reader.probe.frameCount = max(1, reader.frames)
            reader.probe.frameCountIsExact = isWhole
        }
        return reader.probe
    }

    /// Returns whether the file is animated. With an invalid header or invalid chunks, it isn't, because decoders then
    /// use the still image.
    static func isAnimated(_ bytes: HeaderBytes) -> Bool {
        do throws(HeaderParsingError) {
            var reader = try PNGProbe(bytes)
            do throws(HeaderParsingError) { try reader.walk() } catch { return reader.probe.format == .apng }
            return reader.probe.format == .apng
        } catch {
            return false
        }
    }

    private init(_ bytes: HeaderBytes) throws(HeaderParsingError) {
        self.bytes = bytes
        let first = try FourCC(bytes, at: 12)
        guard first != "CgBI" else { throw .unsupported(.png, "Apple's CgBI variant") }
        guard first == "IHDR", try bytes.big32(at: 8) == 13 else { throw .corrupt(.png, "the IHDR chunk is missing") }
        // The checksum isn't verified, because an image whose checksums are wrong is shown. Wait for it nevertheless.
        try bytes.require(4, at: 29)
        let size = PixelSize(width: try bytes.big32(at: 16), height: try bytes.big32(at: 20))
        let depth = Int(try bytes.byte(at: 24))
        let colour = try bytes.byte(at: 25)
        let interlace = try bytes.byte(at: 28)
        guard (1...0x7FFF_FFFF).contains(size.width), (1...0x7FFF_FFFF).contains(size.height) else {
            throw .corrupt(.png, "invalid size \(size)")
        }
        guard let channels = Self.channels(colorType: colour, bitDepth: depth), interlace <= 1,
            try bytes.big16(at: 26) == 0
        else { throw .corrupt(.png, "invalid IHDR chunk") }
        probe = ImageInfo(
            format: .png, storedSize: size, bitDepth: depth, hasAlpha: colour & 4 != 0, isProgressive: interlace == 1,
            smallestFile: Self.smallestFile(size, bitsPerPixel: channels * depth))
    }

    private mutating func walk() throws(HeaderParsingError) {
        var offset = 33
        var count = 1
        while true {
            let length = try bytes.big32(at: offset)
            let name = try FourCC(bytes, at: offset + 4)
            guard length <= 0x7FFF_FFFF else { throw .corrupt(.png, "invalid chunk length") }
            count += 1
            try HeaderParsingError.check(count, limit: HeaderBounds.pngChunks, "PNG chunks")
            if name == "IEND" {
                seenEnd = true
                break
            }
            try read(name, at: offset + 8, length: length)
            offset += length + 12
        }
        guard seenData else { throw .corrupt(.png, "the image data is missing") }
    }

    private mutating func read(_ name: FourCC, at offset: Int, length: Int) throws(HeaderParsingError) {
        switch name {
        case "IDAT":
            seenData = true
        case "acTL":
            guard !seenData, probe.format == .png, length == 8 else { return }
            let (frames, plays) = (try bytes.big32(at: offset), try bytes.big32(at: offset + 4))
            guard (1...0x7FFF_FFFF).contains(frames), plays <= 0x7FFF_FFFF else { return }
            probe.format = .apng
            probe.loopCount = plays
        case "fcTL":
            if probe.format == .apng { frames += 1 }
        case "tRNS":
            probe.hasAlpha = probe.hasAlpha || !seenData
        case "iCCP":
            try HeaderParsingError.check(length, limit: HeaderBounds.iccBytes, "bytes of ICC profile data")
            probe.hasICCProfile = probe.hasICCProfile || !seenData
        case "cICP":
            guard !seenData, length == 4, try isIntact(at: offset, length: length) else { return }
            probe.codePoints = ColorCodePoints(
                primaries: Int(try bytes.byte(at: offset)), transfer: Int(try bytes.byte(at: offset + 1)))
        case "eXIf":
            try HeaderParsingError.check(length, limit: HeaderBounds.exifBytes, "bytes of EXIF data")
            try bytes.require(length, at: offset)
            probe.orientation = ImageOrientation(exif: try bytes.part(at: offset, length: length))
        case "tEXt", "zTXt", "iTXt":
            textChunks += 1
            try HeaderParsingError.check(textChunks, limit: HeaderBounds.textChunks, "PNG text chunks")
        default:
            return
        }
    }

    private func isIntact(at offset: Int, length: Int) throws(HeaderParsingError) -> Bool {
        let stored = UInt32(truncatingIfNeeded: try bytes.big32(at: offset + length))
        return try CRC32.value(bytes, at: offset - 4, count: length + 4) == stored
    }

    /// Returns the number of samples per pixel, or `nil` for a combination that isn't in table 8 of the standard.
    private static func channels(colorType: UInt8, bitDepth: Int) -> Int? {
        switch (colorType, bitDepth) {
        case (0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (3, 1), (3, 2), (3, 4), (3, 8): 1
        case (2, 8), (2, 16): 3
        case (4, 8), (4, 16): 2
        case (6, 8), (6, 16): 4
        default: nil
        }
    }

    /// Deflate produces at most 1,032 bytes from one byte (a match of 258 bytes in two bits, RFC 1951). The 57 bytes
    /// are the signature and the framing of IHDR, IDAT, and IEND. Interlacing only adds filter bytes.
    private static func smallestFile(_ size: PixelSize, bitsPerPixel: Int) -> Int {
        let row = (size.width * bitsPerPixel + 7) / 8 + 1
        let (raw, overflow) = row.multipliedReportingOverflow(by: size.height)
        return overflow ? .max : raw / 1_032 + 57
    }
}
