// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

@Suite("Rows 19, 22, 23, 26, and 34: Connections that end early or send too much", .timeLimit(.minutes(5)))
struct ConnectionTableTests {
    let body = patternBytes(50_000)

    @Test("Row 19: Bytes after a response are discarded, and the connection isn't reused")
    func surplus() async throws {
        let body = body
        let stray = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"
        for excess in ["x", stray, String(repeating: "x", count: 100_000)] {
            let server = try LoopbackServer { _ in .ok(body).with { $0.surplus = Data(excess.utf8) } }
            let downloader = makeDownloader()
            for _ in 0..<4 { #expect(try await downloader.load(server.url("/a")).body == body) }
            #expect(server.counters.requests == 4 && server.counters.connections == 4)
        }
    }

    @Test("Row 19: Bytes after chunks and the body of a 304 response are discarded")
    func surplusBehindChunks() async throws {
        let body = body
        let server = try LoopbackServer { request in
            switch request.path {
            case "/chunked":
                .ok(body).with {
                    $0.framing = .chunked
                    $0.surplus = Data("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray".utf8)
                }
            case "/304": rawResponse(["HTTP/1.1 304 Not Modified", "ETag: \"1\""], "stray body", ending: .keepAlive)
            default: .ok(body)
            }
        }
        let downloader = makeDownloader { $0.maxConnectionsPerHost = 1 }
        for _ in 0..<3 {
            #expect(try await downloader.load(server.url("/chunked")).body == body)
            let response = try await downloader.load(server.url("/304")) { $0.acceptsNotModified = true }
            #expect(response.isNotModified && response.body.isEmpty)
            #expect(try await downloader.load(server.url("/a")).body == body)
        }
    }

    @Test(
        "Row 22: A new connection that ends before any byte is retried as often as the policy allows",
        arguments: [
            LoopbackServer.Response.Ending.close, .reset,
        ])
    func noAnswer(_ ending: LoopbackServer.Response.Ending) async throws {
        let body = body
        let twoAttempts = makeDownloader { $0.retry = RetryPolicy(maxAttempts: 2, baseDelay: .zero) }
        let retried = try await outcome(twoAttempts) { $0.index == 0 ? .raw(Data(), ending: ending) : .ok(body) }
        #expect(retried.body == body && retried.requests == 2 && retried.connections == 2)
        let lost = try await outcome(.raw(Data(), ending: ending))
        #expect(
            lost.reason == .connectionLost && lost.network?.phase == .waitingForResponse && lost.network?.code == 2005)
        #expect(lost.requests == 1 && lost.connections == 1)
    }

    @Test(
        "Row 23: A connection that ends during the body throws and returns no partial body",
        arguments: [
            LoopbackServer.Response.Ending.close, .reset,
        ], [LoopbackServer.Response.Framing.contentLength, .chunked])
    func lostBody(_ ending: LoopbackServer.Response.Ending, framing: LoopbackServer.Response.Framing) async throws {
        let outcome = try await outcome(
            .ok(body).with {
                $0.framing = framing
                $0.truncatesBodyAfter = 20_000
                $0.ending = ending
            })
        #expect(outcome.reason == .connectionLost && outcome.network?.phase == .receivingBody && outcome.requests == 1)
        #expect(outcome.network?.curlCode == 18 || outcome.network?.curlCode == 56)
    }

    @Test("Row 23: A reset throws even if the body has no declared length")
    func resetWithoutLength() async throws {
        let outcome = try await outcome(
            .ok(body).with {
                $0.framing = .connectionClose
                $0.truncatesBodyAfter = 20_000
                $0.ending = .reset
            })
        #expect(outcome.reason == .connectionLost && outcome.network?.phase == .receivingBody, "\(outcome.result)")
    }

    @Test(
        "Row 26: An idle connection that fails during the next request is replaced transparently",
        arguments: [
            LoopbackServer.Response.Ending.close, .reset,
        ])
    func diesInUse(_ ending: LoopbackServer.Response.Ending) async throws {
        let body = body
        // Every connection serves one request and ends during the second.
        let seen = Shared<Set<Int>>([])
        let server = try LoopbackServer { request in
            let isFirst = seen.update { $0.insert(request.connection).inserted }
            return isFirst ? .ok(body) : .raw(Data(), ending: ending)
        }
        let downloader = makeDownloader()
        for _ in 0..<5 { #expect(try await downloader.load(server.url("/a")).body == body) }
        #expect(server.counters.connections == 5 && server.counters.requests == 9)
    }

    @Test(
        "Row 34: A failed TLS handshake throws a secure connection error and isn't retried",
        arguments: [
            ("", false), ("", true), ("\u{16}\u{3}\u{3}\u{0}\u{7a}\u{2}\u{0}", false),
            ("\u{15}\u{3}\u{3}\u{0}\u{2}\u{2}\u{28}", false),
            ("\u{15}\u{3}\u{3}\u{0}\u{2}\u{2}\u{46}", true), ("HTTP/1.1 400 Bad Request\r\n\r\n", false),
        ])
    func brokenHandshake(_ words: String, isReset: Bool) async throws {
        let listening = try ListeningSocket()
        let accepted = Shared(0)
        let thread = Thread {
            while true {
                let socket = listening.acceptOne()
                guard socket >= 0 else { return }
                accepted.update { $0 += 1 }
                var hello = [UInt8](repeating: 0, count: 4_096)
                _ = recv(socket, &hello, isReset ? 1 : hello.count, 0)
                let bytes = Array(words.utf8)
                _ = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                close(socket)
            }
        }
        thread.start()
        defer { listening.stop() }
        let url = try #require(URL(string: "https://127.0.0.1:\(listening.port)/a"))
        let error = try #require(await makeDownloader { $0.retry = .standard }.failure(url)?.network)
        #expect(error.reason == .secureConnectionFailed && error.code == 2010, "\(error)")
        #expect(error.phase == .connecting && error.curlCode == 35 && error.attempt == 1)
        #expect(accepted.value == 1)
    }
}
