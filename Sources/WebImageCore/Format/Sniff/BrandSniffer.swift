// SPDX-License-Identifier: MIT

/// A detector that distinguishes the formats of the ISO base media family by the brands in their first box.
///
/// The brands are defined in ISO/IEC 14496-12, section 4.3, in ISO/IEC 23008-12, section 10, and in the AV1 Image File
/// Format, section 6.
enum BrandSniffer {
    /// The number of bytes in which the detector searches for brands.
    private static let window = 4_096
    private static let avif: Set<FourCC> = ["avif", "avis"]
    private static let heif: Set<FourCC> = ["heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1"]
    private static let mp4: Set<FourCC> = [
        "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8", "iso9", "mp41", "mp42", "mp71", "avc1", "M4V ",
        "M4A ", "M4P ", "M4B ", "3gp4", "3gp5", "3gp6", "3g2a", "dash", "MSNV", "f4v ", "cmfc",
    ]
    /// The first boxes of QuickTime files that predate brands.
    private static let quickTime: Set<FourCC> = ["moov", "mdat", "wide", "pnot", "free", "skip"]

    /// Returns the format, or `nil` if the data doesn't begin with a box of the family.
    static func format(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageFormat? {
        let size = try bytes.big32(at: 0)
        let name = try FourCC(bytes, at: 4)
        if quickTime.contains(name), size == 1 || size >= 8 { return .mov }
        guard name == "ftyp", size >= 16 else { return nil }
        let major = try FourCC(bytes, at: 8)
        var found = mark(major)
        var offset = 16
        while offset + 4 <= min(size, window) {
            if found == .avif { return found }
            let next = mark(try FourCC(bytes, at: offset))
            if next == .avif || (next == .heif && found != .avif) { found = next }
            if found == nil { found = next }
            offset += 4
        }
        return found
    }

    private static func mark(_ brand: FourCC) -> ImageFormat? {
        if avif.contains(brand) { return .avif }
        if heif.contains(brand) { return .heif }
        if brand == "qt  " { return .mov }
        if brand == "crx " { return .cr3 }
        return mp4.contains(brand) ? .mp4 : nil
    }
}
