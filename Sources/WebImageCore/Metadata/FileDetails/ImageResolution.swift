// SPDX-License-Identifier: MIT

/// The resolution of an image for printing, in pixels per inch.
public struct ImageResolution: Sendable, Hashable {
    /// The horizontal resolution.
    public let horizontal: Double
    /// The vertical resolution.
    public let vertical: Double

    private static let centimetersPerInch = 2.54
    private static let metersPerInch = 0.0254

    /// Creates a resolution from numbers of pixels per unit, or returns `nil` if a number isn't positive. `inches` is the
    /// number of units per inch.
    private init?(_ horizontal: Double, _ vertical: Double, unitsPerInch inches: Double) {
        guard horizontal > 0, vertical > 0, horizontal.isFinite, vertical.isFinite else { return nil }
        self.horizontal = horizontal * inches
        self.vertical = vertical * inches
    }

    /// Creates the resolution in the JFIF segment of a JPEG file (ITU-T T.871, section 10.1).
    init?(jfif segment: HeaderBytes) throws(HeaderParsingError) {
        let numbers = (Double(try segment.big16(at: 8)), Double(try segment.big16(at: 10)))
        switch try segment.byte(at: 7) {
        case 1: self.init(numbers.0, numbers.1, unitsPerInch: 1)
        case 2: self.init(numbers.0, numbers.1, unitsPerInch: Self.centimetersPerInch)
        default: return nil
        }
    }

    /// Creates the resolution in the chunk `pHYs` of a PNG file (W3C PNG, third edition, section 11.3.4.3).
    init?(png bytes: HeaderBytes) throws(HeaderParsingError) {
        var offset = 8
        for _ in 0..<HeaderBounds.pngChunks {
            let length = try bytes.big32(at: offset)
            let name = try FourCC(bytes, at: offset + 4)
            guard name != "IDAT", name != "IEND", length <= 0x7FFF_FFFF else { return nil }
            if name == "pHYs", length == 9 {
                guard try bytes.byte(at: offset + 16) == 1 else { return nil }
                self.init(
                    Double(try bytes.big32(at: offset + 8)), Double(try bytes.big32(at: offset + 12)),
                    unitsPerInch: Self.metersPerInch)
                return
            }
            offset += length + 12
        }
        return nil
    }

    /// Creates the resolution in the header of a bitmap, which OS/2 1 doesn't have.
    init?(bmp bytes: HeaderBytes) throws(HeaderParsingError) {
        guard try bytes.little32(at: 14) >= 40 else { return nil }
        self.init(
            Double(try bytes.littleSigned32(at: 38)), Double(try bytes.littleSigned32(at: 42)),
            unitsPerInch: Self.metersPerInch)
    }

    /// Creates the resolution in the tags of EXIF data or of a TIFF file (TIFF 6.0, section 8). The default unit is the
    /// inch. A missing number is equal to the other one.
    init?(exif block: ExifBlock) {
        func number(_ tag: Int) -> Double? { block.main.first { $0.tag == tag }.flatMap(block.fraction) }
        let horizontal = number(0x011A)
        let vertical = number(0x011B)
        let unit = block.main.first { $0.tag == 0x0128 }.flatMap(block.value(of:)) ?? 2
        guard let first = horizontal ?? vertical, unit == 2 || unit == 3 else { return nil }
        self.init(
            first, vertical ?? first, unitsPerInch: unit == 2 ? 1 : Self.centimetersPerInch)
    }
}

extension ExifBlock {
    /// Returns the first fraction of a field with unsigned fractions, or `nil` if its denominator is zero.
    fileprivate func fraction(_ field: Entry) -> Double? {
        guard field.kind == 5, field.bytes.count >= 8 else { return nil }
        func number(_ bytes: ArraySlice<UInt8>) -> Int {
            (isBigEndian ? Array(bytes) : bytes.reversed()).reduce(0) { $0 << 8 | Int($1) }
        }
        let denominator = number(field.bytes[4..<8])
        return denominator == 0 ? nil : Double(number(field.bytes[..<4])) / Double(denominator)
    }
}
