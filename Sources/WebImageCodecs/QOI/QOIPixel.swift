// SPDX-License-Identifier: MIT

/// A pixel as QOI's steps see it: straight, every sum within a byte wraps around.
struct QOIPixel: Equatable {
    var red: UInt8
    var green: UInt8
    var blue: UInt8
    var alpha: UInt8

    /// What comes before the first pixel.
    static let first = QOIPixel(red: 0, green: 0, blue: 0, alpha: 255)
    /// What the table holds before anything was seen.
    static let none = QOIPixel(red: 0, green: 0, blue: 0, alpha: 0)

    /// The pixel's place in the table of those seen.
    var place: Int { (Int(red) * 3 + Int(green) * 5 + Int(blue) * 7 + Int(alpha) * 11) % 64 }

    /// Whole pixels.
    static let rgb: UInt8 = 0xFE
    static let rgba: UInt8 = 0xFF
    /// The upper two bits of all other steps.
    static let index: UInt8 = 0x00
    static let difference: UInt8 = 0x40
    static let luma: UInt8 = 0x80
    static let run: UInt8 = 0xC0
    /// Longer runs would be whole pixels.
    static let longestRun: UInt8 = 62
}
