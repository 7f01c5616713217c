// SPDX-License-Identifier: MIT

import Foundation

extension GainMapMetadata {
    /// The bits of the flags (ISO 21496-1, annex C). libultrahdr defines the last two.
    private enum Flag {
        static let isMultichannel = 0x80
        static let usesBaseColorSpace = 0x40
        static let hasCommonDenominator = 0x08
        static let isReversed = 0x04
    }

    /// The denominator of the fractions that this library writes, which keeps six decimal places.
    private static let denominator = 1_000_000.0

    /// Reads the binary metadata of ISO 21496-1, which begin with the minimum version.
    ///
    /// - Returns: The metadata, or `nil` if they're truncated, require a later version, or contain invalid numbers.
    package init?(iso bytes: UnsafeRawBufferPointer) {
        do throws(HeaderParsingError) {
            try self.init(iso: HeaderBytes(bytes, isComplete: true))
        } catch {
            return nil
        }
    }

    /// Reads the binary metadata of a `tmap` item, which begin with the version of the item.
    init?(toneMapItem bytes: [UInt8]) {
        guard bytes.first == 0 else { return nil }
        let metadata = bytes.dropFirst().withUnsafeBytes { GainMapMetadata(iso: $0) }
        guard let metadata else { return nil }
        self = metadata
    }

    private init?(iso bytes: HeaderBytes) throws(HeaderParsingError) {
        // Files with a later writer version may contain additional bytes, but they're compatible.
        guard try bytes.big16(at: 0) == 0 else { return nil }
        let flags = Int(try bytes.byte(at: 4))
        var numbers = FractionReader(bytes: bytes, offset: 5)
        if flags & Flag.hasCommonDenominator != 0 { try numbers.readCommonDenominator() }
        self.init(gainMax: 0, alternateHeadroom: 0)
        baseHeadroom = try numbers.next()
        alternateHeadroom = try numbers.next()
        let channels = flags & Flag.isMultichannel != 0 ? 3 : 1
        for channel in 0..<channels {
            gainMin[channel] = try numbers.nextSigned()
            gainMax[channel] = try numbers.nextSigned()
            gamma[channel] = try numbers.next()
            baseOffset[channel] = try numbers.nextSigned()
            alternateOffset[channel] = try numbers.nextSigned()
        }
        if channels == 1 { repeatFirstChannel() }
        if flags & Flag.isReversed != 0 { swap(&baseHeadroom, &alternateHeadroom) }
        usesBaseColorSpace = flags & Flag.usesBaseColorSpace != 0
        guard isValid else { return nil }
    }

    private mutating func repeatFirstChannel() {
        gainMin = SIMD3(repeating: gainMin.x)
        gainMax = SIMD3(repeating: gainMax.x)
        gamma = SIMD3(repeating: gamma.x)
        baseOffset = SIMD3(repeating: baseOffset.x)
        alternateOffset = SIMD3(repeating: alternateOffset.x)
    }

    /// Whether all channels have the same values.
    package var isUniform: Bool {
        let values: [SIMD3<Double>] = [gainMin, gainMax, gamma, baseOffset, alternateOffset]
        return values.allSatisfy { $0 == SIMD3(repeating: $0.x) }
    }

    /// The binary metadata of ISO 21496-1, beginning with the minimum version.
    package var isoBytes: [UInt8] {
        var bytes: [UInt8] = [0, 0, 0, 0]
        let channels = isUniform ? 1 : 3
        bytes.append(
            UInt8((channels == 3 ? Flag.isMultichannel : 0) | (usesBaseColorSpace ? Flag.usesBaseColorSpace : 0)))
        func append(_ value: Double) {
            let numerator = Int32(clamping: Int((value * Self.denominator).rounded()))
            for number in [UInt32(bitPattern: numerator), UInt32(Self.denominator)] {
                withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
            }
        }
        append(baseHeadroom)
        append(alternateHeadroom)
        for channel in 0..<channels {
            for value in [gainMin, gainMax, gamma, baseOffset, alternateOffset] { append(value[channel]) }
        }
        return bytes
    }
}

/// A reader for fractions with denominators of their own, or with a common denominator.
private struct FractionReader {
    let bytes: HeaderBytes
    var offset: Int
    private var common: Double?

    init(bytes: HeaderBytes, offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    mutating func readCommonDenominator() throws(HeaderParsingError) {
        common = Double(try bytes.big32(at: offset))
        offset += 4
    }

    mutating func next() throws(HeaderParsingError) -> Double { try divided(Double(try number())) }

    mutating func nextSigned() throws(HeaderParsingError) -> Double {
        try divided(Double(Int32(truncatingIfNeeded: try number())))
    }

    private mutating func number() throws(HeaderParsingError) -> Int {
        defer { offset += 4 }
        return try bytes.big32(at: offset)
    }

    /// Returns the fraction. If the denominator is 0, the result isn't finite, so the metadata are invalid.
    private mutating func divided(_ numerator: Double) throws(HeaderParsingError) -> Double {
        if let common { return numerator / common }
        return numerator / Double(try number())
    }
}
