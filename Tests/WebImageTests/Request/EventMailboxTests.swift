// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Task events", .timeLimit(.minutes(5)))
struct EventMailboxTests {
    private func name(_ event: ImageEvent) -> String {
        switch event {
        case .started: "started"
        case .waiting(let reason): "waiting \(reason.rawValue)"
        case .progress(let progress): "progress \(progress.received)"
        case .cached: "cached"
        case .preview: "preview"
        case .finished: "finished"
        }
    }

    private func progress(_ count: Int) -> ImageEvent { .progress(ImageProgress(received: count, expected: nil)) }

    private func cached() throws -> ImageEvent {
        .cached(
            ImageResponse(
                image: Image(pixels: try TestPictures.pixels(1)), data: nil, origin: .memory,
                url: URL(filePath: "/a"), head: nil, byteCount: nil, timings: StageTimings(), metrics: nil))
    }

    @Test("A slow reader receives the latest progress and preview, every cached image, and the end")
    func pending() throws {
        var pending = PendingEvents()
        pending.put(.started)
        pending.put(.waiting(.queue))
        pending.put(.waiting(.hostLimit))
        #expect(pending.events.map(name) == ["started", "waiting host-limit"])
        pending.put(try cached())
        for count in 1...1_000 {
            pending.put(progress(count))
            pending.put(.preview(Image(pixels: try TestPictures.pixels(1))))
        }
        #expect(pending.events.map(name) == ["started", "cached", "progress 1000", "preview"])
        pending.put(.finished(.failure(.request(.cancelled))))
        #expect(pending.events.map(name) == ["started", "cached", "progress 1000", "finished"])
        #expect(pending.take().map(name) == "started" && pending.events.count == 3)
    }

    @Test("The event stream of a task ends with the terminal event, also for late and repeated readers")
    func streams() async throws {
        let task = ImageTask(ImageRequest(URL(filePath: "/a")))
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
        let task = ImageTask(ImageRequest(URL(filePath: "/a")))
        do { _ = task.events }
        #expect(!task.isHeard)
        let begun = Gate()
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
        let picture = try TestPictures.png(1)
        let gate = Gate()
        let server = try LoopbackServer(routes: [
            "/a": .ok(picture, type: "image/png").with { $0.bodyGate = gate }, "/b": .ok(picture, type: "image/png"),
        ])
        defer { server.stop() }
        let fixture = try ManagerFixture { $0.downloader.connectionsPerHost = 1 }
        let first = fixture.manager.load(server.url("/a"))
        await server.waitForRequests(count: 1)
        let second = fixture.manager.load(server.url("/b"))
        var names: [String] = []
        for await event in second.events {
            names.append(name(event))
            if case .waiting = event { gate.open() }
        }
        #expect(names.prefix(2) == ["started", "waiting host-limit"] && names.last == "finished")
        _ = try await first.image
    }

    @Test(
        "A load that survives its owner fills the cache if the awaiting task is canceled", arguments: [true, false])
    func survives(isSurvivor: Bool) async throws {
        let loader = StubLoader()
        let url = try #require(URL(string: "https://example.org/a.png"))
        let gate = Gate()
        loader.set(.init(body: try TestPictures.png(1), gate: gate), for: url)
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        var request = ImageRequest(url)
        request.survivesOwner = isSurvivor
        let wanted = request
        let owner = Task { try await fixture.manager.image(for: wanted) }
        await loader.waitForRequests(count: 1)
        owner.cancel()
        await #expect(throws: ImageError.request(.cancelled)) { try await owner.value }
        if !isSurvivor { await loader.waitForCancellations(count: 1) }
        gate.open()
        await untilTrue { fixture.manager.runningJobs == 0 }
        await untilTrue { (fixture.manager.cachedImage(for: wanted) != nil) == isSurvivor }
    }
}
