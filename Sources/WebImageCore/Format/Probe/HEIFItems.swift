// SPDX-License-Identifier: MIT

/// A parser for the `meta` box of a HEIF file, which finds the primary item and its properties (ISO/IEC 14496-12,
/// section 8.11; ISO/IEC 23008-12, section 6.5).
struct HEIFItems {
    private let format: ImageFormat
    private var primary = 0
    /// The indices of the primary item's properties in the order in which they apply, counted from 1.
    private var primaryPropertyIndices: [Int] = []

    /// Reads the properties of the primary item. `meta` is the content of the `meta` box, and `file` is the available
    /// part of the file.
    static func read(
        _ meta: HeaderBytes, file: HeaderBytes, format: ImageFormat
    ) throws(HeaderParsingError) -> ImageInfo {
        var reader = HEIFItems(format: format)
        guard let pitm = try BoxList.first("pitm", in: meta, from: 4) else {
            throw .corrupt(format, "the primary item is missing")
        }
        reader.primary = try pitm.byte(at: 0) == 0 ? try pitm.big16(at: 4) : try pitm.big32(at: 4)
        guard let iprp = try BoxList.first("iprp", in: meta, from: 4),
            let ipco = try BoxList.first("ipco", in: iprp)
        else { throw .corrupt(format, "the item properties are missing") }
        try reader.findAssociations(iprp)
        var probe = try reader.describe(ipco)
        // Only the primary image of an AVIF file can be decoded.
        if format == .heif {
            if let images = try HEIFImageItems(meta, primary: reader.primary) {
                probe.frameCount = max(1, images.count)
            } else {
                probe.frameCountIsExact = false
            }
        }
        let graph = try HEIFItemGraph(meta, file: file, format: format)
        probe.addCost(graph.largestCost(primary: reader.primary))
        return probe
    }

    private init(format: ImageFormat) { self.format = format }

    private mutating func findAssociations(_ iprp: HeaderBytes) throws(HeaderParsingError) {
        var list = BoxList(iprp)
        while let box = try list.next() {
            guard box.name == "ipma" else { continue }
            try HEIFAssociations.forEach(box.content) { (entry) throws(HeaderParsingError) in
                guard entry.item == primary else { return }
                primaryPropertyIndices += entry.indices
                try HeaderParsingError.check(
                    primaryPropertyIndices.count, limit: HeaderBounds.itemProperties, "properties for one item")
            }
        }
    }

    private func describe(_ ipco: HeaderBytes) throws(HeaderParsingError) -> ImageInfo {
        var found = HEIFProperties()
        var list = BoxList(ipco)
        var index = 0
        while let box = try list.next() {
            index += 1
            if box.name == "auxC" { try found.addAuxiliaryType(box.content) }
            // An item can list a rotation or a mirroring several times.
            for (rank, associated) in primaryPropertyIndices.enumerated() where associated == index {
                try found.add(box, rank: rank)
            }
        }
        guard let size = found.size else { throw .corrupt(format, "the size of the primary item is missing") }
        guard !size.isEmpty else { throw .corrupt(format, "a side has zero pixels") }
        return ImageInfo(
            format: format, storedSize: size, orientation: found.orientation, bitDepth: found.depth ?? 8,
            hasAlpha: found.hasAlpha, hasICCProfile: found.hasICCProfile, cleanAperture: found.cleanAperture,
            codePoints: found.codePoints)
    }
}
