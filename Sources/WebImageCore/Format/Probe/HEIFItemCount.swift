// SPDX-License-Identifier: MIT

/// A counter for the independent images of a HEIF file, without hidden images, thumbnails, and alpha planes (ISO/IEC
/// 14496-12, sections 8.11.6 and 8.11.12).
enum HEIFItemCount {
    private static let imageItemTypes: Set<FourCC> = [
        "hvc1", "hev1", "av01", "avc1", "vvc1", "jpeg", "j2k1", "unci", "grid", "iden", "iovl",
    ]
    /// The maximum number of thumbnails and auxiliary images to track, which legitimate files never reach.
    private static let maxHelpers = 64

    /// Returns the number of images, or `nil` if it's expensive to determine.
    static func read(_ meta: HeaderBytes) throws(HeaderParsingError) -> Int? {
        guard let helpers = try helpers(meta), let iinf = try BoxList.first("iinf", in: meta, from: 4) else {
            return nil
        }
        var list = BoxList(iinf, from: try iinf.byte(at: 0) == 0 ? 6 : 8)
        var count = 0
        while let box = try list.next() {
            guard box.name == "infe" else { continue }
            let version = try box.content.byte(at: 0)
            guard version >= 2 else { continue }
            let idWidth = version == 2 ? 2 : 4
            let isHidden = try box.content.byte(at: 3) & 1 == 1
            let item = try box.content.number(at: 4, idWidth, .big)
            let kind = try FourCC(box.content, at: 4 + idWidth + 2)
            if !isHidden, imageItemTypes.contains(kind), !helpers.contains(item) { count += 1 }
        }
        return count
    }

    private static func helpers(_ meta: HeaderBytes) throws(HeaderParsingError) -> [Int]? {
        guard let iref = try BoxList.first("iref", in: meta, from: 4) else { return [] }
        let idWidth = try iref.byte(at: 0) == 0 ? 2 : 4
        var list = BoxList(iref, from: 4)
        var helpers: [Int] = []
        while let box = try list.next() {
            guard box.name == "thmb" || box.name == "auxl" else { continue }
            guard helpers.count < maxHelpers else { return nil }
            helpers.append(try box.content.number(at: 0, idWidth, .big))
        }
        return helpers
    }
}
