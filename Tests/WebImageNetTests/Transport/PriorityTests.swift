// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

@Suite("Priorities that servers receive", .timeLimit(.minutes(5)))
struct PriorityTests {
    private func load(_ url: URL, _ context: LoadContext, with downloader: ImageDownloader) -> Task<Data?, Never> {
        Task { try? await downloader.load(LoadRequest(url: url), context: context).body }
    }

    @Test("The header field contains the urgency of RFC 9218, except for the default")
    func field() async throws {
        let server = try LoopbackServer { _ in .ok(Data("x".utf8)) }
        let downloader = makeDownloader()
        for priority in RequestPriority.allCases {
            _ = await load(server.url("/\(priority)"), LoadContext(priority: priority), with: downloader).value
        }
        #expect(server.requests.map(\.path) == ["/veryLow", "/low", "/normal", "/high", "/veryHigh"])
        #expect(server.requests.map { $0.headers["Priority"] } == ["u=7", "u=5", nil, "u=2", "u=1"])
    }

    @Test("A header field of the request replaces the priority")
    func ownField() async throws {
        let server = try LoopbackServer { _ in .ok(Data("x".utf8)) }
        var configuration = HTTPHeaderFields()
        configuration.append(name: "priority", value: "u=4, i")
        let downloader = makeDownloader { $0.headers = configuration }
        _ = await load(server.url("/a"), LoadContext(priority: .veryLow), with: downloader).value
        #expect(server.requests.map { $0.headers.values(for: "Priority") } == [["u=4, i"]])
    }

    @Test("A load that waits is sent with its latest priority")
    func changeInQueue() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { request in
            .ok(Data("x".utf8)).with { if request.index == 0 { $0.headGate = gate } }
        }
        let downloader = makeDownloader { $0.maxConnectionsPerHost = 1 }
        let first = load(server.url("/first"), LoadContext(), with: downloader)
        await server.waitForRequests(count: 1)
        let context = LoadContext(priority: .veryLow)
        let second = load(server.url("/second"), context, with: downloader)
        await untilTrue { downloader.activity(at: server.url("/")).queued == 1 && context.isFollowed }
        context.priority = .high
        gate.open()
        _ = await (first.value, second.value)
        #expect(server.requests.map { $0.headers["Priority"] } == [nil, "u=2"])
    }

    @Test("A server learns a change of the priority of a running HTTP/2 stream")
    func changeOfStream() async throws {
        let directory = try TemporaryDirectory()
        let certificates = try TestCertificates(in: URL(filePath: directory.path))
        let gate = TestGate()
        let part = Data(repeating: 7, count: 2_000)
        let server = try HTTP2Server(certificates) { _ in
            [.head(), .data(part, ends: false), .wait(gate), .data(part)]
        }
        let downloader = makeDownloader { $0.tls = .authorities(server.authority) }
        let context = LoadContext(priority: .low) { _ in }
        let running = load(server.url("/a"), context, with: downloader)
        await untilTrue { server.requests.count == 1 }
        let stream = try #require(server.requests.first?.stream)
        context.priority = .veryHigh
        gate.open()
        #expect(await running.value == part + part)
        // libcurl sends the change with its next frames, so another request flushes it.
        _ = await load(server.url("/b"), LoadContext(), with: downloader).value
        #expect(server.weights[stream]?.last == 256)
    }
}
