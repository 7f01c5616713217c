// SPDX-License-Identifier: MIT

/// The boxes of an ISO base media file (ISO/IEC 14496-12, section 4.2), one after the other.
struct BoxList {
    /// One box.
    struct Box {
        /// Its type.
        let name: FourCC
        /// What follows its header.
        let content: HeaderBytes
    }

    private let bytes: HeaderBytes
    private var offset: Int
    private var count = 0

    /// The boxes of `bytes` from `offset` on.
    init(_ bytes: HeaderBytes, from offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    /// The next box; nil at the end of the list. Every box has at least 8 bytes, so that the list ends.
    mutating func next() throws(ProbeStop) -> Box? {
        if offset == .max { return nil }
        if let end = bytes.declaredLength, offset >= end { return nil }
        if bytes.isComplete, offset >= bytes.available { return nil }
        count += 1
        try ProbeStop.check(count, limit: ProbeBounds.boxes, "boxes")
        var size = try bytes.big32(at: offset)
        let name = try FourCC(bytes, at: offset + 4)
        var header = 8
        if size == 1 {
            size = try bytes.number(at: offset + 8, 8, .big)
            header = 16
        }
        // 0: up to the end of the file.
        if size == 0 {
            let content = try bytes.rest(from: offset + header)
            offset = .max
            return Box(name: name, content: content)
        }
        guard size >= header else { throw .outside }
        let content = try bytes.part(at: offset + header, length: size - header)
        let (end, overflow) = offset.addingReportingOverflow(size)
        offset = overflow ? .max : end
        return Box(name: name, content: content)
    }

    /// The first box called `name` in `bytes`.
    static func first(_ name: FourCC, in bytes: HeaderBytes, from offset: Int = 0) throws(ProbeStop) -> HeaderBytes? {
        var list = BoxList(bytes, from: offset)
        while let box = try list.next() {
            if box.name == name { return box.content }
        }
        return nil
    }
}
