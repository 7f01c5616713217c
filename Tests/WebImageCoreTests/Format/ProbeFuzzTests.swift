// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite struct ProbeFuzzTests {
    /// Byte values that cause parser errors more often than others.
    private static let interesting: [UInt8] = [0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF, 0x3C, 0x0A]

    @Test("Mutated samples never trap the probe, and it always makes progress", arguments: Sample.all)
    func samples(_ sample: Sample) {
        var generator = SeededGenerator(seed: UInt64(sample.data.count))
        for _ in 0..<300 { check(mutated(sample.data, &generator)) }
    }

    @Test("Random data after a valid signature never traps the probe")
    func noise() {
        var generator = SeededGenerator(seed: 7)
        for sample in Sample.all {
            let head = sample.data.prefix(Int.random(in: 4...24, using: &generator))
            for _ in 0..<20 {
                let tail = (0..<400).map { _ in UInt8.random(in: 0...255, using: &generator) }
                check(head + Data(tail))
            }
        }
    }

    @Test(
        "Mutated conformance files never trap the probe",
        .enabled(if: Conformance.directory != nil, "the conformance files aren't available"))
    func conformance() throws {
        var generator = SeededGenerator(seed: 11)
        for row in try Conformance.rows(of: "manifest.csv") + Conformance.rows(of: "malformed.csv") {
            // Only headers are parsed. Complete files would only take longer to copy.
            let data = try Conformance.data(row["file"] ?? "").prefix(20_000)
            for _ in 0..<8 { check(mutated(data, &generator)) }
        }
    }

    private func check(_ data: Data) {
        if case .needsMore(let count) = ImageInfo.probe(data, isComplete: false) { #expect(count > data.count) }
        if case .needsMore = ImageInfo.probe(data, isComplete: true) { Issue.record("requests more data") }
        if case .found(let probe) = ImageInfo.probe(data, isComplete: true) {
            #expect(!probe.storedSize.isEmpty && !probe.size.isEmpty && probe.frameCount > 0 && probe.smallestFile >= 0)
        }
        _ = ImageFormat(sniffing: data)
        _ = ImageOrientation(exif: data)
    }

    private func mutated(_ data: Data, _ generator: inout SeededGenerator) -> Data {
        var bytes = [UInt8](data)
        guard !bytes.isEmpty else { return data }
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            // Headers are at the beginning, so half of the mutations are applied there.
            let reach = Bool.random(using: &generator) ? min(bytes.count, 64) : bytes.count
            let place = Int.random(in: 0..<reach, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1: bytes[place] = Self.interesting.randomElement(using: &generator) ?? 0
            case 2: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 3: bytes.insert(contentsOf: bytes[place...].prefix(16), at: place)
            default: bytes.removeSubrange(place..<min(bytes.count, place + 3))
            }
            if bytes.isEmpty { break }
        }
        return Data(bytes)
    }
}
