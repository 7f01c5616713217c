// SPDX-License-Identifier: MIT

import Foundation

/// The beginning of a file that's being received, as the chunks in which it arrived.
///
/// Appending a chunk doesn't copy it, unless it's so small that the list of chunks would need more memory than their
/// bytes. A range within one chunk shares the memory of the chunk.
struct ReceivedData: Sendable {
    /// The maximum size of a chunk that consists of several smaller ones, in bytes.
    static let maxMergedBytes = 4_096

    private var chunks: [Data] = []
    /// The offset of the byte after each chunk.
    private var ends: [Int] = []

    var count: Int { ends.last ?? 0 }

    /// The number of chunks in memory, for tests.
    var chunkCount: Int { chunks.count }

    mutating func append(_ chunk: Data) {
        guard !chunk.isEmpty else { return }
        let end = count + chunk.count
        if let last = chunks.indices.last, chunks[last].count + chunk.count <= Self.maxMergedBytes {
            chunks[last].append(chunk)
            ends[last] = end
        } else {
            chunks.append(chunk)
            ends.append(end)
        }
    }

    /// Returns the byte at `offset`, or `nil` if it wasn't received yet.
    func byte(at offset: Int) -> UInt8? {
        guard offset >= 0, offset < count else { return nil }
        let place = chunk(at: offset)
        let start = ends[place] - chunks[place].count
        return chunks[place][chunks[place].startIndex + offset - start]
    }

    /// Returns the bytes in `range`, or `nil` if some of them weren't received yet.
    func bytes(_ range: Range<Int>) -> Data? {
        guard range.lowerBound >= 0, range.upperBound <= count else { return nil }
        guard !range.isEmpty else { return Data() }
        let first = chunk(at: range.lowerBound)
        if range.upperBound <= ends[first] { return part(of: first, in: range) }
        var bytes = Data(capacity: range.count)
        for place in first...chunk(at: range.upperBound - 1) { bytes.append(part(of: place, in: range)) }
        return bytes
    }

    /// Returns the bytes of a chunk that are in `range`.
    private func part(of place: Int, in range: Range<Int>) -> Data {
        let chunk = chunks[place]
        let start = ends[place] - chunk.count
        let lower = max(0, range.lowerBound - start)
        let upper = min(chunk.count, range.upperBound - start)
        return chunk[chunk.startIndex + lower..<chunk.startIndex + upper]
    }

    /// Returns the index of the chunk with the byte at `offset`, which was received.
    private func chunk(at offset: Int) -> Int {
        var (low, high) = (0, chunks.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
