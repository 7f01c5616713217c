// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Preliminary requests", .timeLimit(.minutes(5)))
struct PreliminaryRequestTests {
    private let loader = StubLoader()
    private let large = URL.sample
    private let gate = TestGate()

    private func url(_ number: Int) -> URL { URL.sample.appending(path: "\(number)") }

    private func fixture(_ configure: (inout ImageManager.Configuration) -> Void = { _ in }) throws -> ManagerFixture {
        try ManagerFixture { [loader] configuration in
            configuration.loaders = [loader]
            configure(&configuration)
        }
    }

    /// Returns a request for image 1, which waits for the gate, with preliminary requests for the images `numbers`.
    private func request(_ numbers: Int...) -> ImageRequest {
        loader.respond(to: large, with: Numbered.response(1, responseGate: gate))
        var request: ImageRequest?
        for number in numbers.reversed() {
            var next = ImageRequest(url: url(number))
            next.preliminary = request
            request = next
        }
        var main = ImageRequest(url: large)
        main.preliminary = request
        return main
    }

    /// Sets the response with the image of a number.
    private func respond(_ number: Int, gate: TestGate? = nil) {
        loader.respond(to: url(number), with: Numbered.response(number, responseGate: gate))
    }

    private var requested: Set<URL> { Set(loader.requests.map(\.url)) }

    /// Returns the numbers of the previews of a task, and calls `body` after each.
    private func previews(_ task: ImageTask, _ body: (Int) -> Void = { _ in }) async -> [Int] {
        var numbers: [Int] = []
        for await image in task.previews {
            let number = Numbered.number(of: image)
            #expect(!image.metadata.isPartial)
            numbers.append(number)
            body(number)
        }
        return numbers
    }

    @Test("The image of the preliminary request is delivered as a preview before the image")
    func preview() async throws {
        respond(2)
        let fixture = try fixture()
        let task = fixture.manager.load(request(2))
        #expect(await previews(task) { _ in gate.open() } == [2])
        #expect(await task.number == 1)
        #expect(fixture.manager.runningTasks.isEmpty)
    }

    @Test("A preliminary image in memory is delivered without a load")
    func inMemory() async throws {
        respond(2)
        let fixture = try fixture()
        _ = try await fixture.manager.image(for: url(2))
        let task = fixture.manager.load(request(2, 3))
        #expect(await previews(task) { _ in gate.open() } == [2])
        #expect(requested == [large, url(2)] && loader.requests.count == 2)
    }

    @Test("If the image arrives first, the preliminary request is canceled and delivers nothing")
    func late() async throws {
        let held = TestGate()
        respond(2, gate: held)
        gate.open()
        let fixture = try fixture()
        let task = fixture.manager.load(request(2))
        #expect(await task.eventNames() == ["started", "finished network"])
        held.open()
        await fixture.manager.rest()
        #expect(fixture.manager.cachedImage(for: url(2)) == nil)
    }

    /// The progress of a preliminary request when the request is canceled.
    enum Progress: String, CaseIterable, Sendable { case started, loading, delivered, failed }

    @Test("Canceling the request cancels the preliminary request", arguments: Progress.allCases)
    func cancellation(_ progress: Progress) async throws {
        let held = TestGate()
        switch progress {
        case .started, .loading: respond(2, gate: held)
        case .delivered: respond(2)
        case .failed: loader.respond(to: url(2), with: StubLoader.Response(error: .request(.rejected(reason: "no"))))
        }
        let fixture = try fixture()
        let task = fixture.manager.load(request(2))
        switch progress {
        case .started: break
        case .loading: await loader.waitForRequests(count: 2)
        case .delivered:
            var iterator = task.previews.makeAsyncIterator()
            #expect(await iterator.next() != nil)
        case .failed:
            await untilTrue { fixture.manager.statistics.failures == 1 }
        }
        task.cancel()
        #expect(await task.code == ImageError.cancelled.code)
        held.open()
        gate.open()
        await fixture.manager.rest()
        #expect(fixture.manager.cachedImage(for: large) == nil)
        #expect((fixture.manager.cachedImage(for: url(2)) != nil) == (progress == .delivered))
        #expect(fixture.manager.statistics.failures == (progress == .failed ? 1 : 0))
    }

    @Test("The failure of a preliminary request has no effect on the request")
    func failure() async throws {
        loader.respond(to: url(2), with: StubLoader.Response(Data("<html>".utf8)))
        let fixture = try fixture()
        let task = fixture.manager.load(request(2))
        await untilTrue { fixture.manager.statistics.failures == 1 }
        gate.open()
        #expect(await task.eventNames() == ["started", "finished network"])
    }

    @Test("The priority of the request applies to the preliminary request")
    func priority() async throws {
        let loader = ContextLoader(gate) { _ in Numbered.response(2) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        // The loader holds all loads except the first one.
        _ = try await fixture.manager.image(for: url(9))
        var main = request(2)
        main.priority = .low
        main.preliminary?.priority = .high
        let task = fixture.manager.load(main)
        await untilTrue { loader.count == 3 }
        #expect(loader.priorities.dropFirst() == [.low, .low])
        task.priority = .high
        await untilTrue { loader.priorities.dropFirst() == [.high, .high] }
        gate.open()
        _ = try await task.image
    }

    @Test("Of nested preliminary requests, an image is delivered only after images that are further from the request")
    func nested() async throws {
        let held = TestGate()
        respond(2, gate: held)
        respond(3)
        let fixture = try fixture()
        let task = fixture.manager.load(request(2, 3))
        #expect(await previews(task) { $0 == 3 ? held.open() : gate.open() } == [3, 2])
        #expect(await task.number == 1)
    }

    @Test("After the image of a preliminary request, its own preliminary request is canceled")
    func superfluous() async throws {
        let held = TestGate()
        respond(2)
        respond(3, gate: held)
        let fixture = try fixture()
        let task = fixture.manager.load(request(2, 3))
        await untilTrue { fixture.manager.statistics.cancellations == 1 }
        held.open()
        #expect(await previews(task) { _ in gate.open() } == [2])
    }

    @Test("The manager ignores preliminary requests after the third one")
    func depth() async throws {
        let held = TestGate()
        for number in 2...6 { respond(number, gate: held) }
        let fixture = try fixture()
        let task = fixture.manager.load(request(2, 3, 4, 5, 6))
        await loader.waitForRequests(count: 4)
        await passing { loader.requests.count > 4 }
        #expect(requested == [large, url(2), url(3), url(4)])
        task.cancel()
        held.open()
        gate.open()
    }

    @Test("A stale image in memory is delivered instead of starting the preliminary request")
    func stale() async throws {
        respond(2)
        gate.open()
        let fixture = try fixture()
        let request = request(2)
        var plain = request
        plain.preliminary = nil
        _ = try await fixture.manager.image(for: plain)
        fixture.pass(seconds: 61)
        #expect(await fixture.manager.load(request).eventNames().prefix(2) == ["started", "cached"])
        #expect(requested == [large])
    }

    @Test("The preliminary image isn't delivered after the cached image")
    func cached() async throws {
        let held = TestGate()
        respond(2, gate: held)
        let request = request(2)
        loader.respond(
            to: large, with: Numbered.response(1), Numbered.response(1, responseGate: gate))
        var fixture = try fixture()
        _ = try await fixture.manager.image(for: large)
        fixture = try await fixture.restarted { [loader] in $0.loaders = [loader] }
        fixture.pass(seconds: 61)
        let task = fixture.manager.load(request)
        var names: [String] = []
        for await event in task.events {
            switch event {
            case .cached:
                names.append("cached")
                held.open()
                await untilTrue { [manager = fixture.manager] in manager.cachedImage(for: url(2)) != nil }
                await passing()
                gate.open()
            case .preview: names.append("preview")
            case .finished: names.append("finished")
            case .started, .waiting, .progress: break
            }
        }
        #expect(names == ["cached", "finished"])
    }

    @Test("Requests without a subscriber and prefetched requests don't start the preliminary request")
    func withoutSubscribers() async throws {
        respond(2)
        gate.open()
        let request = request(2)
        for use in 0..<4 {
            let fixture = try fixture()
            switch use {
            case 0: _ = try await fixture.manager.image(for: request)
            case 1: _ = try await fixture.manager.data(for: request)
            case 2: for await _ in fixture.manager.results(for: [request]) {}
            default: _ = await ImagePrefetcher(manager: fixture.manager).prefetch([request]).result
            }
            await fixture.manager.rest()
        }
        #expect(requested == [large])
    }

    @Test("The preliminary request isn't part of the key, and requests with and without it share the load")
    func key() async throws {
        respond(2)
        let fixture = try fixture()
        let request = request(2)
        let plain = fixture.manager.load(large)
        let task = fixture.manager.load(request)
        #expect(fixture.manager.cacheKeys(for: request) == fixture.manager.cacheKeys(for: ImageRequest(url: large)))
        #expect(await previews(task) { _ in gate.open() } == [2])
        #expect(await plain.number == 1)
        #expect(loader.requests.count { $0.url == large } == 1)
    }

    @Test("A request whose preliminary request has the same key loads the image once and delivers no preview")
    func same() async throws {
        var request = request()
        request.preliminary = request
        let fixture = try fixture()
        let task = fixture.manager.load(request)
        await loader.waitForRequests(count: 1)
        gate.open()
        #expect(await task.eventNames() == ["started", "finished network"])
        #expect(loader.requests.count == 1)
    }

    @Test("A task drops preliminary images after a better image, and a late listener receives the best one")
    func state() throws {
        let (coarse, fine) = (
            DecodedImage(pixels: try TestImages.pixels(3)), DecodedImage(pixels: try TestImages.pixels(2))
        )
        var state = ImageTaskStateMachine()
        #expect(state.emit(preliminary: coarse, rank: 1) == true)
        #expect(state.emit(preliminary: fine, rank: 0) == true)
        #expect(state.emit(preliminary: coarse, rank: 1) == false)
        #expect(state.emit(preliminary: fine, rank: 0) == false)
        state.addListener(1)
        guard case .event(1, .preview(let late))? = state.beginDelivery()?.first else {
            Issue.record("The listener receives no preview.")
            return
        }
        #expect(late === fine)
        var loading = ImageTaskStateMachine()
        _ = loading.emit(.preview(coarse))
        #expect(loading.emit(preliminary: fine, rank: 0) == false)
        var cached = ImageTaskStateMachine()
        _ = cached.emit(preliminary: fine, rank: 0)
        _ = cached.emit(.cached(ImageResponse(image: fine, url: large)))
        #expect(cached.emit(preliminary: fine, rank: 0) == false)
        cached.addListener(1)
        #expect(cached.beginDelivery()?.count == 1)
        var finished = ImageTaskStateMachine()
        _ = finished.emit(.finished(.failure(.cancelled)))
        #expect(finished.emit(preliminary: fine, rank: 0) == false)
    }
}
