// SPDX-License-Identifier: MIT

/// The locations of the items in a HEIF file (`iloc`; ISO/IEC 14496-12, section 8.11.3).
struct HEIFItemLocations {
    /// The number of bytes of the file that contain each item. Items whose location is unknown are missing.
    private(set) var ends: [Int: Int] = [:]
    /// The end of the last item in the file, in bytes.
    private(set) var end = 0
    /// The parts of each item. Items in other files and in other items are missing.
    private(set) var extents: [Int: [Extent]] = [:]

    /// A part of the data of an item.
    struct Extent {
        /// Whether the part is in the `idat` box instead of in the file.
        var isInMetaBox: Bool
        var start: Int
        /// The size of the part in bytes, or 0 if it extends to the end.
        var length: Int
    }

    /// The maximum number of extents of all items. Files of cameras have one extent per tile, fewer than 1,000.
    private static let maxExtents = 65_536

    /// Reads the locations in a box, all of whose bytes are available.
    init(_ iloc: HeaderBytes) throws(HeaderParsingError) {
        let version = try iloc.byte(at: 0)
        guard version <= 2 else { throw .unsupported(.heif, "version \(version) of the item locations") }
        let sizes = try iloc.big16(at: 4)
        let offsetWidth = sizes >> 12
        let lengthWidth = sizes >> 8 & 15
        let baseWidth = sizes >> 4 & 15
        let indexWidth = version == 0 ? 0 : sizes & 15
        guard [offsetWidth, lengthWidth, baseWidth, indexWidth].allSatisfy({ $0 <= 8 }) else { throw .outside }
        let itemWidth = version < 2 ? 2 : 4
        let count = try iloc.number(at: 6, itemWidth, .big)
        var offset = 6 + itemWidth
        var total = 0
        // Each iteration reads at least six available bytes, so the loop ends regardless of the declared count. Items
        // without extents aren't stored, so the limit for extents also limits the memory.
        for _ in 0..<count {
            let item = try iloc.number(at: offset, itemWidth, .big)
            offset += itemWidth
            var method = 0
            if version > 0 {
                method = try iloc.big16(at: offset) & 15
                offset += 2
            }
            let isForeign = try iloc.big16(at: offset) != 0
            let base = try iloc.number(at: offset + 2, baseWidth, .big)
            offset += 2 + baseWidth
            let extentCount = try iloc.big16(at: offset)
            offset += 2
            total += extentCount
            try HeaderParsingError.check(total, limit: Self.maxExtents, "extents of HEIF items")
            var last: Int? = 0
            var parts: [Extent] = []
            for _ in 0..<extentCount {
                let start = try iloc.number(at: offset + indexWidth, offsetWidth, .big)
                let length = try iloc.number(at: offset + indexWidth + offsetWidth, lengthWidth, .big)
                offset += indexWidth + offsetWidth + lengthWidth
                last = Self.later(last, Self.end(base, start, length))
                let (first, isFar) = base.addingReportingOverflow(start)
                if !isFar { parts.append(Extent(isInMetaBox: method == 1, start: first, length: length)) }
            }
            // Method 1 refers to the `meta` box, which is available. Other methods refer to other items.
            if method == 1 { last = 0 }
            guard method <= 1, !isForeign, extentCount > 0 else { continue }
            guard extents.updateValue(parts, forKey: item) == nil else {
                throw .corrupt(.heif, "the location of item \(item) is ambiguous")
            }
            guard let last else { continue }
            ends[item] = last
            end = max(end, last)
        }
    }

    private static func later(_ left: Int?, _ right: Int?) -> Int? {
        guard let left, let right else { return nil }
        return max(left, right)
    }

    /// Returns the end of an extent, or `nil` if it extends to the end of the file (length 0) or beyond any file.
    private static func end(_ base: Int, _ start: Int, _ length: Int) -> Int? {
        let (first, isFar) = base.addingReportingOverflow(start)
        let (end, isFarther) = first.addingReportingOverflow(length)
        return isFar || isFarther || length == 0 ? nil : end
    }
}
