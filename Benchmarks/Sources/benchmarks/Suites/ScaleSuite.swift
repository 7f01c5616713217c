// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// A suite that measures how the cost per item changes with the number of items.
///
/// Each measurement runs in a dedicated process, so that its memory is that of the work and not of earlier work.
enum ScaleSuite: Suite {
    static let name = "scale"
    static let summary = "cost per item: queued requests, entries of both caches, worker threads, rows of a list"

    static func cases(_ settings: Settings) async throws -> [Case] {
        let entries = [1_000, 10_000, 100_000, 1_000_000].filter { $0 <= settings.largest }
        var cases = entries.map(memory)
        cases += try await disk(entries, settings)
        cases += threads()
        cases += try served(settings)
        return cases
    }

    /// Returns a contender that reports what a probe in a dedicated process measures.
    private static func probe(
        _ name: String, _ kind: ScaleProbe.Kind, _ count: Int, path: String = "", input: [String] = []
    ) -> Contender {
        Contender(name) { _ in
            let output = try ProbeProcess.output([ScaleProbe.word, kind.rawValue, "\(count)", path], input: input)
            let named = try JSONDecoder().decode([String: Double].self, from: output)
            return Dictionary(
                uniqueKeysWithValues: named.compactMap { key, value in Figure(rawValue: key).map { ($0, value) } })
        }
    }

    // MARK: Caches

    private static func memory(_ count: Int) -> Case {
        let point = SeriesPoint(
            series: "Memory cache", axis: "entries", value: count, figures: [.cpu, .bytes])
        return Case(
            name: "memory cache with \(grouped(count)) entries",
            contenders: [probe("hit", .memoryHit, count), probe("store", .memoryStore, count)],
            goals: [], warmUps: 0, point: point)
    }

    /// Fills one directory per number of entries, which all rounds use.
    private static func disk(_ counts: [Int], _ settings: Settings) async throws -> [Case] {
        var cases: [Case] = []
        for count in counts {
            let path = try settings.makeFolder("scale-\(count)")
            let cache = try DiskCache(configuration: ScaleProbe.diskConfiguration(path))
            let bodies = Bodies(fixed: 1_000)
            for index in 0..<count {
                cache.store(bodies.entry(index))
                if index % 512 == 511 { await cache.flush() }
            }
            await cache.close()
            let point = SeriesPoint(
                series: "Disk cache", axis: "entries", value: count, figures: [.wall, .p50, .bytes])
            cases.append(
                Case(
                    name: "disk cache with \(grouped(count)) entries",
                    contenders: [
                        probe("opening to first hit", .diskFirstHit, count, path: path),
                        probe("opening to loaded index", .diskOpening, count, path: path),
                        probe("hit", .diskHits, count, path: path),
                        probe("trim, per removed entry", .diskTrim, count, path: path),
                    ],
                    goals: [], warmUps: 0, maxRounds: 3, point: point))
        }
        return cases
    }

    // MARK: Work

    private static func threads() -> [Case] {
        let counts = [1, 2, 4].filter { $0 <= max(2, ProcessInfo.processInfo.activeProcessorCount) }
        return counts.map { count in
            Case(
                name: "\(count) worker threads, decoding images of 1 MP",
                contenders: [probe("decode", .threads, count)], goals: [], warmUps: 0,
                point: SeriesPoint(
                    series: "Worker threads", axis: "worker threads", value: count, figures: [.wall, .cpu]))
        }
    }

    private static func served(_ settings: Settings) throws -> [Case] {
        let files = try (0..<100).map { try Photograph.encoded(96, 96, as: .jpeg(quality: 80), seed: UInt64($0 + 1)) }
        let server = try FileServer(files, settings: settings)
        let counts = [100, 1_000, 10_000]
        return counts.map { count in
            Case(
                name: "\(grouped(count)) queued requests",
                contenders: [
                    probe("request", .queue, count, input: server.urls),
                    // Keep the server alive for all rounds.
                    Contender("canceled request") { _ in
                        defer { consume(server) }
                        return try await probe("", .cancelledQueue, count, input: server.urls).run(0)
                    },
                ],
                goals: [], warmUps: 0, maxRounds: 3,
                point: SeriesPoint(
                    series: "Queued requests", axis: "requests", value: count, figures: [.cpu, .bytes]))
        }
            + counts.map { count in
                Case(
                    name: "a list of \(grouped(count)) images",
                    contenders: [probe("row", .list, count, input: server.urls)], goals: [], warmUps: 0, maxRounds: 3,
                    point: SeriesPoint(
                        series: "List", axis: "rows", value: count, figures: [.cpu, .p99]))
            }
    }
}
