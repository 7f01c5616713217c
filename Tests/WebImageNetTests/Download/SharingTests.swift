// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

@Suite("Downloads shared by equal requests", .timeLimit(.minutes(5)))
struct SharingTests {
    private let body = patternBytes(10_000)

    private func makeSharing(_ change: (inout ImageDownloader.Configuration) -> Void = { _ in }) -> ImageDownloader {
        makeDownloader {
            $0.sharesTransfers = true
            change(&$0)
        }
    }

    /// Returns the number of callers that wait for a shared load.
    private func waiters(_ downloader: ImageDownloader, _ request: LoadRequest) -> Int {
        downloader.jobs.subscriberCount(of: key(downloader, request))
    }

    /// Returns whether a queued transfer for a request follows the priority of its load.
    private func isFollowing(_ downloader: ImageDownloader, _ request: LoadRequest) -> Bool {
        downloader.jobs.priorityObserverCount(of: key(downloader, request)) == 1
    }

    private func key(_ downloader: ImageDownloader, _ request: LoadRequest) -> DownloadKey {
        let rules = ExchangeRules(downloader.configuration)
        return DownloadKey(exchange: ExchangeKey(request, rules: rules), source: request.url)
    }

    @Test("Equal requests share one download, and each can be canceled on its own")
    func sharing() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { [body] _ in .ok(body).with { $0.headGate = gate } }
        let downloader = makeSharing()
        let request = LoadRequest(url: server.url("/a"))
        let tasks = (0..<20).map { _ in Task { try await downloader.load(request, context: LoadContext()) } }
        await untilTrue { waiters(downloader, request) == 20 }
        await server.waitForRequests(count: 1)
        for task in tasks.dropLast() { task.cancel() }
        for task in tasks.dropLast() {
            await #expect(throws: ImageError.cancelled) { try await task.value }
        }
        gate.open()
        #expect(try await tasks.last?.value.body == body)
        #expect(server.counters.requests == 1)
        #expect(try await downloader.load(request, context: LoadContext()).body == body)
        #expect(server.counters.requests == 2)
    }

    @Test("When the last caller cancels, the transfer ends")
    func leaving() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { [body] _ in .ok(body).with { $0.headGate = gate } }
        let downloader = makeSharing()
        let request = LoadRequest(url: server.url("/a"))
        let tasks = (0..<2).map { _ in Task { try await downloader.load(request, context: LoadContext()) } }
        await untilTrue { waiters(downloader, request) == 2 }
        await server.waitForRequests(count: 1)
        for task in tasks { task.cancel() }
        await server.waitForClosedConnections(count: 1)
        #expect(downloader.jobs.count == 0)
    }

    @Test("Requests that send or accept something else don't share a download")
    func different() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(statusCode: 404, body: Data("x".utf8)).with { $0.headGate = gate }
        }
        let downloader = makeSharing()
        let plain = Task { await downloader.failure(server.url("/a")) }
        let accepting = Task {
            try await downloader.load(server.url("/a")) { $0.network.acceptableStatusCodes = [404] }
        }
        let keyed = Task { await downloader.failure(server.url("/a")) { $0.headers["X-Api-Key"] = "1" } }
        await server.waitForRequests(count: 3)
        gate.open()
        #expect(await plain.value?.network?.statusCode == 404)
        #expect(try await accepting.value.httpResponse?.statusCode == 404)
        #expect(await keyed.value?.network?.statusCode == 404)
    }

    @Test("After a shared failure, each request continues with its own alternatives")
    func alternatives() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { [body] request in
            request.path == "/a"
                ? LoopbackServer.Response(statusCode: 404, body: Data("x".utf8)).with { $0.headGate = gate } : .ok(body)
        }
        let downloader = makeSharing()
        let failing = Task { await downloader.failure(server.url("/a")) }
        let working = Task {
            try await downloader.load(server.url("/a")) { $0.network.alternativeURLs = [server.url("/b")] }
        }
        await untilTrue { waiters(downloader, LoadRequest(url: server.url("/a"))) == 2 }
        gate.open()
        #expect(await failing.value?.network?.statusCode == 404)
        #expect(try await working.value.body == body)
        #expect(server.requests.map(\.path) == ["/a", "/b"])
    }

    @Test("All callers receive reports, and late callers receive the body as one chunk")
    func reports() async throws {
        let (gate, open) = (TestGate(), TestGate())
        open.open()
        let server = try LoopbackServer { [body] _ in
            .ok(body).with { response in
                response.chunkSize = 5_000
                response.chunkGates = [open, gate]
            }
        }
        let downloader = makeSharing()
        let request = LoadRequest(url: server.url("/a"))
        let (early, late) = (ReportLog(), ReportLog())
        let first = Task { try await downloader.load(request, context: early.context()) }
        await early.waitForBody()
        let second = Task { try await downloader.load(request, context: late.context()) }
        await late.waitForHead()
        #expect(late.started == 1 && late.parts == 0)
        gate.open()
        #expect(try await first.value.body == body && early.body == body && early.started == 1)
        #expect(try await second.value.body == body && late.body == body && late.parts == 1)
        #expect(server.counters.requests == 1)
    }

    @Test("A caller that joins a transfer without reports receives its reports at the end")
    func lateReports() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { [body] _ in .ok(body).with { $0.headGate = gate } }
        let downloader = makeSharing()
        let request = LoadRequest(url: server.url("/a"))
        let log = ReportLog()
        let first = Task { try await downloader.load(request, context: LoadContext()) }
        await untilTrue { waiters(downloader, request) == 1 }
        let second = Task { try await downloader.load(request, context: log.context()) }
        await untilTrue { waiters(downloader, request) == 2 }
        gate.open()
        _ = try await (first.value, second.value)
        #expect(log.body == body && log.status == 200 && log.expected == body.count)
    }

    @Test("Joining a queued transfer or raising a caller's priority raises the priority of the transfer")
    func priorities() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { [body] request in
            request.path == "/first" ? .ok(body).with { $0.headGate = gate } : .ok(body)
        }
        let downloader = makeSharing { $0.maxConnectionsPerHost = 1 }
        func load(_ path: String, _ context: LoadContext) -> Task<LoadResponse, any Error> {
            Task { try await downloader.load(LoadRequest(url: server.url(path)), context: context) }
        }
        func isWaiting(_ path: String, _ count: Int) -> Bool {
            waiters(downloader, LoadRequest(url: server.url(path))) == count
        }
        let first = load("/first", LoadContext())
        await server.waitForRequests(count: 1)
        let low = load("/low", LoadContext(priority: .low))
        let changing = LoadContext(priority: .low)
        let changed = load("/changed", changing)
        let normal = load("/normal", LoadContext())
        await untilTrue { isWaiting("/low", 1) && isWaiting("/changed", 1) && isWaiting("/normal", 1) }
        // A load follows the priority of its caller after it has joined, and its transfer follows that of the load after it
        // was queued. Only then, a change reaches the queue before the setter returns.
        let queued = ["/low", "/changed"].map { LoadRequest(url: server.url($0)) }
        await untilTrue { downloader.queuedCount == 3 && queued.allSatisfy { isFollowing(downloader, $0) } }
        let joiner = LoadContext(priority: .veryHigh)
        let joining = load("/low", joiner)
        await untilTrue { joiner.livePriority.observerCount == 1 && changing.livePriority.observerCount == 1 }
        #expect(isWaiting("/low", 2))
        changing.priority = .high
        gate.open()
        for task in [first, low, changed, normal, joining] { _ = try await task.value }
        #expect(server.requests.map(\.path) == ["/first", "/low", "/changed", "/normal"])
    }
}
