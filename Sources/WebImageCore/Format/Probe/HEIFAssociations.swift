// SPDX-License-Identifier: MIT

/// The associations between items and properties (`ipma`; ISO/IEC 14496-12, section 8.11.14).
enum HEIFAssociations {
    /// The associations of an item.
    struct Entry {
        var item: Int
        /// The indices of the properties, counted from 1, in the order in which the item lists them.
        var indices: [Int]
        /// The offset of the first association in the box.
        var offset: Int
        /// The size of an association, in bytes.
        var width: Int
    }

    static func forEach(
        _ ipma: HeaderBytes, _ body: (Entry) throws(HeaderParsingError) -> Void
    ) throws(HeaderParsingError) {
        let idWidth = try ipma.byte(at: 0) < 1 ? 2 : 4
        let indexWidth = try ipma.byte(at: 3) & 1 == 0 ? 1 : 2
        // The highest bit indicates whether the property is essential.
        let mask = indexWidth == 1 ? 0x7F : 0x7FFF
        let entries = try ipma.big32(at: 4)
        var offset = 8
        // Each iteration reads three available bytes, so the loop ends regardless of the declared count.
        for _ in 0..<entries {
            let item = try ipma.number(at: offset, idWidth, .big)
            let count = Int(try ipma.byte(at: offset + idWidth))
            offset += idWidth + 1
            var indices: [Int] = []
            for index in 0..<count {
                indices.append(try ipma.number(at: offset + index * indexWidth, indexWidth, .big) & mask)
            }
            try body(Entry(item: item, indices: indices, offset: offset, width: indexWidth))
            offset += count * indexWidth
        }
    }

    /// Returns the properties of an item, in the order of the file.
    static func properties(of item: Int, in meta: HeaderBytes) throws(HeaderParsingError) -> [BoxList.Box] {
        guard let iprp = try BoxList.first("iprp", in: meta, from: 4), let ipco = try BoxList.first("ipco", in: iprp)
        else { return [] }
        var wanted: Set<Int> = []
        var list = BoxList(iprp)
        while let box = try list.next() {
            guard box.name == "ipma" else { continue }
            try forEach(box.content) { (entry) throws(HeaderParsingError) in
                if entry.item == item { wanted.formUnion(entry.indices) }
            }
        }
        var found: [BoxList.Box] = []
        var properties = BoxList(ipco)
        var index = 0
        while let box = try properties.next() {
            index += 1
            if wanted.contains(index) { found.append(box) }
        }
        return found
    }
}
