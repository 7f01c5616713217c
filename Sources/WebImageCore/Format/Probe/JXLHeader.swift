// SPDX-License-Identifier: MIT

/// The image header of a JPEG XL codestream (ISO/IEC 18181-1, annexes A and D).
struct JXLHeader {
    private(set) var size: PixelSize
    private(set) var orientation = ImageOrientation.up
    private(set) var depth = 8
    private(set) var hasAlpha = false
    private(set) var isAnimated = false
    private(set) var loops = 1
    private(set) var hasICCProfile = false
    /// The color space, or `nil` if an ICC profile describes it. Its primaries are 2 if code points don't describe them.
    private(set) var codePoints: ColorCodePoints? = .sRGB
    private(set) var extraChannels = 0
    /// The maximum number of extra channels that this type reads. The properties after them are unknown if there are
    /// more.
    static let maxExtraChannels = 16

    private var bits: BitReader

    /// Reads a codestream, starting with its signature FF 0A.
    init(_ codestream: [UInt8]) throws(BitReader.End) {
        bits = BitReader(codestream)
        size = PixelSize(width: 0, height: 0)
        try bits.skip(16)
        size = try readSize()
        // A set flag means that all values are defaults: 8 bits, sRGB, no orientation, and no alpha.
        guard try !bits.flag() else { return }
        if try bits.flag() { try readAdditionalHeaders() }
        depth = try readDepth()
        try bits.skip(1)
        let channels = try number((0, 0), (0, 1), (4, 2), (12, 1))
        extraChannels = channels
        guard channels <= Self.maxExtraChannels else {
            codePoints = nil
            return
        }
        for _ in 0..<channels { try readChannel() }
        try bits.skip(1)
        if try !bits.flag() { try readColors() }
    }

    private init(bits: BitReader) {
        self.bits = bits
        size = PixelSize(width: 0, height: 0)
    }

    /// Reads a `ColorEncoding` outside of a codestream. The result is `nil` if it's truncated or refers to a profile.
    static func codePoints(ofColorEncoding bytes: [UInt8]) -> ColorCodePoints? {
        var header = JXLHeader(bits: BitReader(bytes))
        do throws(BitReader.End) {
            // A set flag means sRGB.
            if try !header.bits.flag() { try header.readColors() }
            return header.codePoints
        } catch {
            return nil
        }
    }

    /// Reads a `ColorEncoding` (ISO/IEC 18181-1, annex E.2) that isn't the default one.
    private mutating func readColors() throws(BitReader.End) {
        hasICCProfile = try bits.flag()
        codePoints = nil
        let space = try enumeration()
        guard !hasICCProfile, space <= 1 else { return }
        let whitePoint = try enumeration()
        if whitePoint == 2 { try skipChromaticities(1) }
        // Gray has no primaries.
        var primaries = 1
        if space == 0 {
            primaries = try enumeration()
            if primaries == 2 { try skipChromaticities(3) }
        }
        let hasGamma = try bits.flag()
        let transfer = try hasGamma ? Self.transfer(gamma: bits.bits(24)) : enumeration()
        codePoints = ColorCodePoints(primaries: Self.primaries(primaries, whitePoint), transfer: transfer)
    }

    /// Returns the code point for primaries and a white point. Display P3 has the white point D65.
    private static func primaries(_ primaries: Int, _ whitePoint: Int) -> Int {
        switch (primaries, whitePoint) {
        case (1, 1): 1
        case (9, 1): 9
        case (11, 1): 12
        case (11, 11): 11
        default: 2
        }
    }

    /// Returns the code point for an exponent in units of 10⁻⁷.
    private static func transfer(gamma: Int) -> Int {
        switch gamma {
        case 4_545_000...4_546_000: 4
        case 3_571_000...3_572_000: 5
        case 10_000_000: 8
        default: 2
        }
    }

    /// Reads an `Enum` of annex B.
    private mutating func enumeration() throws(BitReader.End) -> Int { try number((0, 0), (0, 1), (4, 2), (6, 18)) }

    private mutating func skipChromaticities(_ count: Int) throws(BitReader.End) {
        for _ in 0..<count * 2 { _ = try number((19, 0), (19, 524_288), (20, 1_048_576), (21, 2_097_152)) }
    }

    /// Reads a `U32` of annex A. Two bits select the number of bits that follow and the offset to add.
    private mutating func number(
        _ first: (Int, Int), _ second: (Int, Int), _ third: (Int, Int), _ fourth: (Int, Int)
    ) throws(BitReader.End) -> Int {
        let choice = [first, second, third, fourth][try bits.bits(2)]
        return try bits.bits(choice.0) + choice.1
    }

    private mutating func readSize() throws(BitReader.End) -> PixelSize {
        let isSmall = try bits.flag()
        let height = try readDimension(isSmall)
        if let width = try readWidth(height: height) { return PixelSize(width: width, height: height) }
        return PixelSize(width: try readDimension(isSmall), height: height)
    }

    private mutating func readDimension(_ isSmall: Bool) throws(BitReader.End) -> Int {
        isSmall ? (try bits.bits(5) + 1) * 8 : try number((9, 1), (13, 1), (18, 1), (30, 1))
    }

    /// Reads the width if it's a ratio of the height.
    private mutating func readWidth(height: Int) throws(BitReader.End) -> Int? {
        let ratios = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]
        let choice = try bits.bits(3)
        return choice == 0 ? nil : height * ratios[choice - 1].0 / ratios[choice - 1].1
    }

    private mutating func readAdditionalHeaders() throws(BitReader.End) {
        orientation = ImageOrientation(rawValue: try bits.bits(3) + 1) ?? .up
        if try bits.flag() { _ = try readSize() }
        if try bits.flag() { try skipPreview() }
        isAnimated = try bits.flag()
        guard isAnimated else { return }
        _ = try number((0, 100), (0, 1_000), (10, 1), (30, 1))
        _ = try number((0, 1), (0, 1_001), (8, 1), (10, 1))
        loops = try number((0, 0), (3, 0), (16, 0), (32, 0))
        try bits.skip(1)
    }

    private mutating func skipPreview() throws(BitReader.End) {
        let isSmall = try bits.flag()
        let height = try readPreviewDimension(isSmall)
        if try readWidth(height: height) == nil { _ = try readPreviewDimension(isSmall) }
    }

    private mutating func readPreviewDimension(_ isSmall: Bool) throws(BitReader.End) -> Int {
        isSmall
            ? try number((0, 16), (0, 32), (5, 1), (9, 33)) : try number((6, 1), (8, 65), (10, 321), (12, 1_345))
    }

    private mutating func readDepth() throws(BitReader.End) -> Int {
        guard try bits.flag() else { return try number((0, 8), (0, 10), (0, 12), (6, 1)) }
        let depth = try number((0, 32), (0, 16), (0, 24), (6, 1))
        try bits.skip(4)
        return depth
    }

    private mutating func readChannel() throws(BitReader.End) {
        if try bits.flag() {
            hasAlpha = true
            return
        }
        let kind = try enumeration()
        _ = try readDepth()
        _ = try number((0, 0), (0, 3), (0, 4), (3, 1))
        try bits.skip(try number((0, 0), (4, 0), (5, 16), (10, 48)) * 8)
        switch kind {
        case 0:
            hasAlpha = true
            try bits.skip(1)
        case 2: try bits.skip(4 * 16)
        case 5: _ = try number((0, 1), (2, 0), (4, 3), (8, 19))
        default: break
        }
    }
}
