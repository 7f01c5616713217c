// SPDX-License-Identifier: MIT

/// The sequence of boxes in an ISO base media file (ISO/IEC 14496-12, section 4.2).
struct BoxList {
    /// A box.
    struct Box {
        let name: FourCC
        /// The data after the header of the box.
        let content: HeaderBytes
    }

    private let bytes: HeaderBytes
    private var offset: Int
    private var count = 0

    init(_ bytes: HeaderBytes, from offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    /// Returns the next box, or `nil` at the end of the list. Because every box has at least 8 bytes, the list is
    /// finite.
    mutating func next() throws(HeaderParsingError) -> Box? {
        if offset == .max { return nil }
        if let end = bytes.declaredLength, offset >= end { return nil }
        if bytes.isComplete, offset >= bytes.available { return nil }
        count += 1
        try HeaderParsingError.check(count, limit: HeaderBounds.boxes, "boxes")
        var size = try bytes.big32(at: offset)
        let name = try FourCC(bytes, at: offset + 4)
        var header = 8
        if size == 1 {
            size = try bytes.number(at: offset + 8, 8, .big)
            header = 16
        }
        // A size of 0 means that the box extends to the end of the file.
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

    static func first(_ name: FourCC, in bytes: HeaderBytes, from offset: Int = 0) throws(HeaderParsingError)
        -> HeaderBytes?
    {
        var list = BoxList(bytes, from: offset)
        while let box = try list.next() {
            if box.name == name { return box.content }
        }
        return nil
    }
}
