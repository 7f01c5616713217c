// SPDX-License-Identifier: MIT

/// The items of a HEIF or AVIF file and the references between them (ISO/IEC 14496-12, section 8.11; ISO/IEC 23008-12,
/// section 6).
///
/// libheif and libavif decode the sources of an item recursively, and libheif never checks whether an item is its own
/// source. So this type rejects cycles and long paths, and it adds up the work before a library opens the file.
struct HEIFItemGraph {
    /// The cost of decoding an item with all of its sources.
    struct Cost {
        /// The number of pixels that the decoders produce for the colors or for alpha, whichever is larger.
        var pixels: Int
        /// The number of images that are decoded separately.
        var tiles: Int

        static func larger(_ left: Cost, _ right: Cost) -> Cost {
            Cost(pixels: max(left.pixels, right.pixels), tiles: max(left.tiles, right.tiles))
        }

        /// The sum of two costs, clamped to the largest number.
        static func + (left: Cost, right: Cost) -> Cost {
            let (pixels, isMany) = left.pixels.addingReportingOverflow(right.pixels)
            let (tiles, isMore) = left.tiles.addingReportingOverflow(right.tiles)
            return Cost(pixels: isMany ? .max : pixels, tiles: isMore ? .max : tiles)
        }
    }

    fileprivate struct Item {
        var kind: FourCC
        var isHidden: Bool
        /// The size in the properties, or the size of the output of a grid or an overlay, whichever is larger.
        var size: PixelSize?
        /// The size in the parameter sets.
        var coded: PixelSize?
        var grid: (columns: Int, rows: Int)?
        /// The items from which this item is derived, such as the tiles of a grid.
        var sources: [Int] = []
        /// The auxiliary images of the item, such as its alpha plane.
        var auxiliaries: [Int] = []
        var thumbnails: [Int] = []

        var references: [Int] { sources + auxiliaries + thumbnails }
    }

    private let format: ImageFormat
    private var items: [Int: Item] = [:]
    private var costs: [Int: (cost: Cost, depth: Int)] = [:]

    /// The boxes that a `meta` box contains at most once. Libraries differ in which duplicate they use.
    private static let uniqueBoxes: Set<FourCC> = ["pitm", "iloc", "iinf", "iref", "iprp", "idat"]
    private static let derivedKinds: Set<FourCC> = ["grid", "iovl", "iden"]
    private static let imageKinds: Set<FourCC> = derivedKinds.union(["hvc1", "hev1", "av01"])

    /// Reads the items and checks the references between them. All bytes of the `meta` box are available, and `file` is
    /// the available part of the file.
    init(_ meta: HeaderBytes, file: HeaderBytes, format: ImageFormat) throws(HeaderParsingError) {
        self.format = format
        var boxes: [FourCC: HeaderBytes] = [:]
        var list = BoxList(meta, from: 4)
        while let box = try list.next() {
            guard Self.uniqueBoxes.contains(box.name) else { continue }
            guard boxes.updateValue(box.content, forKey: box.name) == nil else {
                throw .corrupt(format, "a box of the item list occurs twice")
            }
        }
        if let iinf = boxes["iinf"] { try readItems(iinf) }
        if let iref = boxes["iref"] { try readReferences(iref) }
        if let iprp = boxes["iprp"] { try readProperties(iprp) }
        if let iloc = boxes["iloc"] { try readData(try HEIFItemLocations(iloc), idat: boxes["idat"], file) }
        for item in items.keys.sorted() { _ = try cost(of: item, path: []) }
    }

    /// The largest cost among the images that a request can decode: the primary image, the other visible images, and
    /// their thumbnails.
    func largestCost(primary: Int) -> Cost {
        var largest = costs[primary]?.cost ?? Cost(pixels: 0, tiles: 0)
        for (place, item) in items where Self.imageKinds.contains(item.kind) && (!item.isHidden || place == primary) {
            for image in [place] + item.thumbnails {
                if let cost = costs[image]?.cost { largest = .larger(largest, cost) }
            }
        }
        return largest
    }

    private mutating func readItems(_ iinf: HeaderBytes) throws(HeaderParsingError) {
        var list = BoxList(iinf, from: try iinf.byte(at: 0) == 0 ? 6 : 8)
        while let box = try list.next() {
            guard box.name == "infe" else { continue }
            let version = try box.content.byte(at: 0)
            guard version >= 2 else { continue }
            let width = version == 2 ? 2 : 4
            let item = Item(
                kind: try FourCC(box.content, at: 4 + width + 2), isHidden: try box.content.byte(at: 3) & 1 == 1)
            let place = try box.content.number(at: 4, width, .big)
            guard items.updateValue(item, forKey: place) == nil else {
                throw .corrupt(format, "item \(place) occurs twice")
            }
            try HeaderParsingError.check(items.count, limit: HeaderBounds.heifItems, "HEIF items")
        }
    }

    private mutating func readReferences(_ iref: HeaderBytes) throws(HeaderParsingError) {
        let width = try iref.byte(at: 0) == 0 ? 2 : 4
        var list = BoxList(iref, from: 4)
        var total = 0
        while let box = try list.next() {
            let from = try box.content.number(at: 0, width, .big)
            let count = try box.content.big16(at: width)
            total += count
            try HeaderParsingError.check(total, limit: HeaderBounds.heifReferences, "references between HEIF items")
            for index in 0..<count {
                let target = try box.content.number(at: width + 2 + index * width, width, .big)
                switch box.name {
                case "dimg": items[from]?.sources.append(target)
                case "auxl": items[target]?.auxiliaries.append(from)
                case "thmb": items[target]?.thumbnails.append(from)
                default: break
                }
            }
        }
    }

    private mutating func readProperties(_ iprp: HeaderBytes) throws(HeaderParsingError) {
        var sizes: [Int: PixelSize] = [:]
        var codedSizes: [Int: PixelSize] = [:]
        var associations: [HeaderBytes] = []
        var list = BoxList(iprp)
        var hasContainer = false
        while let box = try list.next() {
            if box.name == "ipma" { associations.append(box.content) }
            guard box.name == "ipco" else { continue }
            guard !hasContainer else { throw .corrupt(format, "the item properties occur twice") }
            hasContainer = true
            var properties = BoxList(box.content)
            var index = 0
            while let property = try properties.next() {
                index += 1
                codedSizes[index] = try CodedSize.largest(in: property)
                guard property.name == "ispe" else { continue }
                sizes[index] = PixelSize(
                    width: try property.content.big32(at: 4), height: try property.content.big32(at: 8))
            }
        }
        for ipma in associations {
            try HEIFAssociations.forEach(ipma) { (entry) throws(HeaderParsingError) in
                guard var described = items[entry.item] else { return }
                for index in entry.indices {
                    described.size = CodedSize.larger(described.size, sizes[index])
                    described.coded = CodedSize.larger(described.coded, codedSizes[index])
                }
                items[entry.item] = described
            }
        }
    }

    /// Reads the sizes in the data of the items. Items whose data isn't available are skipped.
    private mutating func readData(
        _ locations: HEIFItemLocations, idat: HeaderBytes?, _ file: HeaderBytes
    ) throws(HeaderParsingError) {
        var units = 0
        for (place, extents) in locations.extents.sorted(by: { $0.key < $1.key }) {
            guard var item = items[place], Self.imageKinds.contains(item.kind),
                var data = HEIFItemData(extents, idat: idat, file: file)
            else { continue }
            if item.kind == "grid" || item.kind == "iovl" {
                item.readConfiguration(data.peek(24))
            } else {
                item.coded = CodedSize.larger(
                    item.coded, try data.largestCodedSize(kind: item.kind, units: &units))
            }
            items[place] = item
        }
    }

    /// Returns the cost of an item and the length of the longest path from it. `path` contains the items that refer to
    /// it.
    private mutating func cost(of place: Int, path: [Int]) throws(HeaderParsingError) -> (cost: Cost, depth: Int) {
        guard !path.contains(place) else { throw .corrupt(format, "item \(place) is derived from itself") }
        guard let item = items[place] else { return (Cost(pixels: 0, tiles: 0), 0) }
        var depth = costs[place]?.depth ?? 0
        if costs[place] == nil {
            try HeaderParsingError.check(
                path.count, limit: HeaderBounds.heifReferenceDepth, "references on a path between HEIF items")
            for reference in item.references {
                depth = max(depth, try cost(of: reference, path: path + [place]).depth + 1)
            }
            costs[place] = (cost(of: item), depth)
        }
        try HeaderParsingError.check(
            path.count + depth, limit: HeaderBounds.heifReferenceDepth, "references on a path between HEIF items")
        return costs[place] ?? (Cost(pixels: .max, tiles: .max), depth)
    }

    /// Returns the cost of an item whose references have known costs.
    private func cost(of item: Item) -> Cost {
        var colors = Cost(pixels: item.pixels, tiles: 1)
        if Self.derivedKinds.contains(item.kind) {
            let parts = item.sources.compactMap { costs[$0]?.cost }.reduce(Cost(pixels: 0, tiles: 0), +)
            colors = Cost(pixels: max(colors.pixels, parts.pixels), tiles: parts.tiles)
            // The last column and the last row of a regular grid extend beyond the image.
            if let size = item.size, let area = size.area, isRegular(item, size) {
                colors.pixels = item.sources.compactMap { costs[$0]?.cost.pixels }.reduce(area, max)
            }
        }
        return item.auxiliaries.compactMap { costs[$0]?.cost }.reduce(colors, Cost.larger)
    }

    /// Returns whether the tiles of a grid have equal sizes and cover the image with no unused columns and rows.
    private func isRegular(_ grid: Item, _ size: PixelSize) -> Bool {
        guard let (columns, rows) = grid.grid, grid.sources.count == columns * rows,
            let first = grid.sources.first, let tile = items[first], let tileSize = tile.size, !tileSize.isEmpty,
            let tilePixels = tileSize.area
        else { return false }
        let isEqual = grid.sources.allSatisfy { source in
            items[source]?.size == tileSize && costs[source]?.cost.pixels == tilePixels
        }
        return isEqual && (size.width - 1) / tileSize.width == columns - 1
            && (size.height - 1) / tileSize.height == rows - 1
    }
}

extension HEIFItemGraph.Item {
    /// The number of pixels that a decoder produces for this item.
    ///
    /// The coded size is a multiple of the block size, which is at most 64, so a slightly larger size is expected.
    fileprivate var pixels: Int {
        guard let size else { return coded.map { $0.area ?? .max } ?? 0 }
        guard let coded, coded.width - size.width >= 64 || coded.height - size.height >= 64 else {
            return size.area ?? .max
        }
        return max(size.area ?? .max, coded.area ?? .max)
    }

    /// Reads the size of the output of a grid or an overlay (ISO/IEC 23008-12, section 6.6.2).
    fileprivate mutating func readConfiguration(_ data: [UInt8]) {
        let width = data.count > 1 && data[1] & 1 == 1 ? 4 : 2
        // The background color of an overlay precedes the size.
        let start = kind == "grid" ? 4 : 10
        guard data.count >= start + width * 2 else { return }
        func number(_ offset: Int) -> Int { data[offset..<offset + width].reduce(0) { $0 << 8 | Int($1) } }
        size = CodedSize.larger(size, PixelSize(width: number(start), height: number(start + width)))
        if kind == "grid" { grid = (Int(data[3]) + 1, Int(data[2]) + 1) }
    }
}
