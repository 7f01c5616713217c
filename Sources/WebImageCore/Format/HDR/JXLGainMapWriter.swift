// SPDX-License-Identifier: MIT

import Foundation

/// A writer that adds gain maps to JPEG XL files.
enum JXLGainMapWriter {
    /// Returns a file with a gain map in the box `jhgm` after its other boxes.
    ///
    /// - Parameters:
    ///   - map: A JPEG XL file with the samples of the gain map.
    ///   - metadata: The metadata of the gain map.
    ///   - file: A JPEG XL file with boxes.
    /// - Returns: The file, or `nil` if one of the files has an invalid structure.
    static func adding(_ map: Data, _ metadata: GainMapMetadata, to file: Data) -> Data? {
        guard let stream = codestream(of: map), var result = endingWithSize(file) else { return nil }
        var metadata = metadata
        let colors = metadata.usesBaseColorSpace ? [] : metadata.alternatePrimaries.flatMap(colorEncoding) ?? []
        // Decoders need the color space if the gains don't apply to that of the base image.
        if colors.isEmpty { metadata.usesBaseColorSpace = true }
        let numbers = metadata.isoBytes
        var content: [UInt8] = [0, UInt8(numbers.count >> 8 & 0xFF), UInt8(numbers.count & 0xFF)] + numbers
        // The number of bytes of the compressed profile is 0.
        content += [UInt8(colors.count)] + colors + [0, 0, 0, 0]
        guard let size = UInt32(exactly: content.count + stream.count + 8) else { return nil }
        withUnsafeBytes(of: size.bigEndian) { result.append(contentsOf: $0) }
        result.append(contentsOf: Array("jhgm".utf8) + content)
        result.append(stream)
        return result
    }

    /// Returns the codestream of a file, which can be divided into several boxes.
    private static func codestream(of file: Data) -> Data? {
        file.withUnsafeBytes { bytes in
            let bytes = HeaderBytes(bytes, isComplete: true)
            do throws(HeaderParsingError) {
                if try bytes.has([0xFF, 0x0A]) { return file }
                var stream = Data()
                var list = BoxList(bytes)
                while let box = try list.next() {
                    guard box.name == "jxlc" || box.name == "jxlp" else { continue }
                    // A part begins with its index.
                    let part = try box.content.rest(from: box.name == "jxlp" ? 4 : 0)
                    stream.append(try part.withBytes(part.available, at: 0) { Data($0) })
                }
                return stream.starts(with: [0xFF, 0x0A]) ? stream : nil
            } catch {
                return nil
            }
        }
    }

    /// Returns a file whose last box has a size, so that another box can follow it. The result is `nil` for a file
    /// without boxes.
    private static func endingWithSize(_ file: Data) -> Data? {
        file.withUnsafeBytes { bytes in
            let bytes = HeaderBytes(bytes, isComplete: true)
            do throws(HeaderParsingError) {
                guard try !bytes.has([0xFF, 0x0A]) else { return nil }
                var result = Data(file)
                var list = BoxList(bytes)
                while let box = try list.next() {
                    guard box.content.declaredLength == nil else { continue }
                    guard let size = UInt32(exactly: box.content.available + 8) else { return nil }
                    let start = result.startIndex + box.content.position - 8
                    result.replaceSubrange(start..<start + 4, with: withUnsafeBytes(of: size.bigEndian) { Array($0) })
                }
                return result
            } catch {
                return nil
            }
        }
    }

    /// Returns a `ColorEncoding` (ISO/IEC 18181-1, annex E.2) with the transfer function of sRGB, or `nil` if the format
    /// has no number for the primaries.
    private static func colorEncoding(primaries: Int) -> [UInt8]? {
        let number: Int
        switch primaries {
        case 1, 9: number = primaries
        case 12: number = 11
        default: return nil
        }
        var bits = Bits()
        // The values aren't defaults, there's no profile, the color space is RGB, and the white point is D65.
        bits.append(0, count: 1)
        bits.append(0, count: 1)
        bits.appendEnumeration(0)
        bits.appendEnumeration(1)
        bits.appendEnumeration(number)
        // The transfer function isn't an exponent.
        bits.append(0, count: 1)
        bits.appendEnumeration(13)
        // The rendering intent is relative.
        bits.appendEnumeration(1)
        return bits.bytes
    }

    /// A writer for numbers with any number of bits, which are in the order of ``BitReader``.
    private struct Bits {
        private(set) var bytes: [UInt8] = []
        private var used = 0

        mutating func append(_ value: Int, count: Int) {
            for index in 0..<count {
                if used & 7 == 0 { bytes.append(0) }
                bytes[used >> 3] |= UInt8(value >> index & 1) << UInt8(used & 7)
                used += 1
            }
        }

        /// Appends an `Enum` of annex B that is less than 18.
        mutating func appendEnumeration(_ value: Int) {
            if value < 2 { return append(value, count: 2) }
            append(2, count: 2)
            append(value - 2, count: 4)
        }
    }
}
