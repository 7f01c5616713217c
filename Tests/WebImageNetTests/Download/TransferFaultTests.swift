// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

@Suite("Transfers: scenarios of other libraries", .timeLimit(.minutes(5)))
struct TransferFaultTests {
    @Test(
        "K-02: A load that is canceled between its start and its place in the queue sends no request and leaves no place"
    )
    func earlyCancellation() async throws {
        let server = try LoopbackServer { _ in .ok(Data("body".utf8)) }
        let downloader = makeDownloader { $0.maxConnectionsPerHost = 1 }
        downloader.isSuspended = true
        let url = server.url("/a")
        for round in 0..<400 {
            let task = Task { await downloader.failure(url) }
            for _ in 0..<round % 20 { await Task.yield() }
            task.cancel()
            #expect(await task.value == .cancelled)
        }
        await untilTrue { downloader.queuedCount == 0 && downloader.runningLoads.isEmpty }
        downloader.isSuspended = false
        #expect(try await downloader.load(url).body == Data("body".utf8))
        #expect(server.counters.requests == 1)
    }

    @Test("F-02: A priority that is raised between two attempts applies to the next attempt")
    func priorityBetweenAttempts() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { request in
            if request.path == "/retried", request.index == 0 { return .status(503) }
            return LoopbackServer.Response.ok(Data("body".utf8)).with {
                if request.path == "/running" { $0.headGate = gate }
            }
        }
        let clock = TestClock()
        let downloader = makeDownloader {
            $0.maxConnectionsPerHost = 1
            $0.retryClock = clock
            $0.retry = RetryPolicy(baseDelay: .seconds(1))
            $0.retry.random = { $0.upperBound }
        }
        let urls = ["/retried", "/running", "/normal"].map { server.url($0) }
        let context = LoadContext(priority: .low)
        let retried = Task { try await downloader.load(LoadRequest(url: urls[0]), context: context) }
        await clock.waitForSleepers(count: 1)
        var others: [Task<LoadResponse, any Error>] = []
        for (index, url) in urls.dropFirst().enumerated() {
            others.append(
                Task { try await downloader.load(LoadRequest(url: url), context: LoadContext(priority: .normal)) })
            if index == 0 { await server.waitForRequests(count: 2) }
        }
        await untilTrue { downloader.queuedCount == 1 }
        context.priority = .veryHigh
        clock.advance(by: .seconds(1))
        await untilTrue { downloader.queuedCount == 2 }
        gate.open()
        _ = try await retried.value
        for other in others { _ = try await other.value }
        #expect(server.requests.map(\.path) == ["/retried", "/running", "/retried", "/normal"])
    }

    /// An interceptor that holds the requests for a path at a gate.
    private struct Holding: DownloadInterceptor {
        let gate: TestGate
        let isHeld = TestGate()
        func intercept(_ request: LoadRequest, next: Next) async throws(ImageError) -> LoadResponse {
            if request.url.path == "/held" {
                isHeld.open()
                await gate.wait()
            }
            return try await next(request)
        }
    }

    @Test("N-09: A priority that is raised while a load is passed to the queue applies to its place in the queue")
    func priorityAtTheQueue() async throws {
        let (hold, gate) = (Holding(gate: TestGate()), TestGate())
        let server = try LoopbackServer { request in
            LoopbackServer.Response.ok(Data("body".utf8)).with { if request.path == "/running" { $0.headGate = gate } }
        }
        let downloader = makeDownloader {
            $0.maxConnectionsPerHost = 1
            $0.interceptors = [hold]
        }
        let urls = ["/running", "/normal", "/held"].map { server.url($0) }
        let context = LoadContext(priority: .veryLow)
        let held = Task { try await downloader.load(LoadRequest(url: urls[2]), context: context) }
        await hold.isHeld.wait()
        let running = Task { try await downloader.load(urls[0]) }
        await server.waitForRequests(count: 1)
        let normal = Task { try await downloader.load(urls[1]) }
        await untilTrue { downloader.queuedCount == 1 }
        // The change and the insertion into the queue happen at the same time.
        let changed = TestGate()
        Thread {
            context.priority = .veryHigh
            changed.open()
        }.start()
        hold.gate.open()
        await changed.wait()
        await untilTrue { downloader.queuedCount == 2 }
        gate.open()
        for task in [held, running, normal] { _ = try await task.value }
        #expect(server.requests.map(\.path) == ["/running", "/held", "/normal"])
    }

    @Test("N-15: Resume data remains if the next load ends before the response head", arguments: [false, true])
    func keptPart(cancels: Bool) async throws {
        let body = patternBytes(100_000)
        let server = try LoopbackServer { request in
            var response = LoopbackServer.Response(
                headers: HTTPHeaderFields([.init(name: "ETag", value: "\"v1\"")]), body: body)
            if request.index == 0 { return response.with { $0.truncatesBodyAfter = 40_000 } }
            if request.index == 1 {
                return cancels ? .silent : response.with { $0.truncatesHeadAfter = 5 }
            }
            guard let start = request.headers["Range"].flatMap({ Int($0.dropFirst(6).dropLast()) }) else {
                return response
            }
            response.statusCode = 206
            response.body = Data(body.dropFirst(start))
            response.headers["Content-Range"] = "bytes \(start)-\(body.count - 1)/\(body.count)"
            return response
        }
        let downloader = makeDownloader()
        let url = server.url("/a")
        #expect(await downloader.failure(url) != nil)
        let second = Task { await downloader.failure(url) }
        await server.waitForRequests(count: 2)
        if cancels { second.cancel() }
        #expect(await second.value != nil)
        let response = try await downloader.load(url)
        #expect(response.body == body && response.metrics.resumedByteCount == 40_000)
        #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=40000-", "bytes=40000-"])
    }

    @Test("G-13: URLs with unusual characters reach the server unchanged, directly and through redirects")
    func unusualURLs() async throws {
        let targets = [
            "/a;b=1/c$d", "/a%2Fb", "/a%20b", "/%C3%BC", "/a+b?q=%26&r=a+b", "/a,b:c@d", "/a//b", "/a?x=1;y=$2",
            "/(a)'*!",
            "/a%3Fb", "/%25",
        ]
        let server = try LoopbackServer { request in
            guard request.path == "/redirect", let query = request.query, let index = Int(query) else {
                return .ok(Data(request.target.utf8))
            }
            return .redirect(to: targets[index])
        }
        let downloader = makeDownloader()
        for (index, target) in targets.enumerated() {
            let direct = try await downloader.load(
                try #require(URL(string: "http://127.0.0.1:\(server.port)\(target)")))
            #expect(String(decoding: direct.body, as: UTF8.self) == target)
            let redirect = try #require(URL(string: "http://127.0.0.1:\(server.port)/redirect?\(index)"))
            let redirected = try await downloader.load(redirect)
            #expect(String(decoding: redirected.body, as: UTF8.self) == target)
        }
        // Foundation encodes characters that a URL can't contain.
        for (text, target) in [("/a b", "/a%20b"), ("/ü", "/%C3%BC")] {
            let url = try #require(URL(string: "http://127.0.0.1:\(server.port)\(text)"))
            #expect(String(decoding: try await downloader.load(url).body, as: UTF8.self) == target)
        }
    }

    @Test(
        "N-25: Any start rate lets all loads start, and a sensible rate isn't exceeded",
        arguments: [0, -1, 1e-9, 1e300, .infinity, .nan, 50])
    func startRates(rate: Double) throws {
        let second: Int64 = 1_000_000_000
        var limiter = TokenBucket(perSecond: rate, burst: 2, now: 100 * second)
        var (now, starts) = (100 * second, 0)
        for step in 0..<1_000 where starts < 20 {
            if limiter.allowsStart(now: now) {
                limiter.recordStart()
                starts += 1
            } else {
                let next = try #require(limiter.nextStart)
                // The clock is set back once, and then advances to the announced time.
                now = step == 3 ? now - 50 * second : max(now, next)
            }
        }
        #expect(starts == 20)
        if rate == 50 { #expect(now - 100 * second >= second * 18 / 50 - 1) }
    }

    @Test("K-23: No part of a body changes after it was reported, while the body outgrows its buffer")
    func reportedParts() async throws {
        let body = patternBytes(3_000_000)
        let server = try LoopbackServer { _ in
            LoopbackServer.Response.ok(body).with {
                $0.chunkSize = 7_001
                $0.framing = .chunked
            }
        }
        let parts = Lock<[(part: Data, hash: Int)]>([])
        let context = LoadContext { report in
            guard case .body(let part) = report else { return }
            parts.withLock { $0.append((part, part.hashValue ^ Int(part.reduce(0) { $0 &* 31 &+ UInt64($1) } >> 8))) }
        }
        let response = try await makeDownloader().load(LoadRequest(url: server.url("/a")), context: context)
        let reported = parts.withLock { $0 }
        #expect(response.body == body && reported.count > 20)
        #expect(reported.reduce(into: Data()) { $0.append($1.part) } == body)
        #expect(
            reported.allSatisfy { part, hash in
                hash == part.hashValue ^ Int(part.reduce(0) { $0 &* 31 &+ UInt64($1) } >> 8)
            })
    }
}
