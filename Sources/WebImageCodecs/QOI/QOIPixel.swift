// SPDX-License-Identifier: MIT

/// A pixel with straight alpha in the QOI algorithm. All sums of samples wrap around within a byte.
struct QOIPixel: Equatable {
    var red: UInt8
    var green: UInt8
    var blue: UInt8
    var alpha: UInt8

    /// The value before the first pixel.
    static let first = QOIPixel(red: 0, green: 0, blue: 0, alpha: 255)
    /// The initial value of the entries in the table of seen pixels.
    static let none = QOIPixel(red: 0, green: 0, blue: 0, alpha: 0)

    /// The index of the pixel in the table of seen pixels.
    var tableIndex: Int { (Int(red) * 3 + Int(green) * 5 + Int(blue) * 7 + Int(alpha) * 11) % 64 }

    /// The tags of complete pixels.
    static let rgb: UInt8 = 0xFE
    static let rgba: UInt8 = 0xFF
    /// The upper two bits of the other tags.
    static let index: UInt8 = 0x00
    static let difference: UInt8 = 0x40
    static let luma: UInt8 = 0x80
    static let run: UInt8 = 0xC0
    /// The length of the longest run. Longer runs would have the tags of complete pixels.
    static let longestRun: UInt8 = 62
}
