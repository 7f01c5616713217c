// SPDX-License-Identifier: MIT

import CLimits
import Foundation
import WebImage

/// A suite that compares the downloader with libcurl's multi interface, with nginx on the same machine.
///
/// Both contenders load the same files over the same number of persistent connections and check the bodies. In the
/// unmeasured round, they check every byte. In the other rounds, they check the length and one byte per page. The
/// downloader has its default configuration except for the limit of starts per second, which would dominate the
/// measurement.
enum HTTPSuite: Suite {
    static let name = "http"
    static let summary = "1,000 files of 20…300 KB from nginx, queueing, and cancellation, against libcurl in C"

    private static let limit = "curl multi"
    private static let handoff = "curl multi, bodies passed to a second thread"

    static func cases(_ settings: Settings) throws -> [Case] {
        let server = try PatternServer(settings)
        return [
            load(server, connections: 6), load(server, connections: 32), QueueProbe.memory(server),
            cancelling(server),
        ]
    }

    /// Returns a downloader on its own, which coalesces equal requests, or the downloader of a manager, whose pipeline
    /// has already coalesced them.
    static func downloader(_ connections: Int, isShared: Bool) -> ImageDownloader {
        var configuration = ImageDownloader.Configuration()
        configuration.maxConnectionsPerHost = connections
        configuration.maxStartsPerSecond = nil
        guard !isShared else { return ImageDownloader(configuration: configuration) }
        var manager = ImageManager.Configuration()
        manager.diskCache = nil
        manager.downloader = configuration
        return ImageManager(configuration: manager).downloader
    }

    private typealias Texts = [UnsafePointer<CChar>?]

    private static func load(_ server: PatternServer, connections: Int) -> Case {
        let ours = contender("WebImage", server, downloader(connections, isShared: false))
        let shared = contender("WebImage, coalescing", server, downloader(connections, isShared: true))
        let urls = server.urls
        let lengths = server.lengths
        func inC(_ name: String, _ load: @escaping @Sendable (Texts, Int, inout wi_limit_loaded) -> Int32) -> Contender
        {
            Contender(name) { round in
                try timed(urls.count) {
                    var loaded = wi_limit_loaded()
                    let code = withCTexts(urls) { load($0, round == 0 ? 1 : 4_096, &loaded) }
                    guard code == 0 else {
                        throw Skipped(reason: "libcurl received only \(loaded.answered) responses")
                    }
                }
            }
        }
        let count = Int32(urls.count)
        let theirs = inC(limit) { wi_limit_http($0, lengths, count, count, Int32(connections), $1, &$2) }
        // Every loader with a network dedicated thread needs at least this time.
        let passed = inC(handoff) { wi_limit_http_handoff($0, lengths, count, count, Int32(connections), $1, &$2) }
        return Case(
            name: "\(connections) connections, per request", contenders: [ours, shared, theirs, passed],
            goals: [
                .ratio(.cpu, to: limit, atMost: connections > 6 ? 1.4 : 1.5), .ratio(.wall, to: limit, atMost: 2),
            ])
    }

    private static func contender(_ name: String, _ server: PatternServer, _ downloader: ImageDownloader) -> Contender {
        let requests = server.requests
        return Contender(name) { round in
            let step = round == 0 ? 1 : 4_096
            return try await timed(requests.count) {
                try await withThrowingDiscardingTaskGroup { group in
                    for (index, request) in requests.enumerated() {
                        group.addTask {
                            let body = try await downloader.load(request, context: LoadContext()).body
                            guard server.isRight(index, body, step: step) else {
                                throw Skipped(reason: "WebImage received unexpected data")
                            }
                        }
                    }
                }
            }
        }
    }

    /// Cancels requests at all stages. Every request must return quickly, and no resources may leak.
    private static func cancelling(_ server: PatternServer) -> Case {
        let downloader = downloader(6, isShared: true)
        let ours = Contender("WebImage") { round in
            var latencies = Latencies()
            var random = SplitMix(seed: UInt64(round))
            let before = try await settled(downloader)
            for _ in 0..<100 {
                try await cancelHundred(server, downloader, &random, &latencies)
            }
            let after = try await settled(downloader)
            var sample = latencies.sample
            sample[.bytes] = max(0, after.memory - before.memory)
            sample[.descriptors] = max(0, after.descriptors - before.descriptors)
            return sample
        }
        return Case(
            name: "10,000 cancellations at random times, time until each returns, growth", contenders: [ours],
            goals: [.atMost(0.1, .longest), .atMost(0, .descriptors), .atMost(4 * 1_048_576, .bytes)])
    }

    private static func cancelHundred(
        _ server: PatternServer, _ downloader: ImageDownloader, _ random: inout SplitMix, _ latencies: inout Latencies
    ) async throws {
        let tasks = server.requests.prefix(100).map { request in
            Task {
                _ = try? await downloader.load(request, context: LoadContext())
                return Clocks.wall()
            }
        }
        try await Task.sleep(for: .microseconds(Int64(random.next() % 4_000)))
        let start = Clocks.wall()
        for task in tasks { task.cancel() }
        for task in tasks { latencies.add(seconds: max(0, await task.value - start)) }
    }

    /// Returns the memory and the descriptors of the process after all transfers have finished. Idle persistent
    /// connections are included, and abandoned connections aren't.
    private static func settled(_ downloader: ImageDownloader) async throws -> (memory: Double, descriptors: Double) {
        while downloader.runningCount + downloader.queuedCount > 0 { try await Task.sleep(for: .milliseconds(1)) }
        // The remaining idle connections are closed only by the next transfers.
        return (ResidentMemory.now(), OpenDescriptors.now())
    }
}
