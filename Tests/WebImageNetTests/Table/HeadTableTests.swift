// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet

@Suite("Rows 18, 21, 40, and 41: Response heads", .timeLimit(.minutes(5)))
struct HeadTableTests {
    let body = Data("abc".utf8)

    @Test("Row 18: A head that is truncated at any byte throws")
    func cutHead() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 3\r\n\r\n"
        let downloader = makeDownloader()
        for count in 1..<head.utf8.count {
            let outcome = try await outcome(.raw(Data(head.utf8.prefix(count))), downloader)
            #expect(outcome.reason == .connectionLost, "\(count): \(outcome.result)")
            #expect(
                outcome.network?.phase == .waitingForResponse && outcome.requests <= 2, "\(count): \(outcome.requests)")
        }
    }

    @Test(
        "Row 21: Data that isn't valid HTTP throws a bad server response and isn't retried",
        arguments: [
            "hello\r\n\r\n", "<html></html>", "SSH-2.0-OpenSSH_9.2\r\n", "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}",
            "HTTP/1.1 abc OK\r\n\r\n", "HTTP/1.1 2 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n",
            "HTTP/9.1 200 OK\r\n\r\n", "HTTP/1.1 099 Low\r\nContent-Length: 3\r\n\r\nabc", "ICY 200 OK\r\n\r\nabc",
            "HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 3\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nX-A: a\u{0}b\r\nContent-Length: 3\r\n\r\nabc",
        ])
    func noHTTP(_ text: String) async throws {
        let outcome = try await outcome(.raw(Data(text.utf8)))
        #expect(outcome.reason == .badServerResponse && outcome.network?.code == 2006, "\(outcome.result)")
        #expect(outcome.requests == 1)
    }

    @Test("Row 21: Folded lines, bare CR characters, raw bytes, and invalid names are handled")
    func oddFields() async throws {
        var bytes = Data("HTTP/1.1 200\r\nX-Fold: a\r\n  b\r\n: nameless\r\nX A: blank\r\nX-Raw: ".utf8)
        bytes.append(contentsOf: [0xff, 0xe9])
        bytes.append(contentsOf: Data("\r\nX-CR: a\rb\r\nContent-Length:3\r\n\r\nabc".utf8))
        let response = try await outcome(.raw(bytes)).result.get()
        #expect(response.body == body)
        let fields = try #require(response.httpResponse).headers
        #expect(fields["X-Fold"] == "a b" && fields["X-Raw"] == "\u{ff}\u{e9}")
        #expect(fields.lines.allSatisfy { !$0.name.isEmpty && !$0.name.contains(" ") })
        #expect(fields["X-CR"]?.contains("\r") != true)
    }

    @Test(
        "Row 40: Huge heads throw a bad server response and aren't retried",
        arguments: [(1, 90_000), (1, 110_000), (1, 400_000), (40, 9_000), (5_000, 100)])
    func hugeHeads(lines: Int, length: Int) async throws {
        let line = "X-A: " + String(repeating: "a", count: length)
        let outcome = try await outcome(
            rawResponse(["HTTP/1.1 200 OK"] + Array(repeating: line, count: lines) + ["Content-Length: 3"], "abc"))
        #expect(
            outcome.reason == .badServerResponse && outcome.network?.phase == .waitingForResponse, "\(outcome.result)")
        #expect(outcome.requests == 1)
    }

    @Test("Row 40: A head of 1,000 lines is accepted, and a longer one throws, also if the lines are folded")
    func lines() async throws {
        let start = ["HTTP/1.1 200 OK", "Content-Length: 1"]
        let accepted = rawResponse(start + (2..<1_000).map { "X-\($0): 1" }, "a")
        #expect(try await outcome(accepted).body == Data("a".utf8))
        for line in ["X: 1", " folded"] {
            let rejected = rawResponse(start + Array(repeating: line, count: 999), "a")
            let outcome = try await outcome(rejected)
            #expect(outcome.reason == .badServerResponse && outcome.requests == 1, "\(outcome.result)")
        }
    }

    @Test("Row 40: An endless head throws")
    func endlessHead() async throws {
        let server = try LoopbackServer { _ in
            .ok(Data("X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n".utf8)).with {
                $0.isEndless = true
                $0.truncatesHeadAfter = nil
                $0.framing = .connectionClose
                $0.preamble = Data("HTTP/1.1 200 OK\r\n".utf8)
            }
        }
        // The second status line in the head doesn't reset the limit, which counts all bytes.
        let error = await makeDownloader().failure(server.url("/a")) { $0.maxByteCount = 1 << 20 }
        #expect(error != nil)
        await server.waitForClosedConnections(count: 1)
    }

    @Test("Row 41: Interim responses and their header fields are ignored", arguments: [100, 102, 103, 199])
    func interim(_ status: Int) async throws {
        let response = LoopbackServer.Response.ok(body, contentType: "image/png").with {
            $0.preamble = Data(
                "HTTP/1.1 \(status) Wait\r\nContent-Type: text/html\r\nX-Early: 1\r\nLink: <x>\r\n\r\n".utf8)
        }
        let server = try LoopbackServer { _ in response }
        let downloader = makeDownloader()
        for _ in 0..<2 {
            let loadResponse = try await downloader.load(server.url("/a"))
            #expect(loadResponse.body == body && loadResponse.httpResponse?.statusCode == 200)
            #expect(
                loadResponse.httpResponse?.headers["Content-Type"] == "image/png"
                    && loadResponse.httpResponse?.headers["X-Early"] == nil)
        }
        #expect(server.counters.connections == 1)
    }

    @Test("Row 41: A hundred interim responses are skipped, and endless ones throw")
    func manyInterim() async throws {
        let one = "HTTP/1.1 103 Early\r\nX: y\r\n\r\n"
        let hundred = LoopbackServer.Response.ok(body).with {
            $0.preamble = Data(String(repeating: one, count: 100).utf8)
        }
        #expect(try await outcome(hundred).body == body)
        let endless = LoopbackServer.Response.ok(body).with {
            $0.preamble = Data(String(repeating: one, count: 10_000).utf8)
        }
        let outcome = try await outcome(endless)
        #expect(outcome.reason == .badServerResponse && outcome.requests == 1, "\(outcome.result)")
    }

    @Test("Row 41: An unrequested 101 response throws immediately")
    func switching() async throws {
        let outcome = try await outcome(
            rawResponse(["HTTP/1.1 101 Switching", "Upgrade: websocket", "Connection: upgrade"], "x", ending: .stall))
        #expect(outcome.reason == .badServerResponse && outcome.requests == 1, "\(outcome.result)")
    }
}
