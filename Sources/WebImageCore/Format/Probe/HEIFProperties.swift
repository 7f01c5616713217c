// SPDX-License-Identifier: MIT

/// The properties of a HEIF item (ISO/IEC 23008-12, section 6.5; AV1-ISOBMFF, section 2.3; ISO/IEC 14496-15, section
/// 8.3).
struct HEIFProperties {
    private(set) var size: PixelSize?
    private(set) var depth: Int?
    private(set) var hasAlpha = false
    private(set) var hasICCProfile = false
    private(set) var codePoints: ColorCodePoints?
    private static let alphaKinds: [StaticString] = [
        "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:avc:2015:auxid:1",
    ]
    private var depthIsStated = false
    private var apertures: [(rank: Int, size: PixelSize)] = []
    private var turns: [(rank: Int, orientation: ImageOrientation)] = []

    /// The size of the visible part, or `nil` if it's missing or exceeds the image.
    ///
    /// A clean aperture is a part of the coded image, so it applies before rotations and mirrorings, regardless of the
    /// order in the item's list (ISO/IEC 23000-22, section 7.3.6.7). See ``HEIFPropertyOrder``.
    var cleanAperture: PixelSize? {
        guard let size else { return nil }
        var visible = size
        for aperture in apertures.sorted(by: { $0.rank < $1.rank }) {
            let part = aperture.size
            if !part.isEmpty, part.width <= visible.width, part.height <= visible.height { visible = part }
        }
        return visible == size ? nil : visible
    }

    /// The rotations and the mirrorings, combined in the order in which the item lists them.
    var orientation: ImageOrientation {
        turns.sorted { $0.rank < $1.rank }.reduce(.up) { $0.followed(by: $1.orientation) }
    }

    /// Adds the property at position `rank` of the item's list.
    mutating func add(_ box: BoxList.Box, rank: Int) throws(HeaderParsingError) {
        let content = box.content
        switch box.name {
        case "ispe":
            size = PixelSize(width: try content.big32(at: 4), height: try content.big32(at: 8))
        case "pixi":
            guard try content.byte(at: 4) > 0 else { return }
            depth = Int(try content.byte(at: 5))
            depthIsStated = true
        case "av1C" where !depthIsStated:
            let flags = try content.byte(at: 2)
            depth = flags & 0x40 == 0 ? 8 : flags & 0x20 == 0 ? 10 : 12
        case "hvcC" where !depthIsStated:
            depth = Int(try content.byte(at: 17) & 7) + 8
        case "colr":
            let kind = try FourCC(content, at: 0)
            if kind == "nclx" {
                codePoints = ColorCodePoints(primaries: try content.big16(at: 4), transfer: try content.big16(at: 6))
            }
            guard kind == "prof" || kind == "rICC" else { return }
            try HeaderParsingError.check(
                content.declaredLength ?? 0, limit: HeaderBounds.iccBytes, "bytes of ICC profile data")
            hasICCProfile = true
        case "clap":
            // Width and height are fractions. Decoders ignore incomplete pixels.
            let widthUnit = max(1, try content.big32(at: 4))
            let heightUnit = max(1, try content.big32(at: 12))
            let part = PixelSize(
                width: try content.big32(at: 0) / widthUnit, height: try content.big32(at: 8) / heightUnit)
            apertures.append((rank, part))
        case "irot":
            // The value is the number of counterclockwise quarter turns.
            let quarters: [ImageOrientation] = [.up, .left, .down, .right]
            turns.append((rank, quarters[Int(try content.byte(at: 0) & 3)]))
        case "imir":
            // 0 swaps top and bottom, and 1 swaps left and right.
            turns.append((rank, try content.byte(at: 0) & 1 == 0 ? .downMirrored : .upMirrored))
        default: return
        }
    }

    /// Adds the type of an auxiliary image. The file has alpha if any auxiliary image contains alpha.
    mutating func addAuxiliaryType(_ content: HeaderBytes) throws(HeaderParsingError) {
        if try content.has(anyOf: Self.alphaKinds, at: 4) { hasAlpha = true }
    }
}
