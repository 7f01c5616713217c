// SPDX-License-Identifier: MIT

import Foundation

/// The gain map of a HEIF or AVIF file, which is an item of the file.
///
/// The item is the second source of a `tmap` item (ISO 21496-1, annex C), or an auxiliary image of the primary item with
/// Apple's type. Older libraries know neither, so ``standaloneFile(_:)`` makes the item the primary item of a copy.
package struct HEIFGainMap: Sendable, Hashable {
    /// The metadata of the gain map.
    package let metadata: GainMapMetadata
    private let item: Int
    private let patches: [Patch]

    /// A change of a part of the file that keeps its size.
    private struct Patch: Sendable, Hashable {
        var offset: Int
        var bytes: [UInt8]
    }

    private static let appleType: StaticString = "urn:com:apple:photo:2020:aux:hdrgainmap\0"
    /// The maximum size of the data of a `tmap` item, in bytes. Three channels use 142 bytes.
    private static let maxMetadataBytes = 4_096
    /// The maximum number of EXIF items to search. Files of cameras have one.
    private static let maxExifItems = 4
    /// The type that hides a reference from decoders.
    private static let ignoredType: [UInt8] = Array("skip".utf8)

    /// Finds the gain map in a whole file. The result is `nil` if the file has none or its metadata are invalid.
    package static func find(in file: UnsafeRawBufferPointer) -> HEIFGainMap? {
        do throws(HeaderParsingError) {
            let bytes = HeaderBytes(file, isComplete: true)
            guard let meta = try BoxList.first("meta", in: bytes) else { return nil }
            return try HEIFGainMap(meta, file: bytes)
        } catch {
            return nil
        }
    }

    /// Finds the gain map in a whole file.
    package static func find(in file: Data) -> HEIFGainMap? { file.withUnsafeBytes { find(in: $0) } }

    /// Returns a file whose primary image is the gain map that was found in `file`.
    package func standaloneFile(_ file: Data) -> Data {
        var copy = Data(file)
        for patch in patches where patch.offset + patch.bytes.count <= copy.count {
            let start = copy.startIndex + patch.offset
            copy.replaceSubrange(start..<start + patch.bytes.count, with: patch.bytes)
        }
        return copy
    }

    private init?(_ meta: HeaderBytes, file: HeaderBytes) throws(HeaderParsingError) {
        guard let pitm = try BoxList.first("pitm", in: meta, from: 4),
            let iinf = try BoxList.first("iinf", in: meta, from: 4),
            let iref = try BoxList.first("iref", in: meta, from: 4)
        else { return nil }
        let width = try pitm.byte(at: 0) == 0 ? 2 : 4
        let primary = try pitm.number(at: 4, width, .big)
        let items = try Items(iinf)
        let references = try References(iref)
        var found: (metadata: GainMapMetadata, item: Int, reference: Int)?
        for map in items.toneMaps where found == nil {
            guard let link = references.links.first(where: { $0.type == "dimg" && $0.from == map }),
                link.targets.count == 2, link.targets[0] == primary,
                var metadata = try Self.toneMapMetadata(of: map, meta, file)
            else { continue }
            metadata.alternatePrimaries = try Self.primaries(of: map, meta)
            found = (metadata, link.targets[1], link.typeOffset)
        }
        if found == nil { found = try Self.appleMap(meta, file, primary: primary, items, references) }
        guard let found, found.item != primary, found.item < 1 << (8 * width) else { return nil }
        metadata = found.metadata
        item = found.item
        let identifier = (0..<width).map { UInt8(truncatingIfNeeded: found.item >> (8 * (width - 1 - $0))) }
        var patches = [
            Patch(offset: pitm.position + 4, bytes: identifier),
            Patch(offset: found.reference, bytes: Self.ignoredType),
        ]
        // Decoders may skip hidden items, even if one is the primary item.
        if let flags = items.flags[found.item] {
            patches.append(Patch(offset: flags.offset, bytes: [flags.value & 0xFE]))
        }
        self.patches = patches
    }

    private static func toneMapMetadata(
        of item: Int, _ meta: HeaderBytes, _ file: HeaderBytes
    ) throws(HeaderParsingError) -> GainMapMetadata? {
        guard let data = try data(of: item, meta, file) else { return nil }
        return GainMapMetadata(toneMapItem: data)
    }

    private static func data(
        of item: Int, _ meta: HeaderBytes, _ file: HeaderBytes
    ) throws(HeaderParsingError) -> [UInt8]? {
        guard let iloc = try BoxList.first("iloc", in: meta, from: 4),
            let extents = try HEIFItemLocations(iloc).extents[item],
            let data = HEIFItemData(extents, idat: try BoxList.first("idat", in: meta, from: 4), file: file),
            data.remaining <= maxMetadataBytes
        else { return nil }
        return data.peek(data.remaining)
    }

    private static func primaries(of item: Int, _ meta: HeaderBytes) throws(HeaderParsingError) -> Int? {
        for property in try HEIFAssociations.properties(of: item, in: meta) where property.name == "colr" {
            if try property.content.has("nclx") { return try property.content.big16(at: 4) }
        }
        return nil
    }

    /// Finds Apple's auxiliary image, whose headroom is in its XMP packet.
    private static func appleMap(
        _ meta: HeaderBytes, _ file: HeaderBytes, primary: Int, _ items: Items, _ references: References
    ) throws(HeaderParsingError) -> (metadata: GainMapMetadata, item: Int, reference: Int)? {
        for link in references.links where link.type == "auxl" && link.targets.contains(primary) {
            guard try isAppleGainMap(link.from, meta) else { continue }
            let fromNote = try makerNoteHeadroom(items, references, meta, file)
            for other in references.links where other.type == "cdsc" && other.targets.contains(link.from) {
                if let packet = try largeData(of: other.from, meta, file),
                    let metadata = GainMapMetadata(xmp: packet, appleHeadroom: fromNote)
                {
                    return (metadata, link.from, link.typeOffset)
                }
            }
            if let metadata = GainMapMetadata(appleHeadroom: fromNote) { return (metadata, link.from, link.typeOffset) }
        }
        return nil
    }

    private static func isAppleGainMap(_ item: Int, _ meta: HeaderBytes) throws(HeaderParsingError) -> Bool {
        for property in try HEIFAssociations.properties(of: item, in: meta) where property.name == "auxC" {
            if try property.content.has(appleType, at: 4) { return true }
        }
        return false
    }

    /// Returns the headroom in the maker note of the EXIF item, which begins with the offset of the EXIF block.
    private static func makerNoteHeadroom(
        _ items: Items, _ references: References, _ meta: HeaderBytes, _ file: HeaderBytes
    ) throws(HeaderParsingError) -> Double? {
        for item in items.exif.prefix(maxExifItems) {
            guard let data = try largeData(of: item, meta, file), data.count > 4 else { continue }
            let start = 4 + data[..<4].reduce(0) { $0 << 8 | Int($1) }
            guard start < data.count else { continue }
            let headroom = data[start...].withUnsafeBytes {
                AppleMakerNote.headroom(exif: HeaderBytes($0, isComplete: true))
            }
            if let headroom { return headroom }
        }
        return nil
    }

    /// Returns the data of an item with an XMP packet or an EXIF block.
    private static func largeData(
        of item: Int, _ meta: HeaderBytes, _ file: HeaderBytes
    ) throws(HeaderParsingError) -> [UInt8]? {
        guard let iloc = try BoxList.first("iloc", in: meta, from: 4),
            let extents = try HEIFItemLocations(iloc).extents[item],
            let data = HEIFItemData(extents, idat: try BoxList.first("idat", in: meta, from: 4), file: file),
            data.remaining <= XMPProperties.maxBytes
        else { return nil }
        return data.peek(data.remaining)
    }

    /// The items that are important for gain maps.
    private struct Items {
        private(set) var toneMaps: [Int] = []
        private(set) var exif: [Int] = []
        private(set) var flags: [Int: (offset: Int, value: UInt8)] = [:]

        init(_ iinf: HeaderBytes) throws(HeaderParsingError) {
            var list = BoxList(iinf, from: try iinf.byte(at: 0) == 0 ? 6 : 8)
            while let box = try list.next() {
                guard box.name == "infe" else { continue }
                let version = try box.content.byte(at: 0)
                guard version >= 2 else { continue }
                let width = version == 2 ? 2 : 4
                let item = try box.content.number(at: 4, width, .big)
                flags[item] = (box.content.position + 3, try box.content.byte(at: 3))
                try HeaderParsingError.check(flags.count, limit: HeaderBounds.heifItems, "HEIF items")
                let type = try FourCC(box.content, at: 4 + width + 2)
                if type == "tmap" { toneMaps.append(item) }
                if type == "Exif" { exif.append(item) }
            }
        }
    }

    /// The references between items.
    private struct References {
        struct Link {
            var type: FourCC
            var typeOffset: Int
            var from: Int
            var targets: [Int]
        }

        private(set) var links: [Link] = []

        init(_ iref: HeaderBytes) throws(HeaderParsingError) {
            let width = try iref.byte(at: 0) == 0 ? 2 : 4
            var list = BoxList(iref, from: 4)
            var total = 0
            while let box = try list.next() {
                guard ["dimg", "auxl", "cdsc"].contains(box.name) else { continue }
                let from = try box.content.number(at: 0, width, .big)
                let count = try box.content.big16(at: width)
                total += count
                try HeaderParsingError.check(total, limit: HeaderBounds.heifReferences, "references between HEIF items")
                var targets: [Int] = []
                for index in 0..<count {
                    targets.append(try box.content.number(at: width + 2 + index * width, width, .big))
                }
                // A box of references is small, so its header has 8 bytes.
                links.append(Link(type: box.name, typeOffset: box.content.position - 4, from: from, targets: targets))
            }
        }
    }
}
