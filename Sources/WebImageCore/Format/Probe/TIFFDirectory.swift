// SPDX-License-Identifier: MIT

/// The structure that TIFF files and EXIF blocks share (TIFF 6.0, section 2; BigTIFF; Exif 2.32, section 4.5.2).
struct TIFFDirectory {
    /// What a tag holds.
    struct Field {
        /// Values it counts.
        let count: Int
        /// The first of them, where it is a whole number.
        let first: Int
        /// Bytes of all of them.
        let byteCount: Int
    }

    private let bytes: HeaderBytes
    private let order: HeaderBytes.Order
    /// Width of counts and offsets: 4, in BigTIFF 8.
    private let wide: Int
    /// Where the first directory stands.
    let firstOffset: Int

    /// Reads the header; nil where `bytes` do not begin with one.
    init?(_ bytes: HeaderBytes) throws(ProbeStop) {
        let mark = try bytes.big16(at: 0)
        guard mark == 0x4949 || mark == 0x4D4D else { return nil }
        order = mark == 0x4949 ? .little : .big
        self.bytes = bytes
        switch try bytes.number(at: 2, 2, order) {
        case 42:
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

    /// Where the directory after the one at `offset` stands; 0 after the last.
    func next(after offset: Int) throws(ProbeStop) -> Int {
        let entries = try entryCount(at: offset)
        return try number(try sum(offset, countWidth + entries * entryWidth), wide)
    }

    /// Calls `body` with every tag of the directory at `offset` that holds whole numbers or bytes.
    func forEachField(
        at offset: Int, _ body: (_ tag: Int, _ field: Field) throws(ProbeStop) -> Void
    ) throws(ProbeStop) {
        let entries = try entryCount(at: offset)
        for index in 0..<entries {
            let entry = try sum(offset, countWidth + index * entryWidth)
            let tag = try number(entry, 2)
            if let field = try field(at: entry) { try body(tag, field) }
        }
    }

    /// The first value of one tag of the directory at `offset`.
    func value(of wanted: Int, at offset: Int) throws(ProbeStop) -> Int? {
        let entries = try entryCount(at: offset)
        for index in 0..<entries {
            let entry = try sum(offset, countWidth + index * entryWidth)
            if try number(entry, 2) == wanted { return try field(at: entry)?.first }
        }
        return nil
    }

    private func entryCount(at offset: Int) throws(ProbeStop) -> Int {
        let entries = try number(offset, countWidth)
        try ProbeStop.check(entries, limit: ProbeBounds.tiffEntries, "TIFF tags")
        return entries
    }

    private func field(at entry: Int) throws(ProbeStop) -> Field? {
        let kind = try number(entry + 2, 2)
        guard let size = Self.sizes[kind] else { return nil }
        let count = try number(entry + 4, wide)
        let (byteCount, overflow) = count.multipliedReportingOverflow(by: size)
        guard !overflow, count > 0 else { return nil }
        let slot = entry + 4 + wide
        // Only numbers may have to be fetched; of a profile its size is enough.
        guard kind != 7, byteCount > wide else {
            return Field(count: count, first: try number(slot, min(size, wide)), byteCount: byteCount)
        }
        return Field(count: count, first: try number(try number(slot, wide), size), byteCount: byteCount)
    }

    /// BYTE, SHORT, LONG, UNDEFINED, LONG8.
    private static let sizes = [1: 1, 3: 2, 4: 4, 7: 1, 16: 8]

    private func number(_ offset: Int, _ width: Int) throws(ProbeStop) -> Int {
        try bytes.number(at: offset, width, order)
    }

    private func sum(_ left: Int, _ right: Int) throws(ProbeStop) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        guard !overflow else { throw .outside }
        return sum
    }
}
