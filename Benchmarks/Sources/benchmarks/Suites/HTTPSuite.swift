// SPDX-License-Identifier: MIT

import CLimits
import Foundation
import WebImage

/// The downloader against libcurl's multi interface, with nginx on the same machine.
enum HTTPSuite: Suite {
    static let name = "http"
    static let summary = "1,000 files of 20…300 KB from nginx on loopback, queueing, cancelling; against libcurl in C"

    private static let limit = "curl multi"

    static func cases(_ settings: Settings) throws -> [Case] {
        var random = SplitMix(seed: 3)
        let files = (0..<1_000).map { _ in
            // Skewed as on the web: most are small.
            Data(count: 20_000 + Int(280_000 * random.unit() * random.unit()))
        }
        let server = try FileServer(files, settings: settings)
        return [
            load(server, connections: 6), load(server, connections: 32), queue(server), cancelling(server),
        ]
    }

    private static func downloader(_ connections: Int) -> ImageDownloader {
        var configuration = DownloaderConfiguration()
        configuration.connectionsPerHost = connections
        return ImageDownloader(configuration)
    }

    private static func requests(_ server: FileServer) -> [LoadRequest] {
        server.urls.compactMap { URL(string: $0) }.map { LoadRequest(url: $0) }
    }

    private static func load(_ server: FileServer, connections: Int) -> Case {
        let downloader = downloader(connections)
        let requests = requests(server)
        let urls = server.urls
        let ours = Contender("WebImage") { _ in
            // The server ends with its last owner.
            consume(server)
            return try await timed(requests.count) {
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for request in requests {
                        group.addTask { try await downloader.load(request, context: LoadContext()).body.count }
                    }
                    for try await count in group { consume(count) }
                }
            }
        }
        let theirs = Contender(limit) { _ in
            try timed(urls.count) {
                var loaded = wi_limit_loaded()
                let code = withCTexts(urls) {
                    wi_limit_http($0, Int32(urls.count), Int32(urls.count), Int32(connections), &loaded)
                }
                guard code == 0 else { throw Skipped(reason: "libcurl got \(loaded.answered) answers") }
            }
        }
        return Case(
            name: "\(connections) connections, per request", contenders: [ours, theirs],
            goals: [.ratio(.cpu, to: limit, atMost: 2), .ratio(.wall, to: limit, atMost: 2)])
    }

    /// How much memory 3,000 waiting requests take, bodies not counted: none is begun.
    private static func queue(_ server: FileServer) -> Case {
        let downloader = downloader(6)
        let requests = requests(server)
        let ours = Contender("WebImage") { _ in
            consume(server)
            let before = ResidentMemory.now()
            var peak = before
            try await withThrowingTaskGroup(of: Double.self) { group in
                for index in 0..<3_000 {
                    group.addTask {
                        _ = try await downloader.load(requests[index % requests.count], context: LoadContext())
                        return ResidentMemory.now()
                    }
                }
                for try await bytes in group { peak = max(peak, bytes) }
            }
            return [.bytes: peak - before]
        }
        return Case(
            name: "memory while 3,000 requests are queued and loaded", contenders: [ours],
            goals: [.atMost(40 * 1_048_576, .bytes)], warmUps: 0)
    }

    /// Cancels requests at all stages; every one must come back soon.
    private static func cancelling(_ server: FileServer) -> Case {
        let downloader = downloader(6)
        let requests = requests(server)
        let ours = Contender("WebImage") { round in
            consume(server)
            var latencies = Latencies()
            var random = SplitMix(seed: UInt64(round))
            for _ in 0..<20 {
                let tasks = (0..<100).map { index in
                    Task {
                        let result = try? await downloader.load(
                            requests[index % requests.count], context: LoadContext())
                        return (result != nil, Clocks.wall())
                    }
                }
                try await Task.sleep(for: .microseconds(Int64(random.next() % 4_000)))
                let start = Clocks.wall()
                for task in tasks { task.cancel() }
                for task in tasks {
                    let (_, end) = await task.value
                    latencies.add(seconds: max(0, end - start))
                }
            }
            return latencies.sample
        }
        return Case(
            name: "2,000 cancellations at random moments, time until each returns", contenders: [ours],
            goals: [.atMost(0.1, .longest)], warmUps: 0)
    }
}
