// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// A suite that measures memory cache hits through the manager, and the cost of starting and canceling requests.
enum PipelineSuite: Suite {
    static let name = "pipeline"
    static let summary = "the manager: memory hits, start and cancel, prefetching"

    static func cases(_ settings: Settings) async throws -> [Case] {
        let manager = ImageManager { $0.diskCache = nil }
        let picture = try Photograph.encoded(32, 32, as: .png)
        let text = "data:image/png;base64,\(picture.base64EncodedString())"
        guard let url = URL(string: text) else { throw Skipped(reason: "the data URL isn’t valid") }
        var request = ImageRequest(url: url)
        // Use a short key, as for an image from the web. The key of a data URL contains the whole image.
        request.caching.key = "https://images.example.com/photos/1/large.jpg?w=640"
        // A data URL has no freshness lifetime.
        request.cachePolicy = .cacheFirst
        let wanted = request
        _ = try await manager.image(for: wanted)
        let count = 10_000
        let synchronous = Contender("cachedImage(for:)") { _ in
            timed(count) { for _ in 0..<count { consume(manager.cachedImage(for: wanted)) } }
        }
        let asynchronous = Contender("image(for:)") { _ in
            try await timed(count) { for _ in 0..<count { consume(try await manager.image(for: wanted)) } }
        }
        return [
            Case(name: "memory hit, synchronous", contenders: [synchronous], goals: [.atMost(1e-6, .cpu)]),
            Case(name: "memory hit, asynchronous", contenders: [asynchronous], goals: [.atMost(5e-6, .cpu)]),
            try await freshHit(), startAndCancel(), try prefetching(settings),
            try visibleAmongPrefetches(settings), try cancellingAll(),
        ]
    }

    private static func startAndCancel() -> Case {
        let manager = ImageManager { $0.diskCache = nil }
        let count = 2_000
        let urls = (0..<count).compactMap { URL(string: "http://127.0.0.1:9/\($0).jpg") }
        let ours = Contender("load, cancel") { _ in
            timed(count) { for url in urls { manager.load(url).cancel() } }
        }
        return Case(
            name: "start and cancel, time until the caller continues", contenders: [ours],
            goals: [.atMost(10e-6, .wall)])
    }
}
