// SPDX-License-Identifier: MIT

import Foundation

/// The headroom in the maker note of Apple's cameras, which files before iOS 17 contain instead of XMP.
enum AppleMakerNote {
    private static let exifDirectory = 0x8769
    private static let makerNote = 0x927C
    /// The tags of the maximum brightness and of the gain, from which Apple defines the headroom.
    private static let brightness = 33
    private static let gain = 48
    private static let signedRational = 10
    /// The number of bytes before the directory: a signature, a version, and a byte order.
    private static let header = 14

    /// Returns the headroom as a factor of the standard white, or `nil` if the block doesn't contain it. The block is
    /// that of the base image and starts with its byte order mark.
    static func headroom(exif: HeaderBytes) -> Double? {
        do throws(HeaderParsingError) {
            guard let root = try TIFFDirectory(exif),
                let place = try root.value(of: exifDirectory, at: root.firstOffset),
                let field = try root.field(makerNote, at: place)
            else { return nil }
            return try headroom(note: try exif.part(at: field.position, length: field.byteCount))
        } catch {
            return nil
        }
    }

    private static func headroom(note: HeaderBytes) throws(HeaderParsingError) -> Double? {
        guard try note.has("Apple iOS\0") else { return nil }
        let entries = min(try note.big16(at: header), HeaderBounds.tiffEntries)
        var values: [Int: Double] = [:]
        for index in 0..<entries {
            let entry = header + 2 + index * 12
            let tag = try note.big16(at: entry)
            guard tag == brightness || tag == gain, try note.big16(at: entry + 2) == signedRational else { continue }
            let place = try note.big32(at: entry + 8)
            let numerator = Int32(truncatingIfNeeded: try note.big32(at: place))
            let denominator = Int32(truncatingIfNeeded: try note.big32(at: place + 4))
            guard denominator != 0 else { return nil }
            values[tag] = Double(numerator) / Double(denominator)
        }
        guard let brightness = values[brightness], let gain = values[gain] else { return nil }
        return headroom(brightness: brightness, gain: gain)
    }

    /// Returns the headroom by the formula in Apple's documentation of HDR effects.
    static func headroom(brightness: Double, gain: Double) -> Double {
        let stops =
            if brightness < 1 {
                gain <= 0.01 ? -20 * gain + 1.8 : -0.101 * gain + 1.601
            } else {
                gain <= 0.01 ? -70 * gain + 3 : -0.303 * gain + 2.303
            }
        return exp2(max(stops, 0))
    }
}
