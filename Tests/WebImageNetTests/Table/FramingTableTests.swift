// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet

@Suite("Rows 14–17 and 20: The end of a body", .timeLimit(.minutes(5)))
struct FramingTableTests {
    let body = patternBytes(300)

    @Test("Row 14: One-byte chunks, extensions, and trailers are accepted, and trailers change no field")
    func chunks() async throws {
        let response = LoopbackServer.Response.ok(body, contentType: "image/png").with {
            $0.framing = .chunked
            $0.chunkSize = 1
            $0.chunkExtension = ";name=\"a;b\";x"
            $0.trailers = HTTPHeaderFields([
                .init(name: "Content-Type", value: "text/html"), .init(name: "X-Sum", value: "1"),
            ])
        }
        let outcome = try await outcome(response)
        let loadResponse = try outcome.result.get()
        #expect(loadResponse.body == body && loadResponse.httpResponse?.headers["Content-Type"] == "image/png")
        #expect(loadResponse.httpResponse?.headers["X-Sum"] == nil && loadResponse.hasKnownLength)
    }

    @Test("Row 14: A connection is reused after chunks and trailers")
    func keptAfterChunks() async throws {
        let response = LoopbackServer.Response.ok(body).with {
            $0.framing = .chunked
            $0.trailers = HTTPHeaderFields([.init(name: "X-Sum", value: "1")])
        }
        let server = try LoopbackServer { _ in response }
        let downloader = makeDownloader()
        for _ in 0..<3 { #expect(try await downloader.load(server.url("/a")).body == body) }
        #expect(server.counters.connections == 1)
    }

    @Test("Row 15: A body that ends with the connection is accepted and marked", arguments: ["HTTP/1.0", "HTTP/1.1"])
    func untilClose(_ version: String) async throws {
        let outcome = try await outcome(
            .ok(body).with {
                $0.framing = .connectionClose
                $0.version = version
            })
        #expect(outcome.body == body && outcome.requests == 1)
        #expect(try outcome.result.get().hasKnownLength == false)
    }

    @Test("Row 15: An HTTP/1.0 response with a length is complete, and its connection isn't reused")
    func oldVersion() async throws {
        let body = body
        let server = try LoopbackServer { _ in
            .ok(body).with {
                $0.version = "HTTP/1.0"
                $0.ending = .close
            }
        }
        let downloader = makeDownloader()
        for _ in 0..<2 {
            let response = try await downloader.load(server.url("/a"))
            #expect(response.body == body && response.hasKnownLength)
        }
        #expect(server.counters.connections == 2)
    }

    @Test("Row 16: A body shorter than its declared length throws", arguments: [0, 1, 150, 299])
    func short(_ count: Int) async throws {
        for ending in [LoopbackServer.Response.Ending.close, .reset] {
            let outcome = try await outcome(
                .ok(body).with {
                    $0.truncatesBodyAfter = count
                    $0.ending = ending
                })
            #expect(outcome.reason == .connectionLost && outcome.network?.phase == .receivingBody)
            #expect(outcome.network?.code == 2005 && outcome.network?.statusCode == 200)
            #expect(outcome.requests == 1)
        }
    }

    @Test("Row 17, N-24: A chunked body that is truncated at any byte throws")
    func cutChunks() async throws {
        let response = LoopbackServer.Response.ok(Data("abcdef".utf8)).with {
            $0.framing = .chunked
            $0.chunkSize = 3
            $0.chunkExtension = ";x"
            $0.trailers = HTTPHeaderFields([.init(name: "X-Sum", value: "1")])
        }
        let whole = "3;x\r\nabc\r\n3;x\r\ndef\r\n0\r\nX-Sum: 1\r\n\r\n"
        let downloader = makeDownloader()
        // The last line feed adds no information.
        for count in 0..<(whole.utf8.count - 1) {
            let outcome = try await outcome(response.with { $0.truncatesBodyAfter = count }, downloader)
            #expect(outcome.reason == .connectionLost, "\(count): \(outcome.result)")
            #expect(outcome.network?.phase == .receivingBody && outcome.requests == 1, "\(count)")
        }
        #expect(try await outcome(response, downloader).body == Data("abcdef".utf8))
    }

    @Test(
        "Row 17: Invalid chunk sizes throw a bad server response and aren't retried",
        arguments: [
            "zz\r\nabc\r\n", "-3\r\nabc\r\n", "\r\nabc\r\n", "FFFFFFFFFFFFFFFFF\r\nabc", "3\r\nabcdef\r\n0\r\n\r\n",
        ])
    func badSizes(_ chunks: String) async throws {
        let outcome = try await outcome(rawResponse(["HTTP/1.1 200 OK", "Transfer-Encoding: chunked"], chunks))
        #expect(outcome.reason == .badServerResponse, "\(outcome.result)")
        #expect(outcome.requests == 1)
    }

    @Test(
        "Row 20: Different, negative, and invalid lengths throw a bad server response",
        arguments: [
            ["Content-Length: 3", "Content-Length: 4"], ["Content-Length: 3, 4"], ["Content-Length: -3"],
            ["Content-Length: 0x3"], ["Content-Length: 3 4"], ["Content-Length: 3;"], ["Content-Length: +3"],
            ["Content-Length: 3,"], ["Content-Length: abc"], ["Content-Length:"],
        ])
    func badLengths(_ lines: [String]) async throws {
        let outcome = try await outcome(rawResponse(["HTTP/1.1 200 OK"] + lines, "abcd"))
        #expect(outcome.reason == .badServerResponse && outcome.network?.code == 2006, "\(outcome.result)")
        #expect(outcome.requests == 1)
    }

    @Test(
        "Row 20: Equal lengths count once, and chunks override a length",
        arguments: [
            ["Content-Length: 3", "Content-Length: 3"], ["Content-Length: 3, 3,3"], ["Content-Length: 003"],
        ])
    func equalLengths(_ lines: [String]) async throws {
        #expect(try await outcome(rawResponse(["HTTP/1.1 200 OK"] + lines, "abc")).body == Data("abc".utf8))
        let chunked = rawResponse(
            ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Content-Length: 99"], "3\r\nabc\r\n0\r\n\r\n")
        #expect(try await outcome(chunked).body == Data("abc".utf8))
    }

    @Test(
        "Row 20: A length that exceeds the integer range is too large",
        arguments: ["9223372036854775807", "99999999999999999999"])
    func hugeLength(_ length: String) async throws {
        let outcome = try await outcome(rawResponse(["HTTP/1.1 200 OK", "Content-Length: \(length)"], "abc"))
        #expect(outcome.error?.code == 6001 && outcome.requests == 1, "\(outcome.result)")
    }

    /// Loads a response whose head has these lines after the status line. The connection remains open.
    private func openOutcome(_ lines: [String], _ body: String, status: String = "200 OK") async throws -> Outcome {
        let response = rawResponse(["HTTP/1.1 \(status)"] + lines, body, ending: .keepAlive)
        return try await outcome(response) { $0.timeouts = LoadTimeouts(connect: 5, idle: 5, total: 5) }
    }

    @Test(
        "Row 20: The transfer coding `identity` doesn't change the length, also if the connection remains open",
        arguments: [
            ["Transfer-Encoding: identity", "Content-Length: 3"],
            ["Content-Length: 3", "transfer-encoding: Identity "],
            ["Transfer-Encoding: identity", "Content-Length: 3, 3", "Transfer-Encoding: identity"],
            ["Transfer-Encoding: identity, identity", "Content-Length: 3"],
            ["Content-Length: 3", "Transfer-Encoding:"],
        ])
    func identity(_ lines: [String]) async throws {
        // Bytes after the body aren't part of it.
        for rest in ["", "d", "HTTP/1.1 200 OK"] {
            let outcome = try await openOutcome(lines, "abc" + rest)
            #expect(outcome.body == Data("abc".utf8), "\(rest): \(outcome.result)")
            #expect(try outcome.result.get().hasKnownLength && outcome.requests == 1)
        }
    }

    @Test("Row 20: A large body with the transfer coding `identity` is reported with its length")
    func largeIdentity() async throws {
        let body = patternBytes(300_000)
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: \(body.count)\r\n\r\n"
        let server = try LoopbackServer { _ in .raw(Data(head.utf8) + body, ending: .keepAlive) }
        let downloader = makeDownloader()
        for _ in 0..<2 {
            let log = ReportLog()
            var request = LoadRequest(url: server.url("/a"))
            request.timeouts = LoadTimeouts(connect: 5, idle: 5, total: 5)
            let response = try await downloader.load(request, context: log.context())
            #expect(response.body == body && log.body == body && log.expected == body.count)
        }
        // The connection could contain more bytes, so it isn't reused.
        #expect(server.counters.connections == 2)
    }

    @Test("Row 20: A body with the transfer coding `identity` that is shorter than its length throws")
    func shortIdentity() async throws {
        let lines = ["HTTP/1.1 200 OK", "Transfer-Encoding: identity", "Content-Length: 4"]
        for body in ["", "abc"] {
            let outcome = try await outcome(rawResponse(lines, body))
            #expect(outcome.reason == .connectionLost && outcome.network?.phase == .receivingBody)
            #expect(outcome.requests == 1)
        }
        let empty = try await openOutcome(["Transfer-Encoding: identity", "Content-Length: 0"], "")
        #expect(empty.reason == .emptyBody, "\(empty.result)")
        let invalid = try await openOutcome(["Transfer-Encoding: identity", "Content-Length: 3, 4"], "abc")
        #expect(invalid.reason == .badServerResponse && invalid.requests == 1)
    }

    @Test("Row 20: Rejected responses and redirects with the transfer coding `identity` end after their length")
    func otherIdentity() async throws {
        let lines = ["Transfer-Encoding: identity", "Content-Length: 4"]
        let rejected = try await openOutcome(lines, "gone", status: "404 Not Found")
        #expect(rejected.network?.statusCode == 404 && rejected.network?.bodyPrefix == Data("gone".utf8))
        let redirect = rawResponse(["HTTP/1.1 302 Found", "Location: /b"] + lines, "gone", ending: .keepAlive)
        let followed = try await outcome(handler: { [body] in $0.index == 0 ? redirect : .ok(body) })
        #expect(followed.body == body && followed.requests == 2)
    }

    @Test(
        "Row 20: The transfer coding `chunked` overrides `identity` and a length",
        arguments: [
            ["Transfer-Encoding: chunked", "Content-Length: 99"],
            ["Transfer-Encoding: identity, chunked", "Content-Length: 1"],
        ])
    func chunkedIdentity(_ lines: [String]) async throws {
        let outcome = try await openOutcome(lines, "3\r\nabc\r\n0\r\n\r\n")
        #expect(outcome.body == Data("abc".utf8) && outcome.requests == 1, "\(outcome.result)")
    }

    @Test("Row 15: A body with the transfer coding `identity` and without a length ends with the connection")
    func unknownIdentity() async throws {
        let outcome = try await outcome(rawResponse(["HTTP/1.1 200 OK", "Transfer-Encoding: identity"], "abc"))
        #expect(outcome.body == Data("abc".utf8), "\(outcome.result)")
        #expect(try outcome.result.get().hasKnownLength == false)
    }
}
