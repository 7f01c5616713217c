// SPDX-License-Identifier: MIT

import Foundation

/// The order in which the items of a HEIF or AVIF file list their properties.
///
/// Descriptive properties, such as the size, describe the coded image. Clean apertures crop the coded image, so they
/// apply before rotations and mirrorings (ISO/IEC 23000-22, section 7.3.6.7). Rotations and mirrorings apply in the
/// order in which the item lists them (ISO/IEC 23008-12, section 6.5.1).
///
/// Some writers list a rotation before the size or before the clean aperture. libheif 1.15 then reports the size
/// without the rotation and crops the rotated image, and libavif 1.2 ignores descriptive properties after others. So
/// decoders receive a file whose items list their properties in the usual order.
package enum HEIFPropertyOrder {
    /// A change of a part of the file that keeps its size.
    private struct Change {
        var offset: Int
        var bytes: [UInt8]
    }

    /// Returns a copy of a file in which each item lists its descriptive properties first, then its clean aperture,
    /// and then its rotations and mirrorings.
    ///
    /// - Parameter file: A file, or a part of it from its beginning.
    /// - Returns: The copy, or `nil` if all items have this order or if their properties are incomplete or invalid.
    package static func normalized(_ file: Data) -> Data? {
        let changes = file.withUnsafeBytes { Self.changes(in: HeaderBytes($0, isComplete: false)) }
        guard !changes.isEmpty else { return nil }
        var copy = Data(file)
        for change in changes {
            let begin = copy.startIndex + change.offset
            copy.replaceSubrange(begin..<begin + change.bytes.count, with: change.bytes)
        }
        return copy
    }

    private static func changes(in file: HeaderBytes) -> [Change] {
        do throws(HeaderParsingError) {
            guard let meta = try BoxList.first("meta", in: file),
                let iprp = try BoxList.first("iprp", in: meta, from: 4),
                let ipco = try BoxList.first("ipco", in: iprp)
            else { return [] }
            let stages = try Self.stages(of: ipco)
            var found: [Change] = []
            var list = BoxList(iprp)
            while let box = try list.next() {
                guard box.name == "ipma" else { continue }
                try HEIFAssociations.forEach(box.content) { (entry) throws(HeaderParsingError) in
                    if let change = try Self.change(of: entry, in: box.content, stages) { found.append(change) }
                }
            }
            return found
        } catch {
            return []
        }
    }

    /// Returns the stage of each property: 0 for descriptive properties, 1 for clean apertures, and 2 for rotations and
    /// mirrorings.
    private static func stages(of ipco: HeaderBytes) throws(HeaderParsingError) -> [Int] {
        var stages: [Int] = []
        var list = BoxList(ipco)
        while let property = try list.next() {
            switch property.name {
            case "clap": stages.append(1)
            case "irot", "imir": stages.append(2)
            default: stages.append(0)
            }
        }
        return stages
    }

    /// Returns the change that sorts the associations of an item by their stages, or `nil` if they're sorted.
    private static func change(
        of entry: HEIFAssociations.Entry, in ipma: HeaderBytes, _ stages: [Int]
    ) throws(HeaderParsingError) -> Change? {
        let order = entry.indices.map { stages.indices.contains($0 - 1) ? stages[$0 - 1] : 0 }
        guard zip(order, order.dropFirst()).contains(where: { $0 > $1 }) else { return nil }
        let stored = try ipma.withBytes(entry.indices.count * entry.width, at: entry.offset) { Array($0) }
        var bytes: [UInt8] = []
        for stage in 0...2 {
            for index in order.indices where order[index] == stage {
                bytes += stored[index * entry.width..<(index + 1) * entry.width]
            }
        }
        return Change(offset: ipma.position + entry.offset, bytes: bytes)
    }
}
