// SPDX-License-Identifier: MIT

import Foundation
import WebImageTestBasics

/// A writer of HEIF files whose image is a grid of 2 × 2 equal tiles (ISO/IEC 23008-12, section 6.6.2.3).
struct HEIFGrid {
    /// A Boolean value that indicates whether the tiles are hidden, as they should be.
    var hidesTiles = true
    /// A Boolean value that indicates whether the file contains another image, which is equal to a tile.
    var hasAnotherImage = false

    private let configuration: [UInt8]
    private let data: [UInt8]
    private let width: Int
    private let height: Int

    /// Creates a grid from a file that contains only one image of `width` × `height` pixels. Returns `nil` for other
    /// files.
    init?(tile: Data, width: Int, height: Int) {
        let bytes = Array(tile)
        guard let configuration = Self.box("hvcC", in: bytes), let data = Self.box("mdat", in: bytes) else {
            return nil
        }
        self.configuration = Array(configuration)
        self.data = Array(data.dropFirst(8))
        (self.width, self.height) = (width, height)
    }

    /// Returns a box with its header.
    private static func box(_ name: String, in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        guard let place = bytes.indices.dropFirst(4).first(where: { bytes[$0...].starts(with: name.utf8) }) else {
            return nil
        }
        let size = bytes[(place - 4)..<place].reduce(0) { $0 << 8 | Int($1) }
        return place - 4 + size <= bytes.count ? bytes[(place - 4)..<(place - 4 + size)] : nil
    }

    private func number(_ value: Int, _ count: Int = 4) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> ((count - 1 - $0) * 8)) }
    }

    private func box(_ name: String, _ body: [UInt8]) -> [UInt8] { number(body.count + 8) + Array(name.utf8) + body }

    private func full(_ name: String, version: Int = 0, flags: Int = 0, _ body: [UInt8]) -> [UInt8] {
        box(name, number(version << 24 | flags) + body)
    }

    /// Returns the boxes before the data. The item 1 is the grid, the items 2 to 5 are the tiles, and the item 6 is the
    /// other image.
    private func head(dataOffset: Int, _ grid: [UInt8]) -> [UInt8] {
        var (names, places, tiles, uses): ([UInt8], [UInt8], [UInt8], [UInt8]) = ([], [], [], [])
        let count = hasAnotherImage ? 6 : 5
        for item in 1...count {
            let isGrid = item == 1
            let isTile = (2...5).contains(item)
            let id = number(item, 2)
            let kind = Array((isGrid ? "grid" : "hvc1").utf8)
            names += full("infe", version: 2, flags: isTile && hidesTiles ? 1 : 0, id + [0, 0] + kind + [0])
            places += id + [0, 0, 0, 1]
            places += number(isGrid ? dataOffset : dataOffset + grid.count)
            places += number(isGrid ? grid.count : data.count)
            if isTile { tiles += id }
            uses += id + (isGrid ? [1, 3] : [2, 0x81, 2] as [UInt8])
        }
        let size = full("ispe", number(width) + number(height))
        let wholeSize = full("ispe", number(width * 2) + number(height * 2))
        var meta = full("hdlr", number(0) + Array("pict".utf8) + [UInt8](repeating: 0, count: 13))
        meta += full("pitm", number(1, 2))
        meta += full("iloc", [0x44, 0] + number(count, 2) + places)
        meta += full("iinf", number(count, 2) + names)
        meta += full("iref", box("dimg", number(1, 2) + number(4, 2) + tiles))
        meta += box("iprp", box("ipco", configuration + size + wholeSize) + full("ipma", number(count) + uses))
        return box("ftyp", Array("heic".utf8) + number(0) + Array("mif1heic".utf8)) + full("meta", meta)
    }

    var bytes: Data {
        let grid: [UInt8] = [0, 0, 1, 1] + number(width * 2, 2) + number(height * 2, 2)
        let offset = head(dataOffset: 0, grid).count + 8
        return Data(head(dataOffset: offset, grid) + box("mdat", grid + data))
    }
}
