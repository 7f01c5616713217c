// SPDX-License-Identifier: MIT

import Foundation

extension ColorCodePoints {
    /// The numbers that this library supports. Others, and the number 2 for unspecified, don't replace a profile.
    private static let knownPrimaries: Set<Int> = [1, 4, 5, 6, 7, 8, 9, 11, 12, 22]
    private static let knownTransfers: Set<Int> = [1, 4, 5, 6, 7, 8, 13, 14, 15, 16, 17, 18]
    /// The maximum number of tags in a profile. Little CMS reads at most 100.
    private static let maxTags = 100
    private static let classes: Set<FourCC> = ["scnr", "mntr"]

    /// Reads the tag `cicp` of an ICC profile (ICC.1:2022, sections 9.2.17 and 10.3), which describes the samples exactly and
    /// takes precedence over the curves and tables of the profile.
    ///
    /// The result is `nil` if the profile has no such tag, or if the tag is invalid: Only profiles of version 4 for input and
    /// display devices with RGB samples can have it, its samples have the full range and no matrix, and its numbers must be
    /// known.
    package init?(iccProfile profile: [UInt8]) {
        let found = profile.withUnsafeBytes { bytes -> ColorCodePoints? in
            do throws(HeaderParsingError) {
                return try Self.read(HeaderBytes(bytes, isComplete: true))
            } catch {
                return nil
            }
        }
        guard let found else { return nil }
        self = found
    }

    private static func read(_ profile: HeaderBytes) throws(HeaderParsingError) -> ColorCodePoints? {
        // The header has 128 bytes, and the signature is at the offset 36.
        guard profile.available <= HeaderBounds.iccBytes, try profile.has("acsp", at: 36),
            try profile.byte(at: 8) == 4, try profile.has("RGB ", at: 16), classes.contains(try FourCC(profile, at: 12))
        else { return nil }
        let count = try profile.big32(at: 128)
        guard count <= maxTags else { return nil }
        for index in 0..<count {
            let entry = 132 + index * 12
            guard try profile.has("cicp", at: entry) else { continue }
            let tag = try profile.part(at: try profile.big32(at: entry + 4), length: try profile.big32(at: entry + 8))
            // The name of the type and four reserved bytes precede the numbers.
            guard tag.available >= 12, try tag.has("cicp"), try tag.byte(at: 10) == 0, try tag.byte(at: 11) == 1 else {
                return nil
            }
            let points = ColorCodePoints(primaries: Int(try tag.byte(at: 8)), transfer: Int(try tag.byte(at: 9)))
            guard knownPrimaries.contains(points.primaries), knownTransfers.contains(points.transfer) else {
                return nil
            }
            return points
        }
        return nil
    }
}

extension ColorCodePoints {
    /// The maximum length of the name of a profile in a PNG file, with its end and the compression method.
    private static let maxNameBytes = 81

    /// Reads the tag `cicp` of the profile that a whole AVIF, HEIF, or PNG file contains. The result is `nil` if the file has
    /// no profile or no valid tag, and for other formats.
    package init?(ofProfileIn file: Data, format: ImageFormat) {
        let profile = file.withUnsafeBytes { bytes -> [UInt8]? in
            let bytes = HeaderBytes(bytes, isComplete: true)
            do throws(HeaderParsingError) {
                switch format {
                case .avif, .heif: return try Self.profile(ofItemsIn: bytes)
                case .png, .apng: return try Self.profile(ofChunksIn: bytes)
                default: return nil
                }
            } catch {
                return nil
            }
        }
        guard let profile else { return nil }
        self.init(iccProfile: profile)
    }

    private static func profile(ofItemsIn file: HeaderBytes) throws(HeaderParsingError) -> [UInt8]? {
        guard let meta = try BoxList.first("meta", in: file), let pitm = try BoxList.first("pitm", in: meta, from: 4)
        else { return nil }
        let primary = try pitm.number(at: 4, try pitm.byte(at: 0) == 0 ? 2 : 4, .big)
        for property in try HEIFAssociations.properties(of: primary, in: meta) where property.name == "colr" {
            let content = property.content
            guard try content.has(anyOf: ["prof", "rICC"]), content.available <= HeaderBounds.iccBytes else { continue }
            return try content.withBytes(content.available - 4, at: 4) { [UInt8]($0) }
        }
        return nil
    }

    private static func profile(ofChunksIn file: HeaderBytes) throws(HeaderParsingError) -> [UInt8]? {
        var offset = 8
        for _ in 0..<HeaderBounds.pngChunks {
            let length = try file.big32(at: offset)
            let name = try FourCC(file, at: offset + 4)
            guard name != "IDAT", name != "IEND" else { return nil }
            if name == "iCCP" {
                let chunk = try file.part(at: offset + 8, length: length)
                guard length <= HeaderBounds.iccBytes else { return nil }
                var start = 0
                while start < maxNameBytes, try chunk.byte(at: start) != 0 { start += 1 }
                // A byte with the compression method and the two bytes of the zlib header precede the data.
                guard start < maxNameBytes, length > start + 4 else { return nil }
                let packed = try chunk.withBytes(length - start - 4, at: start + 4) { [UInt8]($0) }
                let (profile, end) = Inflate.unpack(packed, limit: HeaderBounds.iccBytes)
                guard case .finished = end else { return nil }
                return profile
            }
            offset += length + 12
        }
        return nil
    }
}
