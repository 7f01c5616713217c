// SPDX-License-Identifier: MIT

import Foundation

/// The order of the data of items in HEIF files that libheif wrote.
public enum HEIFItemOrder {
    /// Returns the file with the data of its items in reverse order, so that the thumbnail, which is the last item, precedes
    /// the image. Returns `nil` for files of other programs.
    ///
    /// libheif writes version 1 of the item locations, with a base offset, an offset, and a length of four bytes.
    public static func reversed(_ data: Data) -> Data? {
        guard let start = data.range(of: Data("iloc".utf8))?.upperBound, start + 8 <= data.count else { return nil }
        func number(_ place: Int, _ width: Int) -> Int? {
            guard place + width <= data.count else { return nil }
            return data[place..<place + width].reduce(0) { $0 << 8 | Int($1) }
        }
        guard data[start] == 1, number(start + 4, 2) == 0x4440, let count = number(start + 6, 2) else { return nil }
        var items: [(entry: Int, base: Int, length: Int)] = []
        for index in 0..<count {
            let entry = start + 8 + index * 20
            guard let method = number(entry + 2, 2), let base = number(entry + 6, 4), let length = number(entry + 16, 4)
            else { return nil }
            guard method == 0 else { continue }
            guard base + length <= data.count else { return nil }
            items.append((entry, base, length))
        }
        var file = data
        guard var place = items.map(\.base).min() else { return nil }
        for item in items.sorted(by: { $0.base > $1.base }) {
            guard place + item.length <= file.count else { return nil }
            file.replaceSubrange(place..<place + item.length, with: data[item.base..<item.base + item.length])
            let base = withUnsafeBytes(of: UInt32(place).bigEndian) { Data($0) }
            file.replaceSubrange(item.entry + 6..<item.entry + 10, with: base)
            place += item.length
        }
        return file
    }
}
