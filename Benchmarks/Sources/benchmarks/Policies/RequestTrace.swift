// SPDX-License-Identifier: MIT

import Foundation

/// A sequence of requests for objects.
struct RequestTrace {
    let name: String
    /// The requested objects, numbered from 0 in the order of their first request, and their sizes.
    let requests: [(object: Int, size: Int)]
    let objectCount: Int
    /// The size of all objects together.
    let footprint: Int

    /// Creates a trace. The last size of an object counts for its footprint.
    init(_ name: String, _ lines: some Sequence<(id: Int, size: Int)>) {
        self.name = name
        var numbers: [Int: Int] = [:]
        var sizes: [Int] = []
        requests = lines.map { line in
            let object = numbers[line.id] ?? numbers.count
            if object == sizes.count {
                numbers[line.id] = object
                sizes.append(line.size)
            }
            return (object, sizes[object])
        }
        objectCount = sizes.count
        footprint = sizes.reduce(0, +)
    }

    /// Returns a trace of the same requests for objects of other sizes.
    func resized(_ size: (_ object: Int, _ size: Int) -> Int) -> RequestTrace {
        RequestTrace(name, requests.map { (id: $0.object, size: size($0.object, $0.size)) })
    }

    // MARK: Files

    /// Reads a compressed trace whose lines are `id` or `time id size`.
    ///
    /// - Throws: ``Skipped`` if the file or the program `xz` is missing.
    init(_ name: String, file: String) throws {
        guard FileManager.default.isReadableFile(atPath: file) else {
            throw Skipped(reason: "there’s no trace \(file); --traces names the directory of the traces")
        }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["xz", "-dc", file]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Skipped(reason: "xz can’t decompress \(file)") }
        let lines = data.split(separator: UInt8(ascii: "\n")).compactMap { line -> (id: Int, size: Int)? in
            let words = line.split(separator: UInt8(ascii: " "))
            let fields = words.compactMap { Int(String(decoding: $0, as: UTF8.self)) }
            switch fields.count {
            case 1: return (fields[0], 1)
            case 3: return (fields[1], max(1, fields[2]))
            default: return nil
            }
        }
        self.init(name, lines)
    }

    // MARK: Generated traces

    /// Requests whose frequencies follow Zipf's law with the given exponent.
    static func zipf(_ exponent: Double, objects: Int = 10_000, requests: Int = 100_000) -> RequestTrace {
        var source = ZipfSource(exponent, objects: objects)
        return RequestTrace("Zipf \(decimal(exponent, 1))", (0..<requests).map { _ in (source.next(), 1) })
    }

    /// Requests by Zipf's law that are interrupted five times by 5,000 objects that are requested only once.
    static func scans() -> RequestTrace {
        var source = ZipfSource(0.9, objects: 10_000)
        var lines: [(id: Int, size: Int)] = []
        for number in 0..<100_000 {
            lines.append((source.next(), 1))
            if number % 20_000 == 19_999 {
                lines += (0..<5_000).map { (1_000_000 + number * 5_000 + $0, 1) }
            }
        }
        return RequestTrace("Zipf with scans", lines)
    }

    /// The same 2,000 objects in the same order, 20 times.
    static func loop() -> RequestTrace {
        RequestTrace("loop", (0..<40_000).map { ($0 % 2_000, 1) })
    }

    /// A feed that a user scrolls: each post has an image and the avatar of its author. Now and then, the user scrolls
    /// back to recent or older posts, or returns to the top.
    static func feed() -> RequestTrace {
        var authors = ZipfSource(1, objects: 2_000)
        var random = SplitMix(seed: 11)
        var position = 0
        var lines: [(id: Int, size: Int)] = []
        while lines.count < 100_000 {
            let choice = random.unit()
            if choice < 0.04 {
                position = max(0, position - Int(random.unit() * 60))
            } else if choice < 0.045 {
                position = max(0, position - Int(random.unit() * 600))
            } else if choice < 0.047 {
                position = 0
            } else {
                position += 1
            }
            lines.append((1_000_000 + position, 1))
            lines.append((authors.next(), 1))
        }
        return RequestTrace("feed", lines)
    }

    /// Requests by Zipf's law among 3,000 objects of which half are replaced by new ones every 10,000 requests.
    static func drift() -> RequestTrace {
        var source = ZipfSource(0.9, objects: 3_000)
        return RequestTrace(
            "changing interests", (0..<100_000).map { (source.next() * 7_919 % 3_000 + $0 / 10_000 * 1_500, 1) })
    }
}

/// A source of numbers whose frequencies follow Zipf's law.
private struct ZipfSource {
    private let sums: [Double]
    private var random = SplitMix(seed: 5)

    init(_ exponent: Double, objects: Int) {
        var sum = 0.0
        sums = (1...objects).map { rank in
            sum += pow(Double(rank), -exponent)
            return sum
        }
    }

    mutating func next() -> Int {
        let wanted = random.unit() * (sums.last ?? 0)
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] < wanted { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
