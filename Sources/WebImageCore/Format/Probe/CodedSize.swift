// SPDX-License-Identifier: MIT

/// The size that a video decoder allocates for an image, regardless of the size in the properties of the item.
///
/// The size is part of the sequence parameter set of HEVC and of the sequence header of AV1.
enum CodedSize {
    /// The number of bytes of a parameter set that can contain the size.
    static let prefixBytes = 320

    /// Returns the size in an HEVC NAL unit, or `nil` if it isn't a valid sequence parameter set (ITU-T H.265, sections
    /// 7.3.1.2, 7.3.2.2, and 7.3.3).
    ///
    /// - Parameter unit: The beginning of the unit, up to ``prefixBytes`` bytes.
    static func hevc(_ unit: [UInt8]) -> PixelSize? {
        // Parameter sets of other layers have another syntax, and decoders ignore them.
        guard unit.count > 2, unit[0] >> 1 & 63 == 33, unit[0] & 1 == 0, unit[1] >> 3 == 0 else { return nil }
        var reader = BigEndianBitReader(withoutEmulationPrevention(unit.dropFirst(2)))
        do throws(BigEndianBitReader.End) {
            try reader.skip(4)
            let layers = try reader.bits(3)
            try reader.skip(1 + 96)
            var presence: [(profile: Bool, level: Bool)] = []
            for _ in 0..<layers { presence.append((try reader.flag(), try reader.flag())) }
            if layers > 0 { try reader.skip((8 - layers) * 2) }
            for layer in presence { try reader.skip((layer.profile ? 88 : 0) + (layer.level ? 8 : 0)) }
            _ = try reader.exponential()
            if try reader.exponential() == 3 { try reader.skip(1) }
            return PixelSize(width: try reader.exponential(), height: try reader.exponential())
        } catch {
            return nil
        }
    }

    /// Returns the data of a NAL unit without the bytes that prevent start codes (ITU-T H.265, section 7.3.1.1).
    private static func withoutEmulationPrevention(_ unit: ArraySlice<UInt8>) -> [UInt8] {
        var data: [UInt8] = []
        var zeros = 0
        for byte in unit {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            data.append(byte)
        }
        return data
    }

    /// Returns the size in the payload of an AV1 sequence header, or `nil` if the header isn't valid (AV1 Bitstream and
    /// Decoding Process Specification, section 5.5).
    static func av1(_ payload: [UInt8]) -> PixelSize? {
        var reader = BigEndianBitReader(payload)
        do throws(BigEndianBitReader.End) {
            try reader.skip(4)
            if try reader.flag() {
                try reader.skip(5)
            } else {
                try skipOperatingPoints(&reader)
            }
            let widthBits = try reader.bits(4) + 1
            let heightBits = try reader.bits(4) + 1
            return PixelSize(width: try reader.bits(widthBits) + 1, height: try reader.bits(heightBits) + 1)
        } catch {
            return nil
        }
    }

    private static func skipOperatingPoints(_ reader: inout BigEndianBitReader) throws(BigEndianBitReader.End) {
        var delayBits: Int?
        if try reader.flag() {
            try reader.skip(64)
            if try reader.flag() { _ = try reader.exponential() }
            if try reader.flag() {
                delayBits = try reader.bits(5) + 1
                try reader.skip(32 + 5 + 5)
            }
        }
        let hasDisplayDelay = try reader.flag()
        let points = try reader.bits(5) + 1
        for _ in 0..<points {
            try reader.skip(12)
            if try reader.bits(5) > 7 { try reader.skip(1) }
            if let delayBits, try reader.flag() { try reader.skip(delayBits * 2 + 1) }
            if hasDisplayDelay, try reader.flag() { try reader.skip(4) }
        }
    }

    /// Returns the largest size in a configuration box (`hvcC`: ISO/IEC 14496-15, section 8.3.3; `av1C`: AV1-ISOBMFF,
    /// section 2.3), or `nil` if it contains none.
    static func largest(in box: BoxList.Box) throws(HeaderParsingError) -> PixelSize? {
        switch box.name {
        case "hvcC": try largestHEVC(box.content)
        case "av1C": try largestAV1(box.content)
        default: nil
        }
    }

    private static func largestHEVC(_ box: HeaderBytes) throws(HeaderParsingError) -> PixelSize? {
        guard let end = box.declaredLength, end > 23 else { return nil }
        var largest: PixelSize?
        var offset = 23
        for _ in 0..<Int(try box.byte(at: 22)) {
            guard offset + 3 <= end else { break }
            let units = try box.big16(at: offset + 1)
            offset += 3
            for _ in 0..<units {
                guard offset + 2 <= end else { return largest }
                let length = min(try box.big16(at: offset), end - offset - 2)
                let unit = try box.withBytes(min(length, prefixBytes), at: offset + 2) { Array($0) }
                largest = larger(largest, hevc(unit))
                offset += 2 + length
            }
        }
        return largest
    }

    private static func largestAV1(_ box: HeaderBytes) throws(HeaderParsingError) -> PixelSize? {
        guard let end = box.declaredLength, end > 4 else { return nil }
        var largest: PixelSize?
        var offset = 4
        while offset < end {
            let header = try box.withBytes(min(AV1Units.headerBytes, end - offset), at: offset) { Array($0) }
            guard let unit = AV1Units.next(header, remaining: end - offset) else { break }
            if unit.isSequenceHeader {
                let count = min(unit.length, prefixBytes)
                largest = larger(largest, av1(try box.withBytes(count, at: offset + unit.start) { Array($0) }))
            }
            offset += unit.start + unit.length
        }
        return largest
    }

    static func larger(_ left: PixelSize?, _ right: PixelSize?) -> PixelSize? {
        guard let left, let right else { return left ?? right }
        return left.area ?? .max >= right.area ?? .max ? left : right
    }
}

/// A parser for the headers of consecutive AV1 units (OBUs; AV1 Bitstream and Decoding Process Specification, section
/// 5.3).
enum AV1Units {
    /// The maximum size of a header: the type, the extension, and a length of eight bytes.
    static let headerBytes = 10

    /// The header of a unit.
    struct Unit {
        /// The number of bytes before the payload.
        var start: Int
        /// The size of the payload, in bytes.
        var length: Int
        var isSequenceHeader: Bool
    }

    /// Returns the unit that begins with `header`, or `nil` if the header isn't valid.
    ///
    /// - Parameter remaining: The number of bytes from the start of the unit to the end of the data.
    static func next(_ header: [UInt8], remaining: Int) -> Unit? {
        guard let first = header.first, first & 0x80 == 0 else { return nil }
        var start = first & 4 == 0 ? 1 : 2
        let isSequenceHeader = first >> 3 & 15 == 1
        guard start <= remaining else { return nil }
        guard first & 2 != 0 else {
            return Unit(start: start, length: remaining - start, isSequenceHeader: isSequenceHeader)
        }
        var length = 0
        for index in 0..<8 {
            guard start < header.count else { return nil }
            let byte = header[start]
            length |= Int(byte & 0x7F) << (7 * index)
            start += 1
            guard byte & 0x80 != 0 else { break }
        }
        guard length <= remaining - start else { return nil }
        return Unit(start: start, length: length, isSequenceHeader: isSequenceHeader)
    }
}
