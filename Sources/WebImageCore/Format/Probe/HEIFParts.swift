// SPDX-License-Identifier: MIT

import Foundation

/// The parts of a HEIF or AVIF file that can be displayed before the whole file has arrived (ISO/IEC 14496-12, section
/// 8.11; ISO/IEC 23008-12, section 6; AV1 Image File Format 1.1, section 2.3.2.3).
package struct HEIFParts: Sendable, Hashable {
    /// A thumbnail of the primary image.
    package struct Thumbnail: Sendable, Hashable {
        /// The identifier of the item.
        package var item: Int
        /// The number of bytes of the file that contain the thumbnail, including its tiles and its alpha plane.
        package var end: Int
    }

    /// The result of inspecting the beginning of a file.
    package enum Search: Sendable, Hashable {
        case found(HEIFParts)
        /// A result that means that the file has no valid list of items.
        case none
        /// A request for more data, because the `meta` box continues after the available data.
        case needsMore
    }

    /// The thumbnails of the primary image.
    package private(set) var thumbnails: [Thumbnail] = []
    /// Whether the primary image is a grid of tiles.
    package private(set) var isGrid = false
    /// Whether the primary image may have several layers (`a1lx`).
    package private(set) var hasLayers = false
    /// The end of the last item in the file, in bytes.
    package private(set) var end = 0

    /// The maximum number of references between items. Files of cameras have one per tile, fewer than 1,000.
    private static let maxReferences = 65_536
    /// The maximum number of thumbnails. Files of cameras have one.
    private static let maxThumbnails = 16

    /// Finds the parts in the beginning of a file.
    package static func find(in prefix: Data) -> Search {
        prefix.withUnsafeBytes { bytes in
            do throws(HeaderParsingError) {
                let view = HeaderBytes(bytes, isComplete: false)
                guard let meta = try BoxList.first("meta", in: view) else { return .none }
                try meta.require(meta.declaredLength ?? 0, at: 0)
                return try HEIFParts(meta, file: view).map { .found($0) } ?? .none
            } catch {
                if case .needsMore = error { return .needsMore }
                return .none
            }
        }
    }

    private init?(_ meta: HeaderBytes, file: HeaderBytes) throws(HeaderParsingError) {
        guard let pitm = try BoxList.first("pitm", in: meta, from: 4),
            let iinf = try BoxList.first("iinf", in: meta, from: 4),
            let iloc = try BoxList.first("iloc", in: meta, from: 4)
        else { return nil }
        let primary = try pitm.byte(at: 0) == 0 ? try pitm.big16(at: 4) : try pitm.big32(at: 4)
        isGrid = try Self.type(of: primary, in: iinf) == "grid"
        hasLayers = try Self.containsLayers(meta)
        let references = try References(meta, maxCount: Self.maxReferences)
        let locations = try HEIFItemLocations(iloc)
        end = locations.end
        let items = references.thumbnails.filter { $0.image == primary }.map(\.thumbnail)
        thumbnails = items.prefix(Self.maxThumbnails).compactMap { item in
            var end = 0
            for part in references.parts(of: item) {
                guard let other = locations.ends[part] else { return nil }
                end = max(end, other)
            }
            return Thumbnail(item: item, end: end)
        }
    }

    /// The references between the items of a file.
    private struct References {
        private(set) var thumbnails: [(thumbnail: Int, image: Int)] = []
        /// The items from which an item is derived, such as the tiles of a grid, and its alpha plane.
        private var sources: [Int: [Int]] = [:]

        init(_ meta: HeaderBytes, maxCount: Int) throws(HeaderParsingError) {
            guard let iref = try BoxList.first("iref", in: meta, from: 4) else { return }
            let width = try iref.byte(at: 0) == 0 ? 2 : 4
            var list = BoxList(iref, from: 4)
            var total = 0
            while let box = try list.next() {
                guard box.name == "thmb" || box.name == "auxl" || box.name == "dimg" else { continue }
                let item = try box.content.number(at: 0, width, .big)
                let count = try box.content.big16(at: width)
                total += count
                try HeaderParsingError.check(total, limit: maxCount, "references between HEIF items")
                for index in 0..<count {
                    let target = try box.content.number(at: width + 2 + index * width, width, .big)
                    switch box.name {
                    case "thmb": thumbnails.append((item, target))
                    case "auxl": sources[target, default: []].append(item)
                    default: sources[item, default: []].append(target)
                    }
                }
            }
        }

        /// Returns an item and all items that are needed to decode it.
        func parts(of item: Int) -> Set<Int> {
            var parts: Set<Int> = [item]
            var waiting = [item]
            while let next = waiting.popLast() {
                for source in sources[next] ?? [] where parts.insert(source).inserted { waiting.append(source) }
            }
            return parts
        }
    }

    private static func type(of item: Int, in iinf: HeaderBytes) throws(HeaderParsingError) -> FourCC? {
        var list = BoxList(iinf, from: try iinf.byte(at: 0) == 0 ? 6 : 8)
        while let box = try list.next() {
            guard box.name == "infe" else { continue }
            let version = try box.content.byte(at: 0)
            guard version >= 2 else { continue }
            let width = version == 2 ? 2 : 4
            if try box.content.number(at: 4, width, .big) == item {
                return try FourCC(box.content, at: 4 + width + 2)
            }
        }
        return nil
    }

    /// Returns whether any item has the property for layers. A wrong guess only costs an attempt to decode the image.
    private static func containsLayers(_ meta: HeaderBytes) throws(HeaderParsingError) -> Bool {
        guard let iprp = try BoxList.first("iprp", in: meta, from: 4), let ipco = try BoxList.first("ipco", in: iprp)
        else { return false }
        return try BoxList.first("a1lx", in: ipco) != nil
    }
}
