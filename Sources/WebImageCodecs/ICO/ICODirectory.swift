// SPDX-License-Identifier: MIT

import WebImageCore

/// The pictures that an icon or cursor lists.
struct ICODirectory {
    struct Entry {
        /// As the directory says; the picture's own header counts.
        var size: PixelSize
        /// Bits a pixel; 0 in cursors, which keep their hot spot there.
        var bits: Int
        var offset: Int
        var length: Int
    }

    let entries: [Entry]

    /// - Throws: family 4xxx.
    init(_ bytes: UnsafeBufferPointer<UInt8>, format: ImageFormat) throws(ImageError) {
        var reader = ByteReader(bytes)
        guard reader.uint16() == 0, let kind = reader.uint16(), let count = reader.uint16() else {
            throw .decode(.truncated(format: format, received: bytes.count, expected: nil))
        }
        guard kind == 1 || kind == 2, count > 0 else {
            throw .decode(.corrupt(format: format, reason: "no list of pictures"))
        }
        var entries: [Entry] = []
        for _ in 0..<count {
            guard let width = reader.byte(), let height = reader.byte(), reader.skip(4), let bits = reader.uint16(),
                let length = reader.uint32(), let offset = reader.uint32()
            else { break }
            entries.append(
                Entry(
                    size: PixelSize(width: width == 0 ? 256 : Int(width), height: height == 0 ? 256 : Int(height)),
                    bits: kind == 1 ? bits : 0, offset: Int(offset), length: Int(length)))
        }
        guard entries.count == count else {
            throw .decode(.truncated(format: format, received: bytes.count, expected: 6 + count * 16))
        }
        self.entries = entries
    }

    /// The largest picture, of equals the deepest, of equals the first.
    var largest: Int { entries.indices.reduce(0) { isBetter($1, than: $0) ? $1 : $0 } }

    /// The smallest picture that gives what the largest would for `options` without being enlarged.
    func best(for options: DecodeOptions) throws(ImageError) -> Int {
        let largest = largest
        guard let target = options.size else { return largest }
        let wanted = try target.plan(for: entries[largest].size, scale: options.scale).output
        var best = largest
        for index in entries.indices {
            let size = entries[index].size
            // Smaller ones, and those of another shape, would give another result.
            guard try target.plan(for: size, scale: options.scale).output == wanted else { continue }
            let isSmaller = size.width * size.height < entries[best].size.width * entries[best].size.height
            if isSmaller || (size == entries[best].size && entries[index].bits > entries[best].bits) { best = index }
        }
        return best
    }

    private func isBetter(_ index: Int, than other: Int) -> Bool {
        let area = entries[index].size.width * entries[index].size.height
        let otherArea = entries[other].size.width * entries[other].size.height
        return area > otherArea || (area == otherArea && entries[index].bits > entries[other].bits)
    }
}
