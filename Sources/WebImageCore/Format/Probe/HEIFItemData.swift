// SPDX-License-Identifier: MIT

/// A reader for the data of a HEIF item, which can consist of several parts of the file.
struct HEIFItemData {
    private let file: HeaderBytes
    private let ranges: [Range<Int>]
    /// The index of the current range.
    private var place = 0
    /// The position in the current range.
    private var offset = 0
    /// The number of bytes after the current position.
    private(set) var remaining = 0

    /// Creates a reader, or returns `nil` if the data isn't available or is empty. The `idat` box is that of the `meta`
    /// box.
    init?(_ extents: [HEIFItemLocations.Extent], idat: HeaderBytes?, file: HeaderBytes) {
        self.file = file
        var ranges: [Range<Int>] = []
        for extent in extents {
            guard let range = Self.range(extent, idat: idat, file: file) else { return nil }
            if !range.isEmpty { ranges.append(range) }
        }
        guard !ranges.isEmpty else { return nil }
        self.ranges = ranges
        remaining = ranges.reduce(0) { $0 + $1.count }
    }

    private static func range(
        _ extent: HEIFItemLocations.Extent, idat: HeaderBytes?, file: HeaderBytes
    ) -> Range<Int>? {
        var (start, end) = (extent.start, file.available)
        if extent.isInMetaBox {
            guard let idat, let length = idat.declaredLength, start <= length else { return nil }
            end = idat.position + length
            start += idat.position
        } else if extent.length == 0, !file.isComplete {
            return nil
        }
        guard start <= end, end <= file.available else { return nil }
        guard extent.length > 0 else { return start..<end }
        return extent.length <= end - start ? start..<start + extent.length : nil
    }

    /// Returns the next bytes without consuming them, up to `count` bytes.
    func peek(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var (place, offset) = (place, offset)
        while bytes.count < count, place < ranges.count {
            let range = ranges[place]
            let length = min(count - bytes.count, range.count - offset)
            guard let part = try? file.withBytes(length, at: range.lowerBound + offset, { Array($0) }) else { break }
            bytes += part
            place += 1
            offset = 0
        }
        return bytes
    }

    mutating func skip(_ count: Int) {
        var left = min(count, remaining)
        remaining -= left
        while left > 0 {
            let length = min(left, ranges[place].count - offset)
            left -= length
            offset += length
            if offset == ranges[place].count {
                place += 1
                offset = 0
            }
        }
    }
}

extension HEIFItemData {
    /// Returns the largest size in the parameter sets among the data of an HEVC or AV1 item, or `nil` if it contains
    /// none. Decoders apply such parameter sets, too.
    ///
    /// - Parameter units: The number of units in all items so far, which this function increases.
    mutating func largestCodedSize(kind: FourCC, units: inout Int) throws(HeaderParsingError) -> PixelSize? {
        let isAV1 = kind == "av01"
        guard isAV1 || HEIFTrack.hevc.contains(kind) else { return nil }
        var largest: PixelSize?
        while remaining > 0 {
            units += 1
            try HeaderParsingError.check(units, limit: HeaderBounds.heifUnits, "NAL units and OBUs of HEIF items")
            guard let unit = isAV1 ? nextAV1() : nextHEVC() else { break }
            largest = CodedSize.larger(largest, unit.size)
        }
        return largest
    }

    /// A unit that was consumed.
    private struct Unit {
        /// The size in the unit, or `nil` if the unit isn't a parameter set.
        var size: PixelSize?
    }

    private mutating func nextHEVC() -> Unit? {
        let header = peek(4)
        guard header.count == 4 else { return nil }
        skip(4)
        let length = header.reduce(0) { $0 << 8 | Int($1) }
        let size = CodedSize.hevc(peek(min(length, CodedSize.prefixBytes)))
        guard length <= remaining else { return nil }
        skip(length)
        return Unit(size: size)
    }

    private mutating func nextAV1() -> Unit? {
        guard let unit = AV1Units.next(peek(AV1Units.headerBytes), remaining: remaining) else { return nil }
        skip(unit.start)
        let size = unit.isSequenceHeader ? CodedSize.av1(peek(min(unit.length, CodedSize.prefixBytes))) : nil
        skip(unit.length)
        return Unit(size: size)
    }
}
