// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageTesting

extension PipelineSuite {
    /// Returns a manager without a disk cache and without a limit for the start rate, because the server is on the same
    /// machine.
    private static func impatient() -> ImageManager {
        ImageManager {
            $0.diskCache = nil
            $0.downloader.maxStartsPerSecond = nil
        }
    }

    /// Compares prefetching the images of the cold load with loading them as visible images.
    static func prefetching(_ settings: Settings) throws -> Case {
        let server = try FileServer(try ColdSuite.pictures(settings.pictures), settings: settings)
        let urls = server.urls.compactMap { URL(string: $0) }
        let requests = urls.map { ImageRequest(url: $0, size: .fit(width: 256, height: 256)) }
        let ahead = Contender("prefetch") { _ in
            let manager = impatient()
            let prefetcher = ImagePrefetcher(manager: manager)
            let sample = await timed(requests.count) { consume(await prefetcher.prefetch(requests).result) }
            await manager.shutdown()
            return sample
        }
        let visible = Contender("load") { _ in
            // Keep the server alive for all rounds.
            consume(server)
            let manager = impatient()
            let sample = try await timed(requests.count) {
                for task in requests.map({ manager.load($0) }) { consume(try await task.image) }
            }
            await manager.shutdown()
            return sample
        }
        return Case(
            name: "prefetching \(requests.count) images, per image", contenders: [ahead, visible],
            goals: [.ratio(.wall, to: "load", atMost: 1 / 0.95)])
    }

    /// Measures the latency of visible images while a thousand others are being prefetched.
    static func visibleAmongPrefetches(_ settings: Settings) throws -> Case {
        let picture = try Photograph.encoded(320, 240, as: .jpeg(quality: 85))
        let shown = try Photograph.encoded(1_280, 960, as: .jpeg(quality: 85))
        let wanted = 20
        let files = Array(repeating: shown, count: wanted) + Array(repeating: picture, count: settings.pictures)
        let server = try FileServer(files, settings: settings)
        let urls = server.urls.compactMap { URL(string: $0) }
        let requests = urls.map { ImageRequest(url: $0, size: .fit(width: 128, height: 128)) }
        func latencies(_ manager: ImageManager) async throws -> Latencies {
            var latencies = Latencies()
            for request in requests.prefix(wanted) {
                let start = Clocks.wall()
                consume(try await manager.image(for: request))
                latencies.add(since: start)
            }
            return latencies
        }
        let busy = Contender("during prefetches") { _ in
            let manager = impatient()
            let prefetcher = ImagePrefetcher(manager: manager)
            let task = prefetcher.prefetch(Array(requests.dropFirst(wanted)))
            while task.currentProgress.finishedCount < 20 { await Task.yield() }
            let sample = try await latencies(manager).sample
            guard !task.isFinished else { throw Skipped(reason: "the prefetch finished before the visible images") }
            task.cancel()
            await manager.shutdown()
            return sample
        }
        let idle = Contender("alone") { _ in
            // Keep the server alive for all rounds.
            consume(server)
            let manager = impatient()
            let sample = try await latencies(manager).sample
            await manager.shutdown()
            return sample
        }
        return Case(
            name: "a visible request during \(settings.pictures) prefetches", contenders: [busy, idle],
            goals: [.ratio(.p50, to: "alone", atMost: 1.15)])
    }

    /// Measures the cancellation of a thousand prefetches, some of which are in flight.
    static func cancellingAll() throws -> Case {
        let urls = (0..<1_000).compactMap { URL(string: "https://images.example.com/\($0).jpg") }
        let requests = urls.map { ImageRequest(url: $0) }
        let ours = Contender("cancelAll()") { _ in
            let gate = TestGate()
            let loader = StubLoader { _ in
                var response = StubLoader.Response()
                response.responseGate = gate
                return response
            }
            let manager = ImageManager {
                $0.diskCache = nil
                $0.loaders = [loader]
            }
            let prefetcher = ImagePrefetcher(manager: manager)
            prefetcher.prefetch(requests)
            await loader.waitForRequests(count: 1)
            let sample = timed(1) { prefetcher.cancelAll() }
            gate.open()
            return sample
        }
        return Case(name: "canceling 1,000 prefetches", contenders: [ours], goals: [.atMost(5e-3, .wall)])
    }

    /// Measures a memory cache hit whose freshness is determined by HTTP, as on the web.
    static func freshHit() async throws -> Case {
        let picture = try Photograph.encoded(32, 32, as: .png)
        let loader = StubLoader { _ in
            var fields = HTTPHeaderFields()
            fields["Cache-Control"] = "public, max-age=3600"
            fields["Content-Type"] = "image/png"
            var response = StubLoader.Response(picture)
            response.httpResponse = HTTPResponseHead(statusCode: 200, headers: fields)
            return response
        }
        let manager = ImageManager {
            $0.diskCache = nil
            $0.loaders = [loader]
        }
        guard let url = URL(string: "https://images.example.com/photos/1/large.jpg?w=640") else {
            throw Skipped(reason: "the URL isn’t valid")
        }
        _ = try await manager.image(for: url)
        let count = 10_000
        let ours = Contender("image(from:)") { _ in
            try await timed(count) { for _ in 0..<count { consume(try await manager.image(for: url)) } }
        }
        guard loader.requests.count == 1 else { throw Skipped(reason: "the image isn’t fresh") }
        return Case(
            name: "memory hit under HTTP rules, from a URL", contenders: [ours], goals: [.atMost(5e-6, .cpu)])
    }
}
