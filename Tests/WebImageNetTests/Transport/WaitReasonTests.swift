// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

/// A response interceptor that changes nothing. Like every response interceptor, it delays the reports of the response.
private struct PlainInterceptor: ResponseBodyModifier {
    func modify(_ body: Data, of head: HTTPResponseHead?, for request: LoadRequest) async throws(ImageError) -> Data {
        body
    }
}

@Suite("Reasons for waiting loads", .timeLimit(.minutes(5)))
struct WaitReasonTests {
    private let gate = TestGate()
    private let log = ReportLog()

    /// Returns a server that delays its responses until the gate opens.
    private func makeServer() throws -> LoopbackServer {
        try LoopbackServer { [gate] _ in .ok(Data("x".utf8)).with { $0.headGate = gate } }
    }

    private func load(_ downloader: ImageDownloader, _ url: URL, _ log: ReportLog? = nil) -> Task<Int, any Error> {
        let context = log?.context() ?? LoadContext()
        return Task { try await downloader.load(LoadRequest(url: url), context: context).body.count }
    }

    @Test("A load reports that all connections to its host are in use", arguments: [false, true])
    func hostLimit(hasInterceptor: Bool) async throws {
        let server = try makeServer()
        let downloader = makeDownloader {
            $0.maxConnectionsPerHost = 1
            if hasInterceptor { $0.bodyModifiers = [PlainInterceptor()] }
        }
        let first = ReportLog()
        let running = load(downloader, server.url("/a"), first)
        await server.waitForRequests(count: 1)
        let waiting = load(downloader, server.url("/b"), log)
        await log.waitForWait()
        #expect(log.waits == [.hostLimit] && log.started == 0)
        gate.open()
        #expect(try await running.value == 1)
        #expect(try await waiting.value == 1)
        #expect(first.waits.isEmpty && log.waits == [.hostLimit] && log.started == 1)
    }

    @Test("A load reports that all connections of the downloader are in use")
    func queue() async throws {
        let (server, other) = (try makeServer(), try makeServer())
        let downloader = makeDownloader { $0.maxConnections = 1 }
        let running = load(downloader, server.url("/a"))
        await server.waitForRequests(count: 1)
        let waiting = load(downloader, other.url("/b"), log)
        await log.waitForWait()
        #expect(log.waits == [.connectionLimit])
        gate.open()
        #expect(try await running.value == 1)
        #expect(try await waiting.value == 1)
    }

    @Test("A load reports that the start rate delays it")
    func rate() async throws {
        let server = try makeServer()
        // The second start would be due after about 15 minutes.
        let downloader = makeDownloader {
            $0.maxStartsPerSecond = 0.001
            $0.startBurst = 1
        }
        gate.open()
        #expect(try await load(downloader, server.url("/a")).value == 1)
        let waiting = load(downloader, server.url("/b"), log)
        await log.waitForWait()
        #expect(log.waits == [.rateLimit])
        waiting.cancel()
        await #expect(throws: ImageError.cancelled) { try await waiting.value }
    }

    @Test("A load of a suspended downloader waits in the queue")
    func suspended() async throws {
        let server = try makeServer()
        let downloader = makeDownloader()
        downloader.isSuspended = true
        let waiting = load(downloader, server.url("/a"), log)
        await log.waitForWait()
        #expect(log.waits == [.connectionLimit] && downloader.isSuspended)
        #expect(downloader.queuedCount == 1 && downloader.runningCount == 0)
        gate.open()
        downloader.isSuspended = false
        #expect(!downloader.isSuspended)
        #expect(try await waiting.value == 1)
    }

    @Test("A request that joins a waiting load receives the reason")
    func joining() async throws {
        let server = try makeServer()
        let downloader = makeDownloader {
            $0.maxConnectionsPerHost = 1
            $0.sharesTransfers = true
        }
        let running = load(downloader, server.url("/a"))
        await server.waitForRequests(count: 1)
        let waiting = load(downloader, server.url("/b"), log)
        await log.waitForWait()
        let late = ReportLog()
        let joined = load(downloader, server.url("/b"), late)
        await late.waitForWait()
        #expect(log.waits == [.hostLimit] && late.waits == [.hostLimit])
        gate.open()
        for task in [running, waiting, joined] { #expect(try await task.value == 1) }
        #expect(server.counters.requests == 2)
    }

    @Test("A load that has started reports no wait for a redirect or another attempt")
    func begun() {
        let session = LoadSession(log.context())
        for event in [TransferEvent.waiting(.rateLimit), .started, .waiting(.connectionLimit), .started] {
            session.report(event)
        }
        #expect(log.waits == [.rateLimit] && log.started == 1)
    }

    @Test("The queue reports which limit delays a transfer")
    func admission() {
        var queue = TransferQueue(perOrigin: 1, perMultiplexedOrigin: 2, total: 2)
        for (id, origin) in ["a", "a", "b", "c"].enumerated() {
            queue.enqueue(UInt64(id), origin: origin, priority: .normal)
        }
        #expect(queue.waitReason(of: 0) == nil && queue.waitReason(of: 1) == nil && queue.waitReason(of: 3) == nil)
        let started = [queue.next(), queue.next(), queue.next()]
        #expect(started == [0, 2, nil])
        #expect(queue.waitReason(of: 1) == .hostLimit && queue.waitReason(of: 3) == .connectionLimit)
        #expect(queue.waitReason(of: 0) == nil)
        // Over HTTP/2, the next transfer doesn't need its own connection.
        queue.setMultiplexed("a")
        #expect(queue.waitReason(of: 1) == nil)
        let rider = queue.next()
        #expect(rider == 1)
        queue.enqueue(4, origin: "a", priority: .normal)
        #expect(queue.waitReason(of: 4) == .hostLimit)
    }
}
