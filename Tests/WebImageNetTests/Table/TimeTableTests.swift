// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

@Suite("Rows 24 and 25: Silence and slow data", .timeLimit(.minutes(5)))
struct TimeTableTests {
    let body = patternBytes(10_000)
    let short = LoadTimeouts(connect: 5, idle: 0.3, total: 30)

    @Test("Row 24: If the server doesn't accept, the connect timeout of the request applies")
    func connecting() async throws {
        let silent = try ListeningSocket(isFull: true)
        let url = try #require(URL(string: "http://127.0.0.1:\(silent.port)/a"))
        let error = try #require(
            await makeDownloader().failure(url) { $0.timeouts = LoadTimeouts(connect: 0.3, idle: 20, total: 30) }?
                .network)
        #expect(error.reason == .timedOut && error.code == 2004 && error.phase == .connecting, "\(error)")
    }

    @Test("Row 24: A TLS handshake without a response ends with the connect timeout")
    func handshake() async throws {
        let listening = try ListeningSocket()
        let url = try #require(URL(string: "https://127.0.0.1:\(listening.port)/a"))
        let error = try #require(
            await makeDownloader().failure(url) { $0.timeouts = LoadTimeouts(connect: 0.3, idle: 20, total: 30) }?
                .network)
        #expect(error.reason == .timedOut && error.phase == .connecting, "\(error)")
    }

    @Test("Row 24: Silence before or during the head or the body ends with the idle timeout")
    func silence() async throws {
        let partOfHead = LoopbackServer.Response.raw(Data("HTTP/1.1 200 OK\r\nContent-".utf8), ending: .stall)
        let interim = LoopbackServer.Response.raw(Data("HTTP/1.1 103 Early\r\n\r\n".utf8), ending: .stall)
        let cases: [(LoopbackServer.Response, ImageError.NetworkFailure.Phase)] = [
            (.silent, .waitingForResponse), (partOfHead, .waitingForResponse), (interim, .waitingForResponse),
            (.ok(body).with { $0.stallsBodyAfter = 0 }, .receivingBody),
            (.ok(body).with { $0.stallsBodyAfter = 5_000 }, .receivingBody),
            (
                .ok(body).with {
                    $0.framing = .chunked
                    $0.stallsBodyAfter = 9_000
                }, .receivingBody
            ),
        ]
        for (response, phase) in cases {
            let outcome = try await outcome(response) { $0.timeouts = short }
            #expect(outcome.reason == .timedOut && outcome.network?.phase == phase, "\(phase): \(outcome.result)")
            #expect(outcome.requests == 1)
        }
    }

    @Test("Row 24: The downloader's timeouts apply unless a request has its own")
    func perRequest() async throws {
        let gate = TestGate()
        let server = try LoopbackServer(routes: ["/silent": .silent, "/a": .ok(body).with { $0.headGate = gate }])
        let downloader = makeDownloader { $0.timeouts = LoadTimeouts(connect: 5, idle: 0.3, total: 30) }
        let url = server.url("/a")
        let patient = Task {
            try await downloader.load(url) { $0.timeouts = LoadTimeouts(connect: 5, idle: 60, total: 60) }
        }
        #expect(await downloader.failure(server.url("/silent"))?.network?.reason == .timedOut)
        gate.open()
        #expect(try await patient.value.body == body)
    }

    @Test("Row 25: Slow data is reported as it arrives")
    func trickle() async throws {
        // The server sends each chunk after the previous one was reported.
        let gates = (0..<40).map { _ in TestGate() }
        let server = try LoopbackServer { _ in
            .ok(patternBytes(2_000)).with {
                $0.chunkSize = 50
                $0.chunkGates = gates
            }
        }
        let log = ReportLog()
        let context = LoadContext { report in
            log.receive(report)
            if log.body.count / 50 < gates.count { gates[log.body.count / 50].open() }
        }
        let response = try await makeDownloader().load(LoadRequest(url: server.url("/a")), context: context)
        #expect(response.body == patternBytes(2_000) && log.parts == 40)
    }

    @Test("Row 25: An endless slow body ends with the total timeout")
    func endlessTrickle() async throws {
        for framing in [LoopbackServer.Response.Framing.chunked, .connectionClose] {
            let slow = LoopbackServer.Response.ok(body).with {
                $0.framing = framing
                $0.isEndless = true
                $0.bytesPerSecond = 1_000
            }
            let outcome = try await outcome(slow) { $0.timeouts = LoadTimeouts(connect: 5, idle: 5, total: 0.4) }
            #expect(outcome.reason == .timedOut && outcome.network?.phase == .total, "\(outcome.result)")
            #expect(outcome.requests == 1)
        }
    }
}
