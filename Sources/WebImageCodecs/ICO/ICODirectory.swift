// SPDX-License-Identifier: MIT

import WebImageCore

/// The list of images in an icon or a cursor.
struct ICODirectory {
    struct Entry {
        /// The size in the directory. The header of the image takes precedence.
        var size: PixelSize
        /// The bits per pixel. For cursors, this value is 0 because the field contains the hotspot.
        var bits: Int
        var offset: Int
        var length: Int
    }

    let entries: [Entry]

    /// Throws an ``ImageError/DecodingFailure``.
    init(_ bytes: UnsafeBufferPointer<UInt8>, format: ImageFormat) throws(ImageError) {
        var reader = ByteReader(bytes)
        guard reader.uint16() == 0, let kind = reader.uint16(), let count = reader.uint16() else {
            throw .decoding(.truncated(format: format, receivedBytes: bytes.count, expectedBytes: nil))
        }
        guard kind == 1 || kind == 2, count > 0 else {
            throw .decoding(.corrupted(format: format, reason: "the list of images is missing"))
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
            throw .decoding(.truncated(format: format, receivedBytes: bytes.count, expectedBytes: 6 + count * 16))
        }
        self.entries = entries
    }

    /// The index of the largest image. If several have the same size, it's the first of those with the most bits per
    /// pixel.
    var largest: Int { entries.indices.reduce(0) { isBetter($1, than: $0) ? $1 : $0 } }

    /// Returns the index of the smallest image that produces the same result size for `options` as the largest image,
    /// without being enlarged.
    func best(for options: ImageDecodingOptions) throws(ImageError) -> Int {
        let largest = largest
        guard let target = options.size else { return largest }
        let wanted = try target.plan(for: entries[largest].size, scale: options.scale).output
        var best = largest
        for index in entries.indices {
            let size = entries[index].size
            // Smaller images, and images with another aspect ratio, would produce another result.
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
