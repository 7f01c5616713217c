// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Cancellation", .timeLimit(.minutes(5)))
struct CancellationTests {
    @Test("Canceling the Swift task that awaits an image cancels the request")
    func awaiting() async throws {
        let server = try LoopbackServer { _ in .silent }
        let fixture = try ManagerFixture()
        let url = server.url("/a")
        let waiting = Task { try await fixture.manager.image(for: url) }
        await server.waitForRequests(count: 1)
        waiting.cancel()
        await #expect(throws: ImageError.cancelled) { try await waiting.value }
        await server.waitForClosedConnections(count: 1)
        await untilTrue { fixture.manager.runningJobs == 0 }
    }

    @Test("Canceling one wait for the response of a task doesn't cancel the task")
    func oneAwait() async throws {
        let gate = TestGate()
        let server = try LoopbackServer(
            routes: ["/a": .ok(try TestImages.png(1)).with { $0.headGate = gate }])
        let fixture = try ManagerFixture()
        let task = fixture.manager.load(server.url("/a"))
        let waiting = Task { try await task.response }
        await server.waitForRequests(count: 1)
        waiting.cancel()
        await #expect(throws: ImageError.cancelled) { try await waiting.value }
        gate.open()
        #expect(try await task.response.source == .network)
    }

    @Test("A request that is canceled during decoding ends immediately and stores nothing")
    func whileDecoding() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(try TestImages.png(1))])
        let slow = SlowCoder()
        let fixture = try ManagerFixture { $0.coders.register(slow) }
        let task = fixture.manager.load(server.url("/a"))
        await slow.running.wait()
        task.cancel()
        await #expect(throws: ImageError.cancelled) { try await task.response }
        await untilTrue { fixture.manager.runningJobs == 0 }
        #expect(fixture.manager.cachedImage(for: ImageRequest(url: server.url("/a"))) == nil)
    }

    @Test("Row 57, K-05: ten thousand cancellations at random moments leave no job, file descriptor, or temporary file")
    func storm() async throws {
        let picture = try TestImages.png(1)
        let server = try LoopbackServer { _ in .ok(picture, contentType: "image/png") }
        let fixture = try ManagerFixture { $0.downloader.maxConnectionsPerHost = 4 }
        _ = try await fixture.manager.image(for: server.url("/warm"))
        var random = SeededGenerator(seed: 7)
        for round in 0..<20 {
            let tasks = (0..<500).map { fixture.manager.load(server.url("/\(round)-\($0 % 50)")) }
            for task in tasks.shuffled(using: &random) where Int.random(in: 0..<10, using: &random) < 9 {
                task.cancel()
                if Int.random(in: 0..<50, using: &random) == 0 { await Task.yield() }
            }
            for task in tasks {
                guard let result = await ended(task) else { continue }
                if case .failure(let error) = result { #expect(error == .cancelled) }
            }
        }
        await untilTrue { fixture.manager.runningJobs == 0 }
        await fixture.manager.diskCache?.flush()
        let left = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.file("cache/temp"))
        #expect(left.isEmpty)
        // A running cache opens its index and its directory when a reader first needs them, so the number of open files
        // depends on the requests that reached the disk. A closed cache has none.
        await fixture.manager.diskCache?.close()
        await untilTrue { OpenDescriptors.files(under: fixture.directory.path).isEmpty }
        // Only persistent connections remain on both sides of the loopback interface.
        await untilTrue { server.counters.openConnections <= 4 }
        #expect(OpenDescriptors.connections(toPort: server.port).count <= 4)
        #expect(server.counters.openConnections <= 4)
    }

    private func ended(_ task: ImageTask) async -> Result<ImageResponse, ImageError>? {
        _ = try? await task.response
        return task.result
    }
}

/// A coder that decodes until it's canceled.
private final class SlowCoder: ImageCoder {
    let running = TestGate()

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .png }

    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        running.open()
        while true { try context.checkCancellation() }
    }
}
