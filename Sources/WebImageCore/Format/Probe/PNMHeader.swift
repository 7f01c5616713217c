// SPDX-License-Identifier: MIT

/// The header of a file of Netpbm: PBM, PGM, PPM (`P1` to `P6`), or PAM (`P7`).
package struct PNMHeader: Sendable, Hashable {
    /// The format, which the signature determines.
    package let format: ImageFormat
    /// Whether the samples are decimal numbers (`P1` to `P3`).
    package let isText: Bool
    /// The size of the image in pixels.
    package let size: PixelSize
    /// The number of samples per pixel: 1 for gray, 2 for gray and alpha, 3 for RGB, and 4 for RGB and alpha.
    package let channels: Int
    /// The sample of white and of opaque alpha, from 1 to 65,535. In PBM files, black pixels are 1.
    package let maximum: Int
    /// The offset of the pixels from the start of the file, in bytes.
    package let pixelOffset: Int

    /// Whether the pixels have a sample for alpha.
    package var hasAlpha: Bool { channels == 2 || channels == 4 }

    /// The number of bits that the largest sample needs.
    package var bitDepth: Int { Int.bitWidth - maximum.leadingZeroBitCount }

    /// The size of a row with binary samples in bytes. Samples above 255 have two bytes, and eight pixels of PBM have one.
    package var rowBytes: Int {
        format == .pbm ? (size.width + 7) / 8 : size.width * channels * (maximum > 255 ? 2 : 1)
    }

    /// The minimum size of a complete file in bytes.
    package var smallestFile: Int {
        // Numbers are separated by at least one byte, but the digits of PBM aren't.
        let row = !isText ? rowBytes : format == .pbm ? size.width : 2 * size.width * channels
        let (pixels, overflow) = row.multipliedReportingOverflow(by: size.height)
        guard !overflow, pixels < Int.max / 2 else { return .max }
        return pixelOffset + pixels - (isText && format != .pbm ? 1 : 0)
    }

    /// Creates the header of a whole file.
    ///
    /// - Throws: An ``ImageError/DecodingFailure``, or ``ImageError/LimitFailure/Kind/metadataSize`` if the header is too
    ///   long.
    package init(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageError) {
        guard let header = try Self.read(bytes, isComplete: true) else {
            throw .decoding(.truncated(format: .ppm, receivedBytes: bytes.count, expectedBytes: nil))
        }
        self = header
    }

    /// Reads the header at the beginning of a file. The result is `nil` if `isComplete` is `false` and more bytes are
    /// necessary.
    package static func read(_ bytes: UnsafeBufferPointer<UInt8>, isComplete: Bool) throws(ImageError) -> PNMHeader? {
        do throws(HeaderParsingError) {
            return try PNMHeader(HeaderBytes(UnsafeRawBufferPointer(bytes), isComplete: isComplete))
        } catch {
            if case .needsMore = error, !isComplete { return nil }
            throw error.imageError(bytes.count > 1 ? format(of: bytes[1]) ?? .ppm : .ppm, received: bytes.count)
        }
    }

    init(_ bytes: HeaderBytes) throws(HeaderParsingError) {
        guard try bytes.has("P"), let format = Self.format(of: try bytes.byte(at: 1)) else {
            throw .corrupt(.ppm, "the signature is missing")
        }
        var scanner = PNMScanner(bytes, at: 2)
        var numbers: PNMNumbers
        if format == .pam {
            numbers = try scanner.readLines()
        } else {
            numbers = try scanner.readNumbers(count: format == .pbm ? 2 : 3, format: format)
            numbers.channels = format == .ppm ? 3 : 1
        }
        guard (1...Int(Int32.max)).contains(numbers.width), (1...Int(Int32.max)).contains(numbers.height) else {
            throw .corrupt(format, "invalid size \(numbers.width) × \(numbers.height)")
        }
        guard (1...65_535).contains(numbers.maximum) else {
            throw .corrupt(format, "invalid maximum of the samples \(numbers.maximum)")
        }
        self.format = format
        isText = try bytes.byte(at: 1) < 0x34
        size = PixelSize(width: numbers.width, height: numbers.height)
        channels = numbers.channels
        maximum = numbers.maximum
        pixelOffset = scanner.offset
    }

    /// Returns whether a signature is followed by numbers, or by a line of a PAM header, which distinguishes the format
    /// from text.
    static func isPlausible(_ bytes: HeaderBytes) throws(HeaderParsingError) -> Bool {
        guard try bytes.has("P"), let format = format(of: try bytes.byte(at: 1)) else { return false }
        var scanner = PNMScanner(bytes, at: 2)
        if format == .pam { return try scanner.hasLine() }
        do throws(HeaderParsingError) {
            _ = try scanner.readNumbers(count: format == .pbm ? 2 : 3, format: format)
            return true
        } catch {
            if case .needsMore = error { throw error }
            return false
        }
    }

    /// Returns the format for the second byte of a file, which is a digit.
    static func format(of digit: UInt8) -> ImageFormat? {
        switch digit {
        case 0x31, 0x34: .pbm
        case 0x32, 0x35: .pgm
        case 0x33, 0x36: .ppm
        case 0x37: .pam
        default: nil
        }
    }
}

/// The numbers in a header, which aren't checked yet.
struct PNMNumbers {
    var width = 0
    var height = 0
    var channels = 0
    var maximum = 1
}
