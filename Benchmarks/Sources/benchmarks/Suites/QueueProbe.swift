// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// A measurement of the memory that 3,000 concurrent requests use in addition to the images that they load, all of
/// which are retained.
///
/// Each measurement runs in its own process. In a process that has loaded images before, the requests would reuse
/// memory that was freed but is still resident, so the result would be too low. The peak is the value of the kernel
/// (VmHWM), which includes short peaks.
enum QueueProbe {
    /// The argument that starts the program as a probe. The probe reads the URLs from standard input.
    static let word = "queue-probe"
    private static let total = 3_000

    static func memory(_ server: PatternServer) -> Case {
        let urls = server.urls
        let ours = Contender("WebImage") { _ in [.bytes: try measure(urls)] }
        return Case(
            name: "memory of 3,000 requests beyond the images", contenders: [ours],
            goals: [.atMost(40 * 1_048_576, .bytes)], warmUps: 0)
    }

    private static func measure(_ urls: [String]) throws -> Double {
        let text = String(decoding: try ProbeProcess.output([word], input: urls), as: UTF8.self)
        guard let bytes = Double(text) else { throw Skipped(reason: "the memory probe failed") }
        return bytes
    }

    /// Runs the probe, which prints the number of bytes.
    static func run() async throws {
        var urls: [URL] = []
        while let line = readLine() { if let url = URL(string: line) { urls.append(url) } }
        guard let first = urls.first else { return }
        let downloader = HTTPSuite.downloader(6, isShared: true)
        // Exclude the memory that libraries allocate once.
        _ = try await downloader.load(LoadRequest(url: first), context: LoadContext())
        // Different queries prevent the downloader from coalescing requests. The server ignores them. The URLs belong to
        // the caller, so create them before the measurement.
        let requests = (0..<total).map { index in
            LoadRequest(
                url: urls[index % urls.count].appending(queryItems: [URLQueryItem(name: "n", value: "\(index)")]))
        }
        var bodies: [Data] = []
        bodies.reserveCapacity(total)
        let before = ResidentMemory.now()
        // Enqueue all requests before the first one starts.
        downloader.isSuspended = true
        try await withThrowingTaskGroup(of: Data.self) { group in
            for request in requests {
                group.addTask { try await downloader.load(request, context: LoadContext()).body }
            }
            while downloader.queuedCount < total { try await Task.sleep(for: .milliseconds(1)) }
            downloader.isSuspended = false
            for try await body in group { bodies.append(body) }
        }
        let kept = bodies.reduce(0) { $0 + $1.count }
        print(Int(ResidentMemory.peak() - before) - kept, terminator: "")
        consume(bodies)
    }
}
