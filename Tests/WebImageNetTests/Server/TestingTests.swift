// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet

@Suite("Testing tools", .timeLimit(.minutes(5)))
struct TestingTests {
    @Test("An open gate releases all waiters in the order of their arrival")
    func gate() async {
        let gate = TestGate()
        let log = ReportLog()
        let context = log.context()
        gate.whenOpen { context.report(.body(Data([1]))) }
        gate.whenOpen { context.report(.body(Data([2]))) }
        #expect(!gate.isOpen && log.body.isEmpty)
        async let waiting: Void = gate.wait()
        gate.open()
        gate.open()
        await waiting
        gate.whenOpen { context.report(.body(Data([3]))) }
        #expect(log.body == Data([1, 2, 3]))
        await gate.wait()
        gate.blockingWait()
    }

    @Test("A canceled task doesn't wait at a gate")
    func cancelledGate() async {
        let gate = TestGate()
        func waiter() -> Task<Bool, Never> {
            Task {
                await gate.wait()
                return gate.isOpen
            }
        }
        let (canceled, other) = (waiter(), waiter())
        canceled.cancel()
        #expect(await !canceled.value)
        gate.open()
        #expect(await other.value)
    }

    @Test("A manual clock wakes sleepers at their deadlines, and canceled sleepers immediately")
    func clock() async throws {
        let clock = TestClock()
        // These sleeps are under test. They take no time, because the clock advances only on demand.
        let early = Task { try await clock.sleep(for: .seconds(1)) }
        let late = Task { try await clock.sleep(for: .seconds(3)) }
        let never = Task { try await clock.sleep(for: .seconds(9)) }
        await clock.waitForSleepers(count: 3)
        clock.advance(by: .seconds(2))
        try await early.value
        #expect(clock.sleeperCount == 2)
        clock.advance(by: .seconds(1))
        try await late.value
        #expect(clock.now.offset == .seconds(3))
        never.cancel()
        await #expect(throws: CancellationError.self) { try await never.value }
        #expect(clock.sleeperCount == 0)
        try await clock.sleep(until: .init(offset: .seconds(3)))
    }

    @Test("The server handles hundreds of concurrent connections and can be stopped twice")
    func manyConnections() async throws {
        let gate = TestGate()
        let server = try LoopbackServer(routes: ["/a": .ok(Data("x".utf8)).with { $0.headGate = gate }])
        let url = server.url("/a")
        let downloader = makeDownloader {
            $0.maxConnectionsPerHost = 300
            $0.maxConnections = 300
        }
        async let all: Void = withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<300 { group.addTask { _ = try await downloader.load(url) } }
            try await group.waitForAll()
        }
        await server.waitForRequests(count: 300)
        #expect(server.counters.openConnections == 300)
        gate.open()
        try await all
        server.stop()
        server.stop()
        await server.closeIdleConnections()
        #expect(server.counters.openConnections == 0)
    }

    @Test("Validators are compared as file servers compare them")
    func resource() async throws {
        let server = try LoopbackServer { request in
            .resource(
                Data("abc".utf8), contentType: "image/png", etag: "\"1\"",
                lastModified: "Thu, 01 Jan 1970 00:00:00 GMT", for: request)
        }
        let downloader = makeDownloader()
        for (name, value, status) in [
            ("If-None-Match", "\"1\"", 304), ("If-None-Match", "\"0\", W/\"1\"", 304), ("If-None-Match", "*", 304),
            ("If-None-Match", "\"2\"", 200), ("If-Modified-Since", "Thu, 01 Jan 1970 00:00:00 GMT", 304),
            ("If-Modified-Since", "Fri, 02 Jan 1970 00:00:00 GMT", 200),
        ] {
            let response = try await downloader.load(server.url("/")) {
                $0.headers.append(name: name, value: value)
                $0.acceptsNotModified = true
            }
            #expect(response.httpResponse?.statusCode == status, "\(name): \(value)")
        }
        #expect(server.connectionCount == server.counters.connections && server.connectionCount > 0)
        #expect(server.sentByteCount > 6 * 12)
    }
}
