// SPDX-License-Identifier: MIT

import Foundation

/// A writer of JPEG files in which each block has one color, so that decoders return exact samples (ITU-T T.81, annexes B,
/// F, and G).
struct FlatJPEG {
    /// The identifiers of the components.
    var identifiers: [UInt8]
    /// The number of blocks per row. A block has 8 × 8 pixels.
    var columns: Int
    /// The samples of each block, one per component, from left to right and from top to bottom.
    var blocks: [[UInt8]]
    var isProgressive = false

    /// A writer of the bits of a scan.
    private struct Bits {
        private(set) var bytes: [UInt8] = []
        private var current = 0
        private var count = 0

        mutating func put(_ value: Int, _ bits: Int) {
            for bit in (0..<bits).reversed() {
                current = current << 1 | (value >> bit & 1)
                count += 1
                guard count == 8 else { continue }
                bytes.append(UInt8(current))
                if current == 0xFF { bytes.append(0) }
                (current, count) = (0, 0)
            }
        }

        mutating func finish() { while count > 0 { put(1, 1) } }

        /// Writes the difference of two DC coefficients. The codes of all categories have four bits.
        mutating func putDifference(_ difference: Int) {
            var category = 0
            while abs(difference) >> category > 0 { category += 1 }
            put(category, 4)
            put(difference >= 0 ? difference : difference + (1 << category) - 1, category)
        }

        /// Writes the code for a block without further coefficients, which has one bit.
        mutating func putEnd() { put(0, 1) }
    }

    private static func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
        [0xFF, marker, UInt8((body.count + 2) >> 8), UInt8((body.count + 2) & 255)] + body
    }

    /// Returns the header of a scan and its data.
    private func scan(_ components: [Int], _ spectrum: ClosedRange<UInt8>, _ data: [UInt8]) -> [UInt8] {
        let selectors = components.flatMap { [identifiers[$0], 0] as [UInt8] }
        let body = [UInt8(components.count)] + selectors + [spectrum.lowerBound, spectrum.upperBound, 0]
        return Self.segment(0xDA, body) + data
    }

    /// Returns the DC coefficients of all blocks, each followed by the end of the block unless the file is progressive.
    private func coefficients() -> [UInt8] {
        var bits = Bits()
        var previous = [Int](repeating: 0, count: identifiers.count)
        for block in blocks {
            for component in identifiers.indices {
                // The first step of the quantization table is 8, so a coefficient is the sample without its offset.
                let coefficient = Int(block[component]) - 128
                bits.putDifference(coefficient - previous[component])
                previous[component] = coefficient
                if !isProgressive { bits.putEnd() }
            }
        }
        bits.finish()
        return bits.bytes
    }

    var file: Data {
        let width = columns * 8
        let height = blocks.count / columns * 8
        var frame: [UInt8] = [
            8, UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255), UInt8(identifiers.count),
        ]
        for identifier in identifiers { frame += [identifier, 0x11, 0] }
        var bytes: [UInt8] = [0xFF, 0xD8]
        let quantization: [UInt8] = [0, 8] + [UInt8](repeating: 16, count: 63)
        bytes += Self.segment(0xDB, quantization)
        // A table consists of its number, the numbers of codes with 1 to 16 bits, and the values of the codes.
        let categories: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 7, 8]
        let differences: [UInt8] = [0x00, 0, 0, 0, 9] + [UInt8](repeating: 0, count: 12) + categories
        bytes += Self.segment(0xC4, differences)
        let ends: [UInt8] = [0x10, 1] + [UInt8](repeating: 0, count: 16)
        bytes += Self.segment(0xC4, ends)
        bytes += Self.segment(isProgressive ? 0xC2 : 0xC0, frame)
        let all = Array(identifiers.indices)
        bytes += scan(all, isProgressive ? 0...0 : 0...63, coefficients())
        for component in all where isProgressive {
            var bits = Bits()
            for _ in blocks { bits.putEnd() }
            bits.finish()
            bytes += scan([component], 1...63, bits.bytes)
        }
        return Data(bytes + [0xFF, 0xD9])
    }
}
