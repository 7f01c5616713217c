// SPDX-License-Identifier: MIT

/// The independent images of a HEIF file, without hidden images, thumbnails, alpha planes, and parts of other images
/// (ISO/IEC 14496-12, sections 8.11.6 and 8.11.12).
package struct HEIFImageItems: Sendable, Hashable {
    /// The number of independent images.
    let count: Int
    /// The visible items that are parts of other images: the tiles of grids, and gain maps. libheif counts them as
    /// independent images, unlike this type.
    package let parts: [Int]

    private static let imageItemTypes: Set<FourCC> = [
        "hvc1", "hev1", "av01", "avc1", "vvc1", "jpeg", "j2k1", "unci", "grid", "iden", "iovl",
    ]
    /// The types of items whose sources are parts. The sources of other items, such as overlays, are whole images.
    private static let composedItemTypes: Set<FourCC> = ["grid", "tmap"]
    /// The maximum number of thumbnails and auxiliary images to track, which legitimate files never reach.
    private static let maxHelpers = 64

    /// Finds the images of a whole file. The result is `nil` if the file isn't valid, or if the images are expensive to
    /// determine.
    package static func find(in file: UnsafeRawBufferPointer) -> HEIFImageItems? {
        do throws(HeaderParsingError) {
            guard let meta = try BoxList.first("meta", in: HeaderBytes(file, isComplete: true)),
                let pitm = try BoxList.first("pitm", in: meta, from: 4)
            else { return nil }
            let primary = try pitm.byte(at: 0) == 0 ? try pitm.big16(at: 4) : try pitm.big32(at: 4)
            return try HEIFImageItems(meta, primary: primary)
        } catch {
            return nil
        }
    }

    /// Reads the list of items in a `meta` box, or returns `nil` if the images are expensive to determine.
    init?(_ meta: HeaderBytes, primary: Int) throws(HeaderParsingError) {
        guard let references = try References(meta), let iinf = try BoxList.first("iinf", in: meta, from: 4) else {
            return nil
        }
        var visible: [Int] = []
        var composed: Set<Int> = []
        var list = BoxList(iinf, from: try iinf.byte(at: 0) == 0 ? 6 : 8)
        while let box = try list.next() {
            guard box.name == "infe" else { continue }
            let version = try box.content.byte(at: 0)
            guard version >= 2 else { continue }
            let idWidth = version == 2 ? 2 : 4
            let isHidden = try box.content.byte(at: 3) & 1 == 1
            let item = try box.content.number(at: 4, idWidth, .big)
            let kind = try FourCC(box.content, at: 4 + idWidth + 2)
            if Self.composedItemTypes.contains(kind) { composed.insert(item) }
            guard !isHidden, Self.imageItemTypes.contains(kind), !references.helpers.contains(item) else { continue }
            visible.append(item)
        }
        var sources: Set<Int> = []
        for source in references.sources where source.item != primary && composed.contains(source.composed) {
            sources.insert(source.item)
        }
        parts = visible.filter(sources.contains)
        count = visible.count - parts.count
    }

    /// The references between the items of a file.
    private struct References {
        /// The thumbnails and the auxiliary images.
        private(set) var helpers: Set<Int> = []
        /// The items from which other items are composed.
        private(set) var sources: [(item: Int, composed: Int)] = []

        /// Reads the references, or returns `nil` if there are too many.
        init?(_ meta: HeaderBytes) throws(HeaderParsingError) {
            guard let iref = try BoxList.first("iref", in: meta, from: 4) else { return }
            let idWidth = try iref.byte(at: 0) == 0 ? 2 : 4
            var list = BoxList(iref, from: 4)
            while let box = try list.next() {
                switch box.name {
                case "thmb", "auxl":
                    guard helpers.count < HEIFImageItems.maxHelpers else { return nil }
                    helpers.insert(try box.content.number(at: 0, idWidth, .big))
                case "dimg":
                    let item = try box.content.number(at: 0, idWidth, .big)
                    let count = try box.content.big16(at: idWidth)
                    guard sources.count + count <= HeaderBounds.heifReferences else { return nil }
                    for index in 0..<count {
                        let position = idWidth + 2 + index * idWidth
                        sources.append((try box.content.number(at: position, idWidth, .big), item))
                    }
                default: break
                }
            }
        }
    }
}
