// SPDX-License-Identifier: MIT

/// The detail of a JPEG image, on which depends how much of its light a reduction of the stored samples loses.
package enum StoredDetail: UInt8, Sendable, Comparable {
    case ordinary
    /// Detail with a high contrast.
    case fine
    /// Detail with such a high contrast that a reduction of the stored samples would change the light visibly.
    case noise

    package static func < (left: StoredDetail, right: StoredDetail) -> Bool { left.rawValue < right.rawValue }
}

/// An estimate of the detail from the first blocks of a sequential JPEG file with Huffman coding (ITU-T T.81, annex F).
///
/// The estimate is the standard deviation of luma within blocks of 8 × 8 samples, which is the root of the mean energy of
/// the AC coefficients. It depends only on ``byteCount`` bytes of the scan, so decoders that receive the file in parts
/// have the same estimate as those that receive the whole file.
struct JPEGDetail {
    /// The number of bytes of the scan from which the detail is estimated.
    static let byteCount = 2_048
    /// The minimum number of pixels of an image whose detail is estimated. Decoding smaller images at full size is fast.
    private static let minArea = 1 << 18
    /// The minimum number of luma blocks for an estimate, and the number from which on more blocks add little.
    private static let minBlocks = 8
    private static let sufficientBlocks = 128
    /// The deviations from which detail is fine, and from which it is noise. In a gray of half the maximum, an average of
    /// stored samples with these deviations loses the light of one level and of five levels of 255. Photographs have
    /// deviations of up to 6, foliage has up to 20, and samples of random numbers have 50.
    private static let fineDeviation = 14.0
    private static let noiseDeviation = 32.0

    private struct Component {
        let identifier: UInt8
        let blocks: Int
        let table: Int
    }

    private var components: [Component] = []
    private var restartInterval = 0
    /// The quantization tables with their precision.
    private var steps = [HeaderBytes?](repeating: nil, count: 4)
    /// The Huffman tables for DC coefficients, and those for AC coefficients.
    private var codes = [HeaderBytes?](repeating: nil, count: 8)

    /// Records the properties in a segment before the scan. Invalid tables are ignored.
    mutating func add(_ marker: UInt8, _ segment: HeaderBytes) throws(HeaderParsingError) {
        do throws(HeaderParsingError) {
            try read(marker, segment)
        } catch {
            if case .needsMore = error { throw error }
        }
    }

    private mutating func read(_ marker: UInt8, _ segment: HeaderBytes) throws(HeaderParsingError) {
        switch marker {
        case 0xC0, 0xC1: try addFrame(segment)
        case 0xC4: try addCodes(segment)
        case 0xDB: try addSteps(segment)
        case 0xDD: restartInterval = try segment.big16(at: 0)
        default: return
        }
    }

    private mutating func addFrame(_ segment: HeaderBytes) throws(HeaderParsingError) {
        let area = try segment.big16(at: 1) * segment.big16(at: 3)
        guard components.isEmpty, area >= Self.minArea, try segment.byte(at: 0) == 8 else { return }
        for index in 0..<Int(try segment.byte(at: 5)) {
            let factors = Int(try segment.byte(at: 7 + index * 3))
            components.append(
                Component(
                    identifier: try segment.byte(at: 6 + index * 3), blocks: (factors >> 4) * (factors & 15),
                    table: Int(try segment.byte(at: 8 + index * 3))))
        }
    }

    private mutating func addCodes(_ segment: HeaderBytes) throws(HeaderParsingError) {
        var offset = 0
        while offset < segment.declaredLength ?? 0 {
            let selector = Int(try segment.byte(at: offset))
            var count = 16
            for length in 1...16 { count += Int(try segment.byte(at: offset + length)) }
            guard selector & 0xEC == 0 else { return }
            codes[selector >> 2 | selector & 3] = try segment.part(at: offset + 1, length: count)
            offset += count + 1
        }
    }

    private mutating func addSteps(_ segment: HeaderBytes) throws(HeaderParsingError) {
        var offset = 0
        while offset < segment.declaredLength ?? 0 {
            let selector = Int(try segment.byte(at: offset))
            let count = selector >> 4 == 0 ? 65 : 129
            guard selector & 0xEC == 0 else { return }
            steps[selector & 3] = try segment.part(at: offset, length: count)
            offset += count
        }
    }

    /// Returns the detail at the beginning of a scan, or ``StoredDetail/ordinary`` for other coding processes, small
    /// images, and invalid data.
    ///
    /// - Parameter scan: The file from the header of its first scan.
    /// - Throws: `HeaderParsingError.needsMore` if the file continues after the available data.
    func estimate(_ scan: HeaderBytes) throws(HeaderParsingError) -> StoredDetail {
        guard let first = components.first, let table = try stepTable(first.table),
            let parts = try scanParts(scan)
        else { return .ordinary }
        let start = try scan.big16(at: 0)
        let count = scan.isComplete ? min(Self.byteCount, scan.available - start) : Self.byteCount
        guard count > 0 else { return .ordinary }
        let deviation = try scan.withBytes(count, at: start) { bytes -> Double in
            self.deviation(JPEGBits(bytes), parts, table)
        }
        return deviation >= Self.noiseDeviation ? .noise : deviation >= Self.fineDeviation ? .fine : .ordinary
    }

    /// The blocks of one component in each unit of a scan.
    private struct Part {
        let blocks: Int
        let dc: JPEGCodes
        let ac: JPEGCodes
    }

    /// Returns the parts of a scan that begins with luma, or `nil` for other scans.
    private func scanParts(_ scan: HeaderBytes) throws(HeaderParsingError) -> [Part]? {
        let count = Int(try scan.byte(at: 2))
        guard (1...components.count).contains(count) else { return nil }
        var parts: [Part] = []
        for index in 0..<count {
            let selector = Int(try scan.byte(at: 4 + index * 2))
            guard try scan.byte(at: 3 + index * 2) == components[index].identifier, selector & 0xCC == 0,
                (1...16).contains(components[index].blocks), let dc = codes[selector >> 4],
                let ac = codes[4 | selector & 3]
            else { return nil }
            parts.append(
                Part(
                    blocks: count == 1 ? 1 : components[index].blocks, dc: try JPEGCodes(dc), ac: try JPEGCodes(ac)))
        }
        return parts
    }

    /// Returns the steps of a quantization table in the order of the coefficients.
    private func stepTable(_ index: Int) throws(HeaderParsingError) -> [Double]? {
        guard steps.indices.contains(index), let table = steps[index] else { return nil }
        var values: [Double] = []
        let isWide = try table.byte(at: 0) >> 4 != 0
        for place in 0..<64 {
            values.append(Double(isWide ? try table.big16(at: 1 + place * 2) : Int(try table.byte(at: 1 + place))))
        }
        return values
    }

    /// Returns the standard deviation of luma in the complete units at the beginning of a scan.
    private func deviation(_ data: JPEGBits, _ parts: [Part], _ table: [Double]) -> Double {
        var bits = data
        var (energy, blocks, units) = (0.0, 0, 0)
        while blocks < Self.sufficientBlocks {
            if restartInterval > 0, units > 0, units % restartInterval == 0, !bits.restart() { break }
            var sum = 0.0
            for index in parts.indices {
                let (dc, ac) = (parts[index].dc, parts[index].ac)
                for _ in 0..<parts[index].blocks {
                    guard let value = bits.block(dc, ac, index == 0 ? table : nil) else {
                        return Self.root(energy, blocks)
                    }
                    sum += value
                }
            }
            energy += sum
            blocks += parts[0].blocks
            units += 1
        }
        return Self.root(energy, blocks)
    }

    private static func root(_ energy: Double, _ blocks: Int) -> Double {
        blocks < minBlocks ? 0 : (energy / 64 / Double(blocks)).squareRoot()
    }
}

/// A Huffman table (ITU-T T.81, annex C).
private final class JPEGCodes {
    /// The length of the code and the value for each byte that begins with a code of up to 8 bits. The length of other
    /// codes is 0.
    private let short: [(length: UInt8, value: UInt8)]
    /// The largest code of each length, or -1 if there is none.
    private let largest: [Int]
    /// The difference between the index of a value and its code, for each length.
    private let offsets: [Int]
    private let values: [UInt8]

    init(_ table: HeaderBytes) throws(HeaderParsingError) {
        var short = [(length: UInt8, value: UInt8)](repeating: (0, 0), count: 256)
        var largest = [Int](repeating: -1, count: 17)
        var offsets = [Int](repeating: 0, count: 17)
        var values: [UInt8] = []
        var code = 0
        for length in 1...16 {
            let count = Int(try table.byte(at: length - 1))
            offsets[length] = values.count - code
            for _ in 0..<count {
                let value = try table.byte(at: 16 + values.count)
                values.append(value)
                if length <= 8 {
                    let first = code << (8 - length)
                    for place in first..<first + 1 << (8 - length) where place < 256 {
                        short[place] = (UInt8(length), value)
                    }
                }
                code += 1
            }
            if count > 0 { largest[length] = code - 1 }
            code <<= 1
        }
        (self.short, self.largest, self.offsets, self.values) = (short, largest, offsets, values)
    }

    /// Returns the length and the value of the code at the beginning of 32 bits, or `nil` if there is none.
    func code(_ bits: UInt32) -> (length: Int, value: UInt8)? {
        let found = short[Int(bits >> 24)]
        if found.length > 0 { return (Int(found.length), found.value) }
        for length in 9...16 {
            let code = Int(bits >> UInt32(32 - length))
            guard code <= largest[length] else { continue }
            let index = offsets[length] + code
            return values.indices.contains(index) ? (length, values[index]) : nil
        }
        return nil
    }
}

/// The bits of a scan.
private struct JPEGBits {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var buffer: UInt32 = 0
    private var count = 0
    /// The number of bits in the buffer that follow the end of the data or a marker.
    private var padding = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Moves to the data after a restart marker. The result is `false` if there's no marker.
    mutating func restart() -> Bool {
        (buffer, count, padding) = (0, 0, 0)
        guard position + 1 < bytes.count, bytes[position] == 0xFF, (0xD0...0xD7).contains(bytes[position + 1]) else {
            return false
        }
        position += 2
        return true
    }

    /// Reads a block.
    ///
    /// - Parameter steps: The steps of the quantization table, or `nil` to skip the coefficients.
    /// - Returns: The energy of the AC coefficients, or `nil` if the block is incomplete or invalid.
    mutating func block(_ dc: JPEGCodes, _ ac: JPEGCodes, _ steps: [Double]?) -> Double? {
        guard let size = symbol(dc), size <= 15 else { return nil }
        _ = number(Int(size))
        var energy = 0.0
        var index = 1
        while index < 64 {
            guard let next = symbol(ac) else { return nil }
            let (run, size) = (Int(next >> 4), Int(next & 15))
            if size == 0 {
                guard run == 15 else { break }
                index += 16
                continue
            }
            index += run
            guard index < 64 else { return nil }
            let magnitude = number(size)
            if let steps {
                // A number without its highest bit is negative.
                let value =
                    Double(magnitude >> (size - 1) == 0 ? magnitude - (1 << size) + 1 : magnitude) * steps[index]
                energy += value * value
            }
            index += 1
        }
        return count < padding ? nil : energy
    }

    private mutating func symbol(_ codes: JPEGCodes) -> UInt8? {
        fill()
        guard let code = codes.code(buffer) else { return nil }
        skip(code.length)
        return code.value
    }

    private mutating func number(_ size: Int) -> Int {
        guard size > 0 else { return 0 }
        fill()
        let value = Int(buffer >> UInt32(32 - size))
        skip(size)
        return value
    }

    private mutating func skip(_ length: Int) {
        buffer <<= UInt32(length)
        count -= length
    }

    /// Adds bytes until the buffer has at least 25 bits. A zero after 0xFF isn't data, and another byte belongs to a
    /// marker, which ends the data.
    private mutating func fill() {
        while count <= 24 {
            var byte: UInt8 = 0
            if position < bytes.count, padding == 0 {
                byte = bytes[position]
                if byte != 0xFF {
                    position += 1
                } else if position + 1 < bytes.count, bytes[position + 1] == 0 {
                    position += 2
                } else {
                    byte = 0
                    padding = 8
                }
            } else {
                padding += 8
            }
            buffer |= UInt32(byte) << UInt32(24 - count)
            count += 8
        }
    }
}
