// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Task events", .timeLimit(.minutes(5)))
struct EventBufferTests {
    private func name(_ event: ImageTask.Event) -> String {
        switch event {
        case .started: "started"
        case .waiting(let reason): "waiting \(reason.rawValue)"
        case .progress(let progress): "progress \(progress.receivedByteCount)"
        case .cached: "cached"
        case .preview: "preview"
        case .finished: "finished"
        }
    }

    private func progress(_ count: Int) -> ImageTask.Event {
        .progress(ImageTask.Progress(receivedByteCount: count, expectedByteCount: nil))
    }

    private func cached() throws -> ImageTask.Event {
        .cached(
            ImageResponse(
                image: DecodedImage(pixels: try TestImages.pixels(1)), url: URL(filePath: "/a"), source: .memoryCache))
    }

    @Test("The streams of progress and previews contain only their values and end with the task")
    func values() async throws {
        let task = ImageTask(ImageRequest(url: URL(filePath: "/a")))
        #expect(task.currentProgress == nil && task == task && task != ImageTask(task.request))
        let (counts, previews) = (task.progress, task.previews)
        let image = DecodedImage(pixels: try TestImages.pixels(1))
        task.emit(.started)
        task.emit(progress(7))
        task.emit(.preview(image))
        task.emit(try cached())
        #expect(task.currentProgress?.receivedByteCount == 7)
        task.cancel()
        var received: [Int] = []
        for await count in counts { received.append(count.receivedByteCount) }
        #expect(received == [7])
        // The final result supersedes the preview.
        for await _ in previews { Issue.record("a preview after the end") }
    }

    @Test("The end of a subscriber is reported once, by its first end or by the deallocation", arguments: 0..<3)
    func termination(ends: Int) {
        let count = Shared(0)
        do {
            let buffer = EventBuffer { count.update { $0 += 1 } }
            for _ in 0..<ends { buffer.end() }
            #expect(count.value == min(ends, 1))
            withExtendedLifetime(buffer) {}
        }
        #expect(count.value == 1)
    }

    @Test("A slow reader receives the latest progress and preview, every cached image, and the end")
    func pending() throws {
        var pending = EventCoalescer()
        pending.put(.started)
        pending.put(.waiting(.connectionLimit))
        pending.put(.waiting(.hostLimit))
        #expect(pending.events.map(name) == ["started", "waiting hostLimit"])
        pending.put(try cached())
        for count in 1...1_000 {
            pending.put(progress(count))
            pending.put(.preview(DecodedImage(pixels: try TestImages.pixels(1))))
        }
        #expect(pending.events.map(name) == ["started", "cached", "progress 1000", "preview"])
        pending.put(.finished(.failure(.cancelled)))
        #expect(pending.events.map(name) == ["started", "cached", "progress 1000", "finished"])
        #expect(pending.dequeue().map(name) == "started" && pending.events.count == 3)
    }

    @Test("N-30: The event stream of a task ends with the terminal event, also for late and repeated readers")
    func streams() async throws {
        let task = ImageTask(ImageRequest(url: URL(filePath: "/a")))
        let early = task.events
        #expect(task.isHeard)
        task.emit(.started)
        task.emit(progress(1))
        task.emit(progress(2))
        task.cancel()
        var names: [String] = []
        for await event in early { names.append(name(event)) }
        #expect(names == ["started", "progress 2", "finished"])
        names = []
        for await event in task.events { names.append(name(event)) }
        for await event in early { names.append(name(event)) }
        #expect(names == ["started", "finished"])
        await untilTrue { !task.isHeard }
    }

    @Test("A canceled reader is removed, and its wait ends")
    func leaves() async throws {
        let task = ImageTask(ImageRequest(url: URL(filePath: "/a")))
        do { _ = task.events }
        #expect(!task.isHeard)
        let begun = TestGate()
        let reader = Task {
            var count = 0
            for await _ in task.events {
                begun.open()
                count += 1
            }
            return count
        }
        await untilTrue { task.isHeard }
        task.emit(.started)
        await begun.wait()
        reader.cancel()
        #expect(await reader.value == 1)
        #expect(!task.isHeard && task.result == nil)
    }

    @Test("A load that exceeds the connection limit of its host reports why it waits")
    func waiting() async throws {
        let picture = try TestImages.png(1)
        let gate = TestGate()
        let server = try LoopbackServer(routes: [
            "/a": .ok(picture, contentType: "image/png").with { $0.bodyGate = gate },
            "/b": .ok(picture, contentType: "image/png"),
        ])
        defer { server.stop() }
        let fixture = try ManagerFixture { $0.downloader.maxConnectionsPerHost = 1 }
        let first = fixture.manager.load(server.url("/a"))
        await server.waitForRequests(count: 1)
        let second = fixture.manager.load(server.url("/b"))
        var names: [String] = []
        for await event in second.events {
            names.append(name(event))
            if case .waiting = event { gate.open() }
        }
        #expect(names.prefix(2) == ["started", "waiting hostLimit"] && names.last == "finished")
        _ = try await first.image
    }

    @Test(
        "A load that survives its owner fills the cache if the awaiting task is canceled", arguments: [true, false])
    func survives(isSurvivor: Bool) async throws {
        let loader = StubLoader()
        let url = try #require(URL(string: "https://example.org/a.png"))
        let gate = TestGate()
        loader.respond(to: url, with: .init(body: try TestImages.png(1), responseGate: gate))
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        var request = ImageRequest(url: url)
        request.continuesAfterCancellation = isSurvivor
        let wanted = request
        let owner = Task { try await fixture.manager.image(for: wanted) }
        await loader.waitForRequests(count: 1)
        owner.cancel()
        await #expect(throws: ImageError.cancelled) { try await owner.value }
        if !isSurvivor { await loader.waitForCancellations(count: 1) }
        gate.open()
        await untilTrue { fixture.manager.runningJobs == 0 }
        await untilTrue { (fixture.manager.cachedImage(for: wanted) != nil) == isSurvivor }
    }
}
