// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore

/// The rules by which the disk cache ranks its entries. The entries with the lowest ranks are evicted first.
///
/// The policy is GreedyDual-Size-Frequency (Cherkasova, 1998) with the square root of the size. The rank of an entry is
/// the number of its uses divided by the root, plus the *floor*, which is the highest rank that was ever evicted. Small
/// and popular entries therefore remain longer, and an entry that isn't used anymore is overtaken by the rising floor.
/// Dividing by the size itself gives slightly more hits, but fewer bytes of them than evicting the least recently used
/// entries. Benchmarks/RESULTS.md compares the alternatives.
enum EvictionPolicy {
    static let useLimit = 255
    /// The weight of entries that an earlier version stored, which is that of 64 KiB.
    static let typicalWeight = weight(size: 64 << 10)

    /// Returns the amount by which one use of an entry with a size in bytes on disk raises its rank.
    static func weight(size: Int) -> Double { 1 / Double(max(1, size)).squareRoot() }

    static func rank(floor: Double, uses: Int, weight: Double) -> Double {
        floor + Double(min(uses, useLimit)) * weight
    }

    /// Returns the maximum number of evicted entries that are remembered for a number of entries.
    static func ghostLimit(entries: Int) -> Int { min(max(1_024, 2 * entries), 131_072) }
}

/// The numbers of uses of evicted entries (ghost entries), so that an entry that returns keeps its rank.
///
/// This is a plain value without files. The index stores the additions in slices.
struct GhostUses {
    private struct Ghost {
        var uses: UInt8
        /// The number of the addition. Later additions have larger numbers.
        var number: Int
    }

    private var ghosts: [Int: Ghost] = [:]
    private var order = FIFOQueue<(tag: Int, number: Int)>()
    private var lastNumber = 0

    var count: Int { ghosts.count }

    /// Adds an evicted entry. Its tag is the first 64 bits of its name. Entries with the same tag are mistaken for each
    /// other, which only changes a rank.
    mutating func add(tag: Int, uses: Int) {
        lastNumber += 1
        ghosts[tag] = Ghost(uses: UInt8(clamping: max(1, uses)), number: lastNumber)
        order.push((tag, lastNumber))
    }

    mutating func limit(to limit: Int) {
        while ghosts.count > limit, let oldest = order.pop() {
            if ghosts[oldest.tag]?.number == oldest.number { ghosts[oldest.tag] = nil }
        }
    }

    /// Removes an entry and returns the number of its uses, or 0 if it isn't remembered.
    mutating func take(_ tag: Int) -> Int { ghosts.removeValue(forKey: tag).map { Int($0.uses) } ?? 0 }

    private static let slotBytes = 9

    static func encoded(_ entries: some Collection<(tag: Int, uses: Int)>) -> [UInt8] {
        var writer = BinaryWriter()
        for entry in entries {
            writer.put(UInt64(UInt(bitPattern: entry.tag)))
            writer.put(UInt8(clamping: entry.uses))
        }
        return writer.bytes
    }

    /// Adds the entries of a slice. Incomplete entries at its end are ignored.
    mutating func add(encoded bytes: UnsafeRawBufferPointer) {
        var reader = BinaryReader(bytes)
        for _ in 0..<(bytes.count / Self.slotBytes) {
            guard let tag = try? reader.number(UInt64.self), let uses = try? reader.number(UInt8.self) else { return }
            add(tag: Int(bitPattern: UInt(tag)), uses: Int(uses))
        }
    }
}
