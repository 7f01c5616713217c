// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet

@Suite("Idle connections", .timeLimit(.minutes(5)))
struct IdleConnectionTests {
    let body = patternBytes(2_000)

    /// Runs `count` concurrent loads, which leave `count` open idle connections.
    private func warm(_ downloader: ImageDownloader, _ server: LoopbackServer, _ gate: TestGate, _ count: Int)
        async throws
    {
        let url = server.url("/gated")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { _ = try await downloader.load(url) } }
            await server.waitForRequests(count: count)
            gate.open()
            try await group.waitForAll()
        }
    }

    private func makeServer(_ gate: TestGate) throws -> LoopbackServer {
        try LoopbackServer(routes: ["/gated": .ok(body).with { $0.headGate = gate }, "/a": .ok(body)])
    }

    @Test("Row 26: Twelve idle connections that were closed don't affect the next load", arguments: [false, true])
    func dead(resetting: Bool) async throws {
        let gate = TestGate()
        let server = try makeServer(gate)
        let downloader = makeDownloader { $0.maxConnectionsPerHost = 12 }
        try await warm(downloader, server, gate, 12)
        #expect(server.counters.openConnections == 12)
        await server.closeIdleConnections(resetting: resetting)
        #expect(try await downloader.load(server.url("/a")).body == body)
        #expect(server.counters.requests == 13)
        #expect(server.counters.connections == 13)
    }

    @Test("Row 19: Stray bytes on idle connections are never used as a response")
    func poisoned() async throws {
        let gate = TestGate()
        let server = try makeServer(gate)
        let downloader = makeDownloader { $0.maxConnectionsPerHost = 3 }
        try await warm(downloader, server, gate, 3)
        let poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
        await server.writeToIdleConnections(Data(poison.utf8))
        for _ in 0..<6 { #expect(try await downloader.load(server.url("/a")).body == body) }
        #expect(server.counters.closedConnections == 3)
    }

    @Test("Row 19: Stray bytes on idle connections aren't used while another transfer of the origin runs")
    func poisonedBeside() async throws {
        let gate = TestGate()
        let pieces = TestGate()
        let big = patternBytes(400_000)
        let server = try LoopbackServer(routes: [
            "/gated": .ok(body).with { $0.headGate = gate }, "/a": .ok(body),
            "/big": .ok(big).with {
                $0.chunkSize = 200_000
                $0.chunkGates = [TestGate.opened, pieces]
            },
        ])
        let downloader = makeDownloader { $0.maxConnectionsPerHost = 4 }
        try await warm(downloader, server, gate, 4)
        let begun = TestGate()
        let url = server.url("/big")
        async let running = downloader.load(
            LoadRequest(url: url),
            context: LoadContext { report in if case .body = report { begun.open() } })
        await begun.wait()
        let poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
        await server.writeToIdleConnections(Data(poison.utf8))
        for _ in 0..<6 { #expect(try await downloader.load(server.url("/a")).body == body) }
        pieces.open()
        #expect(try await running.body == big)
        #expect(server.counters.closedConnections == 3)
    }

    @Test("Row 19: An active connection isn't mistaken for an idle one with stray bytes")
    func busy() async throws {
        let gate = TestGate()
        let pieces = TestGate()
        let big = patternBytes(400_000)
        let server = try LoopbackServer(routes: [
            "/gated": .ok(body).with { $0.headGate = gate }, "/a": .ok(body),
            "/big": .ok(big).with {
                $0.chunkSize = 200_000
                $0.chunkGates = [TestGate.opened, pieces]
            },
        ])
        let downloader = makeDownloader()
        try await warm(downloader, server, gate, 6)
        let url = server.url("/big")
        async let first = downloader.load(url)
        async let second = downloader.load(url)
        for _ in 0..<50 { #expect(try await downloader.load(server.url("/a")).body == body) }
        pieces.open()
        let bodies = try await [first.body, second.body]
        #expect(bodies == [big, big])
        #expect(server.counters.connections == 6)
    }
}

extension TestGate {
    fileprivate static var opened: TestGate {
        let gate = TestGate()
        gate.open()
        return gate
    }
}
