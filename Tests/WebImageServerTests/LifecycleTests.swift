// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImage
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImageServer

/// An observer that collects the parents of all events.
private final class ParentObserver: ImageManagerObserver {
    let events = Lock<[ImageManager.Event]>([])

    func observe(_ event: ImageManager.Event) { events.withLock { $0.append(event) } }
}

@Suite("The lifecycle of the handler", .timeLimit(.minutes(2)))
struct LifecycleTests {
    private func origin(_ gate: TestGate) throws -> LoopbackServer {
        let image = try TestImages.png(5)
        return try LoopbackServer { _ in LoopbackServer.Response(body: image).with { $0.headGate = gate } }
    }

    @Test("A shutdown rejects new requests, waits for running ones, and ends run()")
    func drain() async throws {
        let gate = TestGate()
        let (server, origin) = (try testServer { _ in }, try origin(gate))
        let request = ServerRequest(target: "/_/plain/\(origin.url("/a.png"))@png")
        async let run: Void = server.run()
        async let first = server.response(to: request)
        await origin.waitForRequests(count: 1)
        async let shutdown: Void = server.shutdown(deadline: .seconds(60))
        while await server.response(to: ServerRequest(target: "/health")).statusCode != 503 { await Task.yield() }
        gate.open()
        #expect(await first.statusCode == 200)
        await shutdown
        await run
        #expect(await server.response(to: request).statusCode == 503)
        #expect(origin.requests.count == 1)
    }

    @Test("At the deadline, running responses are canceled, and the origin sees its connection closed")
    func deadline() async throws {
        let (server, origin) = (try testServer { _ in }, try origin(TestGate()))
        async let response = server.response(to: ServerRequest(target: "/_/plain/\(origin.url("/a.png"))@png"))
        await origin.waitForRequests(count: 1)
        await server.shutdown(deadline: .zero)
        #expect(await response.statusCode == 503)
        await origin.waitForClosedConnections(count: 1)
        await server.run()
    }

    @Test("A canceled run() stops the handler")
    func canceledRun() async throws {
        let server = try testServer { _ in }
        let run = Task { await server.run() }
        run.cancel()
        await run.value
        #expect(await server.response(to: ServerRequest(target: "/health")).statusCode == 503)
    }

    @Test("A client that leaves cancels the work of its response")
    func canceledResponse() async throws {
        let (server, origin) = (try testServer { _ in }, try origin(TestGate()))
        let target = "/_/plain/\(origin.url("/a.png"))@png"
        let client = Task { await server.response(to: ServerRequest(target: target)) }
        await origin.waitForRequests(count: 1)
        client.cancel()
        #expect(await client.value.statusCode == 503)
        await origin.waitForClosedConnections(count: 1)
    }

    @Test("The events of a request have the span of the task and the number of the request’s span on every thread")
    func parents() async throws {
        let observer = ParentObserver()
        let image = try TestImages.png(5, width: 64, height: 48)
        let origin = try LoopbackServer { _ in LoopbackServer.Response(body: image) }
        let manager = ImageManager { configuration in
            configuration.diskCache = nil
            configuration.downloader.proxy = .disabled
            configuration.observers = [observer]
            configuration.memoryPressureMonitor = MemoryPressureMonitor(observesSystem: false)
        }
        let request = ImageRequest(url: origin.url("/a.png"), size: .fit(width: 20, height: 20))
        _ = try await ImageManager.$parentSpan.withValue("span 7") { try await manager.image(for: request) }
        let events = observer.events.withLock { $0 }
        #expect(Set(events.map(\.stage)).isSuperset(of: [.request, .decode, .transfer]))
        for event in events { #expect(event.parentSpan as? String == "span 7", "\(event.stage)") }
        let whole = try #require(events.first { $0.stage == .request })
        #expect(whole.parentSpanID == nil)
        for event in events where event.stage != .request { #expect(event.parentSpanID == whole.spanID) }
        #expect(events.contains { $0.threadName != nil })
    }

    @Test("The timeout of a request follows the time source of the service")
    func timeout() async throws {
        let clock = TestClock()
        let (server, origin) = (try testServer { _ in }, try origin(TestGate()))
        var configuration = ImageService.Configuration()
        configuration.timeout = .seconds(5)
        let service = ImageService(
            handler: server, configuration: configuration, metrics: ServiceMetrics(), log: nil, time: TimeSource(clock))
        let response = Promise<ServerResponse>()
        let request = ServerRequest(target: "/_/plain/\(origin.url("/a.png"))@png")
        let call = service.begin(request, peer: "127.0.0.1") { response.resolve($0) }
        await origin.waitForRequests(count: 1)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(5))
        #expect(await response.outcome {}.statusCode == 503)
        await origin.waitForClosedConnections(count: 1)
        service.end(call, sentBytes: 0, isComplete: true)
    }
}
