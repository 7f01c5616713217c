// SPDX-License-Identifier: MIT

/// The structure that TIFF files and EXIF blocks share (TIFF 6.0, section 2; BigTIFF; Exif 2.32, section 4.5.2).
struct TIFFDirectory {
    /// The content of a tag.
    struct Tag {
        let count: Int
        /// The first value, if it's an integer.
        let first: Int
        let byteCount: Int
        /// The position of the first value.
        let position: Int
        let valueSize: Int
    }

    /// The bytes to which offsets refer.
    let bytes: HeaderBytes
    let order: HeaderBytes.Order
    /// The width of counts and offsets in bytes: 4, or 8 in BigTIFF.
    private let wide: Int
    let firstOffset: Int

    /// The numbers that RAW files of Olympus (`RO`, `RS`) and Panasonic (`U`) have instead of 42.
    static let rawVersions: Set<Int> = [0x4F52, 0x5352, 0x55]

    /// Creates a structure whose offsets refer to `bytes`, such as the one in a maker note. It has no first directory.
    init(_ bytes: HeaderBytes, order: HeaderBytes.Order) {
        self.bytes = bytes
        self.order = order
        wide = 4
        firstOffset = 0
    }

    /// Reads the header, or returns `nil` if `bytes` doesn't begin with one.
    ///
    /// - Parameter isRAW: Whether the versions of RAW files are accepted, too.
    init?(_ bytes: HeaderBytes, isRAW: Bool = false) throws(HeaderParsingError) {
        let mark = try bytes.big16(at: 0)
        guard mark == 0x4949 || mark == 0x4D4D else { return nil }
        order = mark == 0x4949 ? .little : .big
        self.bytes = bytes
        switch try bytes.number(at: 2, 2, order) {
        case let version where version == 42 || (isRAW && Self.rawVersions.contains(version)):
            wide = 4
            firstOffset = try bytes.number(at: 4, 4, order)
        case 43:
            guard try bytes.number(at: 4, 4, order) == (order == .big ? 0x0008_0000 : 0x0000_0008) else { return nil }
            wide = 8
            firstOffset = try bytes.number(at: 8, 8, order)
        default: return nil
        }
    }

    private var countWidth: Int { wide == 4 ? 2 : 8 }
    private var entryWidth: Int { wide == 4 ? 12 : 20 }

    /// Returns the offset of the directory after the one at `offset`, or 0 after the last directory.
    func next(after offset: Int) throws(HeaderParsingError) -> Int {
        let entries = try entryCount(at: offset)
        return try number(try sum(offset, countWidth + entries * entryWidth), wide)
    }

    /// Calls `body` for each tag with integers, text, or bytes in the directory at `offset`.
    func forEachTag(
        at offset: Int, _ body: (_ tag: Int, _ field: Tag) throws(HeaderParsingError) -> Void
    ) throws(HeaderParsingError) {
        let entries = try entryCount(at: offset)
        for index in 0..<entries {
            let entry = try sum(offset, countWidth + index * entryWidth)
            let tag = try number(entry, 2)
            if let field = try self.tag(at: entry) { try body(tag, field) }
        }
    }

    func value(of wanted: Int, at offset: Int) throws(HeaderParsingError) -> Int? {
        try field(wanted, at: offset)?.first
    }

    /// Returns a tag in the directory at `offset`, if it's among the first ``HeaderBounds/tiffEntries`` entries.
    func field(_ wanted: Int, at offset: Int) throws(HeaderParsingError) -> Tag? {
        // EXIF data whose number of entries is corrupt may still have a valid orientation.
        let entries = min(try number(offset, countWidth), HeaderBounds.tiffEntries)
        for index in 0..<entries {
            let entry = try sum(offset, countWidth + index * entryWidth)
            if try number(entry, 2) == wanted { return try tag(at: entry) }
        }
        return nil
    }

    /// Returns the wanted tags of the directory at `offset`, which is read once. If an entry repeats a tag, the first
    /// valid one counts. A directory with more than `maxEntries` entries is invalid.
    func fields(
        _ wanted: Set<Int>, at offset: Int, maxEntries: Int
    ) throws(HeaderParsingError) -> [Int: Tag] {
        let entries = try number(offset, countWidth)
        guard entries <= maxEntries else { throw .outside }
        var fields: [Int: Tag] = [:]
        for index in 0..<entries {
            let entry = try sum(offset, countWidth + index * entryWidth)
            let name = try number(entry, 2)
            if wanted.contains(name), fields[name] == nil { fields[name] = try tag(at: entry) }
        }
        return fields
    }

    func values(of field: Tag, limit: Int) throws(HeaderParsingError) -> [Int] {
        var values: [Int] = []
        for index in 0..<min(field.count, limit) {
            values.append(try number(try sum(field.position, index * field.valueSize), field.valueSize))
        }
        return values
    }

    private func entryCount(at offset: Int) throws(HeaderParsingError) -> Int {
        let entries = try number(offset, countWidth)
        try HeaderParsingError.check(entries, limit: HeaderBounds.tiffEntries, "TIFF tags")
        return entries
    }

    private func tag(at entry: Int) throws(HeaderParsingError) -> Tag? {
        let kind = try number(entry + 2, 2)
        guard let size = Self.sizes[kind] else { return nil }
        let count = try number(entry + 4, wide)
        let (byteCount, overflow) = count.multipliedReportingOverflow(by: size)
        guard !overflow, count > 0 else { return nil }
        let slot = entry + 4 + wide
        let position = byteCount > wide ? try number(slot, wide) : slot
        // Read only numbers from other locations. For text and profiles, the position and the size are sufficient.
        let isNumber = kind != 2 && kind != 7
        let first = isNumber || byteCount <= wide ? try number(position, size) : 0
        return Tag(count: count, first: first, byteCount: byteCount, position: position, valueSize: size)
    }

    /// The sizes of BYTE, ASCII, SHORT, LONG, UNDEFINED, IFD, and LONG8 values, in bytes.
    private static let sizes = [1: 1, 2: 1, 3: 2, 4: 4, 7: 1, 13: 4, 16: 8]

    private func number(_ offset: Int, _ width: Int) throws(HeaderParsingError) -> Int {
        try bytes.number(at: offset, width, order)
    }

    private func sum(_ left: Int, _ right: Int) throws(HeaderParsingError) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        guard !overflow else { throw .outside }
        return sum
    }
}
