// SPDX-License-Identifier: MIT

import CLimits
import Foundation
import WebImage

/// The data to store. Its sizes are similar to those of images on the web, and its contents can't be compressed.
struct Bodies {
    private let noise: [UInt8]
    private let sizes: [Int]
    private let payloads: [Data]
    private let stored = Date()

    /// Creates bodies with log-normally distributed sizes with a median of 30 KB, limited to 5 to 200 KB. If `fixed`
    /// isn't `nil`, all bodies have that size.
    init(fixed: Int? = nil) {
        var random = SplitMix(seed: 7)
        noise = (0..<(1 << 18)).map { _ in UInt8(truncatingIfNeeded: random.next() >> 24) }
        let sizes = (0..<1_024).map { _ in
            if let fixed { return fixed }
            let normal = (-2 * log(1 - random.unit())).squareRoot() * cos(2 * .pi * random.unit())
            return Int(min(max(30_000 * exp(0.8 * normal), 5_000), 200_000))
        }
        self.sizes = sizes
        payloads = sizes.indices.map { [noise] in Data(noise[$0..<($0 + sizes[$0])]) }
    }

    func key(_ index: Int) -> CacheKey { CacheKey(["https://images.example.com/photos/\(index)/large.jpg"]) }

    func bytes(_ index: Int) -> ArraySlice<UInt8> {
        let start = index % 1_024
        return noise[start..<(start + sizes[start])]
    }

    func entry(_ index: Int) -> CacheEntry {
        var entry = CacheEntry(key: key(index), data: payloads[index % 1_024])
        entry.storedAt = stored
        return entry
    }
}

/// The files of the C contender, in 256 directories with names of 64 digits. Each is written to a temporary file and
/// renamed. The names are created in advance.
final class PlainFiles {
    private let paths: [[CChar]]
    private let temporary: [CChar]
    private var buffer = [UInt8](repeating: 1, count: 1 << 20)

    init(_ folder: String, count: Int) throws {
        for shard in 0..<256 {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(Self.digits(UInt64(shard), 2))", withIntermediateDirectories: true)
        }
        temporary = Array("\(folder)/temporary".utf8CString)
        paths = (0..<count).map { index in
            var random = SplitMix(seed: UInt64(index))
            let name = (0..<4).map { _ in Self.digits(random.next(), 16) }.joined()
            return Array("\(folder)/\(name.prefix(2))/\(name)".utf8CString)
        }
    }

    private static func digits(_ number: UInt64, _ count: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }

    func put(_ index: Int, _ bytes: ArraySlice<UInt8>) throws {
        let code = bytes.withUnsafeBufferPointer { wi_limit_put(temporary, paths[index], $0.baseAddress, $0.count) }
        guard code == 0 else { throw Skipped(reason: "can’t write the files") }
    }

    func get(_ index: Int) -> Int { wi_limit_get(paths[index], &buffer, buffer.count) }

    func remove(_ index: Int) { _ = wi_limit_unlink(paths[index]) }
}

/// A small pseudorandom number generator with a seed (SplitMix64, public domain, Vigna 2015).
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 up to but not including 1.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
