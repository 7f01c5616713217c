// SPDX-License-Identifier: MIT

import CNetFaults
import Foundation
import Glibc
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

/// The tests use the resolver of CNetFaults, in which names under `.at.test` encode their addresses.
@Suite("Rows 48, 52, 53, and 58: Names and addresses", .serialized, .timeLimit(.minutes(5)))
struct AddressTableTests {
    let body = patternBytes(1_000)

    private func url(_ host: String, _ port: UInt16) throws -> URL {
        try #require(URL(string: "http://\(host):\(port)/a"))
    }

    @Test("Row 48: If the first address family refuses or never responds, the next is used", arguments: [false, true])
    func happyEyeballs(neverAnswers: Bool) async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(body)])
        // Either no socket listens at this port on ::1, or one that never accepts.
        let silent = neverAnswers ? try ListeningSocket(port: server.port, isIPv6: true, isFull: true) : nil
        let host = try url("--1.127-0-0-1.at.test", server.port)
        #expect(try await makeDownloader().load(host).body == body)
        #expect(server.counters.connections == 1 && server.requests.first?.headers["Host"] != nil)
        withExtendedLifetime(silent) {}
    }

    @Test("Row 48: An IPv6 address in the URL is supported")
    func literal() async throws {
        let silent = try ListeningSocket(isIPv6: true)
        let port = silent.port
        let task = Task { try await makeDownloader().load(try #require(URL(string: "http://[::1]:\(port)/a"))) }
        // The server accepted, so the connection is established.
        let socket = await onThread { silent.acceptOne() }
        #expect(socket >= 0)
        task.cancel()
        _ = await task.result
        close(socket)
    }

    @Test("Row 52: An unknown name throws an error and isn't cached")
    func unknownHost() async throws {
        let downloader = makeDownloader()
        let before = wi_names_begun()
        for _ in 0..<2 {
            let error = try #require(await downloader.failure(try url("nobody.stuck.test", 80))?.network)
            #expect(error.reason == .cannotFindHost && error.code == 2002 && error.phase == .nameResolution)
            #expect(error.curlCode == 6)
        }
        #expect(wi_names_begun() == before + 2)
    }

    @Test("Row 53: A port without a listener throws a connection error")
    func refused() async throws {
        // Another server could take the port of a stopped server.
        let port = try #require(LocalPorts.free(1).first)
        let error = try #require(await makeDownloader().failure(try url("127.0.0.1", port))?.network)
        #expect(error.reason == .cannotConnect && error.code == 2003 && error.phase == .connecting)
        #expect(error.curlCode == 7)
    }

    @Test("Row 53: If the first address refuses, the next one is tried")
    func nextAddress() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(body)])
        let host = try url("127-0-0-2.127-0-0-3.127-0-0-1.at.test", server.port)
        #expect(try await makeDownloader().load(host).body == body)
        #expect(server.counters.connections == 1)
    }

    @Test("Row 53: If an address resets, the next one is tried, and without another one the load fails")
    func resetAtAccept() async throws {
        let body = body
        let once = try LoopbackServer(acceptance: { $0 == 0 ? .reset : .serve }) { _ in .ok(body) }
        let twice = try url("127-0-0-1.127-0-0-1.at.test", once.port)
        // If the reset affects the request instead of the connection attempt, the second attempt skips the address.
        let downloader = makeDownloader { $0.retry = RetryPolicy(maxAttempts: 2, baseDelay: .zero) }
        #expect(try await downloader.load(twice).body == body)
        #expect(once.counters.connections == 2 && once.counters.requests == 1)
        let always = try LoopbackServer(acceptance: { _ in .reset }) { _ in .ok(body) }
        let error = try #require(await makeDownloader().failure(always.url("/a"))?.network)
        // Depending on the timing, the reset affects the connection attempt or the request.
        #expect(error.reason == .connectionLost || error.reason == .cannotConnect, "\(error)")
        #expect(always.counters.connections <= 2 && always.counters.requests == 0)
    }

    @Test("Row 58: Cancellation during name resolution ends the load and doesn't block other loads")
    func cancelDuringResolution() async throws {
        wi_names_hold()
        defer { wi_names_release() }
        let server = try LoopbackServer(routes: ["/a": .ok(body)])
        let downloader = makeDownloader()
        let stuck = try url("a.stuck.test", 80)
        let before = wi_names_begun()
        let task = Task { try await downloader.load(stuck) }
        await untilTrue { wi_names_begun() > before }
        task.cancel()
        guard case .failure(let error as ImageError) = await task.result else {
            Issue.record("the load didn't fail")
            return
        }
        #expect(error == .cancelled)
        // The network thread continues even though the lookup hasn't returned.
        #expect(try await downloader.load(server.url("/a")).body == body)
        await untilTrue { downloader.activity == DownloaderActivity() }
        downloader.shutdown()
    }

    @Test("Row 24: A name that isn't resolved in time throws a timeout in the resolve phase")
    func slowResolution() async throws {
        wi_names_hold()
        defer { wi_names_release() }
        let error = try #require(
            await makeDownloader().failure(try url("b.stuck.test", 80)) {
                $0.timeouts = LoadTimeouts(connect: 0.3, idle: 5, total: 5)
            }?.network)
        #expect(error.reason == .timedOut && error.phase == .nameResolution, "\(error)")
    }
}

/// Runs a blocking closure on a dedicated thread.
private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread { continuation.resume(returning: body()) }.start()
    }
}
