// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

@Suite("Settings of a running downloader", .timeLimit(.minutes(5)))
struct ChangedLimitsTests {
    private func load(_ downloader: ImageDownloader, _ url: URL) -> Task<Int, any Error> {
        Task { try await downloader.load(LoadRequest(url: url)).body.count }
    }

    @Test("In a queue, higher limits start waiting transfers, and lower limits let running transfers finish")
    func queue() {
        var queue = TransferQueue(perOrigin: 1, perMultiplexedOrigin: 9, total: 3)
        for id in 1...6 { queue.enqueue(UInt64(id), origin: "a", priority: .normal) }
        for id in 11...16 { queue.enqueue(UInt64(id), origin: "b", priority: .normal) }
        func starts() -> Int {
            var count = 0
            while queue.next() != nil { count += 1 }
            return count
        }
        #expect(starts() == 2)
        queue.setLimits(perOrigin: 2, total: 3)
        #expect(starts() == 1)
        queue.setLimits(perOrigin: 2, total: 4)
        #expect(starts() == 1)
        queue.setLimits(perOrigin: 1, total: 2)
        #expect(starts() == 0 && queue.running(at: "a") == 2 && queue.running(at: "b") == 2)
        #expect(queue.waitReason(of: 6) == .hostLimit)
        queue.release(origin: "a")
        queue.release(origin: "b")
        #expect(starts() == 0)
        queue.release(origin: "a")
        #expect(starts() == 1)
        // Values below 1 would never start a transfer.
        queue.setLimits(perOrigin: 0, total: -5)
        queue.release(origin: "a")
        queue.release(origin: "b")
        #expect(starts() == 1)
    }

    @Test("A higher limit starts waiting downloads immediately", arguments: [true, false])
    func raised(isPerHost: Bool) async throws {
        let gate = TestGate()
        let server = try LoopbackServer { _ in .ok(Data("x".utf8)).with { $0.headGate = gate } }
        let downloader = makeDownloader {
            if isPerHost { $0.maxConnectionsPerHost = 1 } else { $0.maxConnections = 1 }
        }
        let loads = (0..<5).map { load(downloader, server.url("/\($0)")) }
        await server.waitForRequests(count: 1)
        await untilTrue { downloader.queuedCount == 4 }
        if isPerHost { downloader.maxConnectionsPerHost = 4 } else { downloader.maxConnections = 4 }
        await server.waitForRequests(count: 4)
        #expect(downloader.runningCount == 4 && downloader.queuedCount == 1)
        #expect((isPerHost ? downloader.maxConnectionsPerHost : downloader.maxConnections) == 4)
        gate.open()
        for load in loads { #expect(try await load.value == 1) }
    }

    @Test("With a lower limit, running downloads finish, and then no more than the limit run")
    func lowered() async throws {
        let gates = (0..<12).map { _ in TestGate() }
        let server = try LoopbackServer { request in
            let gate = Int(request.path.dropFirst()).map { gates[$0] }
            return .ok(Data("x".utf8)).with { $0.headGate = gate }
        }
        let downloader = makeDownloader { $0.maxConnectionsPerHost = 4 }
        let first = (0..<4).map { load(downloader, server.url("/\($0)")) }
        await server.waitForRequests(count: 4)
        downloader.maxConnectionsPerHost = 1
        let second = (4..<8).map { load(downloader, server.url("/\($0)")) }
        await untilTrue { downloader.queuedCount == 4 }
        for number in 0..<3 {
            gates[number].open()
            #expect(try await first[number].value == 1)
        }
        // The fourth download still uses the only slot.
        #expect(server.counters.requests == 4 && downloader.queuedCount == 4)
        gates[3].open()
        #expect(try await first[3].value == 1)
        for number in 4..<8 {
            await server.waitForRequests(count: number + 1)
            #expect(downloader.runningCount == 1)
            // The loads start in any order.
            let path = try #require(server.requests.last?.path)
            gates[try #require(Int(path.dropFirst()))].open()
        }
        for load in second { #expect(try await load.value == 1) }
        downloader.maxConnectionsPerHost = -3
        #expect(downloader.maxConnectionsPerHost == 1)
    }

    @Test("Changed header fields apply to loads that start afterward, and such loads don't share a transfer")
    func headers() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { request in
            .ok(Data((request.headers["X-Token"] ?? "none").utf8)).with { $0.headGate = gate }
        }
        let downloader = makeDownloader {
            $0.sharesTransfers = true
            $0.headers["X-Token"] = "old"
        }
        let request = LoadRequest(url: server.url("/a"))
        let old = Task { try await downloader.load(request).body }
        await server.waitForRequests(count: 1)
        downloader.headers["X-Token"] = "new"
        #expect(downloader.headers["X-Token"] == "new" && downloader.configuration.headers["X-Token"] == "old")
        let new = (0..<2).map { _ in Task { try await downloader.load(request).body } }
        await server.waitForRequests(count: 2)
        var own = request
        own.headers["X-Token"] = "mine"
        let mine = Task { [own] in try await downloader.load(own).body }
        await server.waitForRequests(count: 3)
        gate.open()
        #expect(try await old.value == Data("old".utf8))
        for load in new { #expect(try await load.value == Data("new".utf8)) }
        #expect(try await mine.value == Data("mine".utf8))
        downloader.headers = HTTPHeaderFields()
        #expect(try await downloader.load(request).body == Data("none".utf8))
    }

    @Test("Rules with other header fields differ, and equal header fields keep the rules")
    func rules() {
        var configuration = ImageDownloader.Configuration()
        configuration.redirectHandler = { _ in .follow }
        configuration.headers["A"] = "1"
        let rules = ExchangeRules(configuration)
        let headers = HTTPHeaderFields([.init(name: "A", value: "2")])
        let changed = rules.replacing(headers: headers)
        #expect(changed != rules && changed.sent(HTTPHeaderFields())["A"] == "2")
        // The identity of the redirect handler remains, so that changing back gives equal rules.
        #expect(changed.replacing(headers: configuration.headers) == rules)
        #expect(rules.replacing(headers: configuration.headers) === rules)
        let request = LoadRequest(url: URL(filePath: "/a"))
        #expect(ExchangeKey(request, rules: rules) != ExchangeKey(request, rules: changed))
    }
}
