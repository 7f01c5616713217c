// SPDX-License-Identifier: MIT

import WebImageCore

/// A writer of ICC profiles with the smallest set of tags (ICC.1:2022, sections 7 to 10). A profile takes about 500
/// bytes, so it also suits thumbnails.
enum CompactProfile {
    static let displayP3 = bytes(.displayP3, .sRGB, name: "Display P3") ?? []

    /// Returns a display profile of version 4.3, or `nil` if ICC profiles can't describe the color space.
    static func bytes(_ primaries: Chromaticities, _ transfer: TransferFunction, name: String) -> [UInt8]? {
        guard let curve = curve(of: transfer), let colorants = primaries.toD50?.flat,
            let adaptation = primaries.adaptationToD50?.flat
        else { return nil }
        var writer = ProfileWriter()
        writer.add(["desc"], text(name))
        writer.add(["cprt"], text("CC0"))
        writer.add(["wtpt"], xyz([0.9642, 1, 0.8249]))
        writer.add(["chad"], Array("sf32".utf8) + [0, 0, 0, 0] + adaptation.flatMap(fixed))
        for (channel, name) in ["rXYZ", "gXYZ", "bXYZ"].enumerated() {
            writer.add([name], xyz([colorants[channel], colorants[channel + 3], colorants[channel + 6]]))
        }
        writer.add(["rTRC", "gTRC", "bTRC"], curve)
        return writer.finish()
    }

    /// Returns a parametric curve (section 10.18), or `nil` for PQ and HLG.
    private static func curve(of transfer: TransferFunction) -> [UInt8]? {
        func segments(_ gamma: Double, offset: Double, slope: Double, start: Double) -> [UInt8] {
            let scale = 1 / (1 + offset)
            let numbers = [gamma, scale, offset * scale, 1 / slope, start]
            return Array("para".utf8) + [0, 0, 0, 0, 0, 3, 0, 0] + numbers.flatMap(fixed)
        }
        return switch transfer {
        case .sRGB: segments(2.4, offset: 0.055, slope: 12.92, start: 0.04045)
        case .bt709: segments(1 / 0.45, offset: 0.099_296_83, slope: 4.5, start: 0.081_242_86)
        case .smpte240: segments(1 / 0.45, offset: 0.1115, slope: 4, start: 0.0912)
        case .gamma(let power): Array("para".utf8) + [0, 0, 0, 0, 0, 0, 0, 0] + fixed(power)
        case .pq, .hlg: nil
        }
    }

    /// Returns a localized text (section 10.15).
    private static func text(_ text: String) -> [UInt8] {
        let units = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        return Array("mluc".utf8) + [0, 0, 0, 0] + ProfileWriter.big(1) + ProfileWriter.big(12) + Array("enUS".utf8)
            + ProfileWriter.big(units.count) + ProfileWriter.big(28) + units
    }

    private static func xyz(_ values: [Double]) -> [UInt8] {
        Array("XYZ ".utf8) + [0, 0, 0, 0] + values.flatMap(fixed)
    }

    /// Returns a number of the type s15Fixed16Number (section 4.6).
    private static func fixed(_ value: Double) -> [UInt8] {
        ProfileWriter.big(Int((min(max(value, -32_768), 32_767) * 65_536).rounded()))
    }
}

/// A writer for the header, the tag table, and the tags of a profile.
private struct ProfileWriter {
    private var entries: [(name: String, start: Int, count: Int)] = []
    private var body: [UInt8] = []

    static func big(_ value: Int) -> [UInt8] {
        let value = UInt32(truncatingIfNeeded: value)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    /// Appends one element that all names share.
    mutating func add(_ names: [String], _ element: [UInt8]) {
        for name in names { entries.append((name, body.count, element.count)) }
        body += element
        body += [UInt8](repeating: 0, count: -body.count & 3)
    }

    func finish() -> [UInt8] {
        let start = 132 + entries.count * 12
        var bytes = Self.big(start + body.count) + [0, 0, 0, 0] + Self.big(0x0430_0000)
        bytes += Array("mntrRGB XYZ ".utf8)
        // The date of creation is constant, so equal color spaces have equal profiles.
        bytes += [7, 0xE8, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0] + Array("acsp".utf8)
        bytes += [UInt8](repeating: 0, count: 28)
        // The illuminant D50 (section 7.2.16).
        for value in [0xF6D6, 0x1_0000, 0xD32D] { bytes += Self.big(value) }
        bytes += [UInt8](repeating: 0, count: 128 - bytes.count)
        bytes += Self.big(entries.count)
        for entry in entries { bytes += Array(entry.name.utf8) + Self.big(start + entry.start) + Self.big(entry.count) }
        return bytes + body
    }
}
