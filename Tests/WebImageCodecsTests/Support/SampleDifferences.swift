// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The absolute differences of the samples at the same places.
///
/// In debug builds, loops over collections call several functions for each element. Therefore, this type compares words
/// of eight bytes, and compares their samples only if the words differ.
struct SampleDifferences {
    private let count: Int
    private var sum: UInt64 = 0
    private var maximum: UInt64 = 0
    private(set) var sumOfSquares: UInt64 = 0

    /// The mean difference.
    var mean: Double { Double(sum) / Double(count) }

    /// The largest difference.
    var largest: Int { Int(maximum) }

    /// Compares samples of 8 bits, or returns `nil` if there are none or their numbers differ.
    init?(_ first: [UInt8], _ second: [UInt8]) {
        guard first.count == second.count, !first.isEmpty else { return nil }
        count = first.count
        first.withUnsafeBytes { first in second.withUnsafeBytes { second in add(first, second, bitsPerSample: 8) } }
    }

    /// Compares samples of 16 bits, or returns `nil` if there are none or their numbers differ.
    init?(_ first: [UInt16], _ second: [UInt16]) {
        guard first.count == second.count, !first.isEmpty else { return nil }
        count = first.count
        first.withUnsafeBytes { first in second.withUnsafeBytes { second in add(first, second, bitsPerSample: 16) } }
    }

    private mutating func add(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, bitsPerSample bits: UInt64
    ) {
        // The memory of arrays is aligned to 16 bytes.
        let words = first.count / 8
        if let left = first.bindMemory(to: UInt64.self).baseAddress,
            let right = second.bindMemory(to: UInt64.self).baseAddress
        {
            var place = 0
            while place < words {
                if left[place] != right[place] { add(left[place], right[place], bits) }
                place += 1
            }
        }
        // The last bytes form an incomplete word, whose other bytes are 0 on both sides.
        var (left, right): (UInt64, UInt64) = (0, 0)
        for place in (words * 8..<first.count).reversed() {
            left = left &<< 8 | UInt64(first[place])
            right = right &<< 8 | UInt64(second[place])
        }
        add(left, right, bits)
    }

    /// Compares the samples of two words in little-endian order.
    private mutating func add(_ first: UInt64, _ second: UInt64, _ bits: UInt64) {
        let mask: UInt64 = 1 &<< bits &- 1
        var (left, right) = (first, second)
        // If the rest of both words is equal, it adds nothing.
        while left != right {
            let (a, b) = (left & mask, right & mask)
            let step = a > b ? a &- b : b &- a
            sum &+= step
            sumOfSquares &+= step &* step
            if step > maximum { maximum = step }
            left &>>= bits
            right &>>= bits
        }
    }
}

/// Returns whether two arrays have the same bytes.
///
/// In debug builds, the operator `==` of arrays calls functions for each element.
func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    guard first.count == second.count else { return false }
    return first.withUnsafeBytes { first in
        second.withUnsafeBytes { second in
            guard let left = first.baseAddress, let right = second.baseAddress else { return true }
            return memcmp(left, right, first.count) == 0
        }
    }
}

/// Returns whether two lists of frames have the same bytes.
func areEqual(_ first: [[UInt8]], _ second: [[UInt8]]) -> Bool {
    first.count == second.count && first.indices.allSatisfy { areEqual(first[$0], second[$0]) }
}

extension PixelBuffer {
    /// Returns whether an image has the same size, format, and samples.
    func hasSamePixels(as other: PixelBuffer) -> Bool {
        guard size == other.size, format == other.format else { return false }
        let rowBytes = width * format.bytesPerPixel
        return withUnsafeBytes { own in
            other.withUnsafeBytes { theirs in
                guard let left = own.baseAddress, let right = theirs.baseAddress else { return true }
                for row in 0..<height
                where memcmp(left + row * bytesPerRow, right + row * other.bytesPerRow, rowBytes) != 0 {
                    return false
                }
                return true
            }
        }
    }
}
