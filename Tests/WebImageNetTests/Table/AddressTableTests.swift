// SPDX-License-Identifier: MIT

import CNetFaults
import Foundation
import Glibc
import Testing
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageTestSupport
import WebImageTesting

/// The resolver of the process is the one of CNetFaults: names under `.at.test` have the addresses they tell.
@Suite("Rows 48, 52, 53 and 58: names and addresses", .serialized, .timeLimit(.minutes(5)))
struct AddressTableTests {
    let body = patternBytes(1_000)

    private func url(_ host: String, _ port: UInt16) throws -> URL {
        try #require(URL(string: "http://\(host):\(port)/a"))
    }

    @Test("row 48: a first family that refuses, or never answers, is passed over", arguments: [false, true])
    func happyEyeballs(neverAnswers: Bool) async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(body)])
        // On ::1 nobody listens at that port, or somebody who never accepts.
        let silent = neverAnswers ? try ListeningSocket(port: server.port, isIPv6: true, isFull: true) : nil
        let host = try url("--1.127-0-0-1.at.test", server.port)
        #expect(try await makeDownloader().load(host).body == body)
        #expect(server.counters.connections == 1 && server.requests.first?.fields["Host"] != nil)
        withExtendedLifetime(silent) {}
    }

    @Test("row 48: an address of IPv6 in the URL is understood")
    func literal() async throws {
        let silent = try ListeningSocket(isIPv6: true)
        let port = silent.port
        let task = Task { try await makeDownloader().load(try #require(URL(string: "http://[::1]:\(port)/a"))) }
        // Accepted: the connection stands.
        let socket = await onThread { silent.acceptOne() }
        #expect(socket >= 0)
        task.cancel()
        _ = await task.result
        close(socket)
    }

    @Test("row 52: a name that there is not cannot be found, and is looked up anew when asked again")
    func unknownHost() async throws {
        let downloader = makeDownloader()
        let before = wi_names_begun()
        for _ in 0..<2 {
            let error = try #require(await downloader.failure(try url("nobody.stuck.test", 80))?.network)
            #expect(error.reason == .cannotFindHost && error.code == 2002 && error.phase == .resolve)
            #expect(error.underlying == 6)
        }
        #expect(wi_names_begun() == before + 2)
    }

    @Test("row 53: nobody listens: no connection, at once and not tried again on another connection")
    func refused() async throws {
        let server = try LoopbackServer(routes: [:])
        let url = server.url("/a")
        server.stop()
        let error = try #require(await makeDownloader().failure(url)?.network)
        #expect(error.reason == .cannotConnect && error.code == 2003 && error.phase == .connect)
        #expect(error.underlying == 7)
    }

    @Test("row 53: the next address is tried where the first refuses")
    func nextAddress() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(body)])
        let host = try url("127-0-0-2.127-0-0-3.127-0-0-1.at.test", server.port)
        #expect(try await makeDownloader().load(host).body == body)
        #expect(server.counters.connections == 1)
    }

    @Test("row 53: an address that resets when it accepts is passed over; where there is no other it is an error")
    func resetAtAccept() async throws {
        let body = body
        let once = try LoopbackServer(acceptance: { $0 == 0 ? .reset : .serve }) { _ in .ok(body) }
        let twice = try url("127-0-0-1.127-0-0-1.at.test", once.port)
        // Where the reset meets the request and not the connecting, the second attempt passes the address over.
        let downloader = makeDownloader { $0.retry = RetryPolicy(attempts: 2, baseDelay: 0) }
        #expect(try await downloader.load(twice).body == body)
        #expect(once.counters.connections == 2 && once.counters.requests == 1)
        let always = try LoopbackServer(acceptance: { _ in .reset }) { _ in .ok(body) }
        let error = try #require(await makeDownloader().failure(always.url("/a"))?.network)
        // It depends on the moment whether the reset meets the connecting or the request.
        #expect(error.reason == .connectionLost || error.reason == .cannotConnect, "\(error)")
        #expect(always.counters.connections <= 2 && always.counters.requests == 0)
    }

    @Test("row 58: cancelling during name resolution ends the load, and holds up no other, while the resolver hangs")
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
            Issue.record("the load did not fail")
            return
        }
        #expect(error.isCancelled)
        // The network thread goes on although the lookup has not returned.
        #expect(try await downloader.load(server.url("/a")).body == body)
        await untilTrue { downloader.activity == DownloaderActivity() }
        downloader.close()
    }

    @Test("row 24: a name that is not resolved in time is a timeout that tells so")
    func slowResolution() async throws {
        wi_names_hold()
        defer { wi_names_release() }
        let error = try #require(
            await makeDownloader().failure(try url("b.stuck.test", 80)) {
                $0.timeouts = LoadTimeouts(connect: 0.3, idle: 5, total: 5)
            }?.network)
        #expect(error.reason == .timedOut && error.phase == .resolve, "\(error)")
    }
}

/// Runs what blocks on a thread of its own.
private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread { continuation.resume(returning: body()) }.start()
    }
}
