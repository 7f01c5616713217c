// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

@Suite("Faults of servers", .timeLimit(.minutes(5)))
struct FaultTests {
    let body = patternBytes(100_000)

    private func failure(_ response: LoopbackServer.Response, _ change: (inout LoadRequest) -> Void = { _ in })
        async throws
        -> (error: ImageError?, requests: Int)
    {
        let server = try LoopbackServer { _ in response }
        let error = await makeDownloader().failure(server.url("/a"), change)
        return (error, server.counters.requests)
    }

    @Test(
        "A body that is shorter than declared causes an interrupted connection",
        arguments: [LoopbackServer.Response.Framing.contentLength, .chunked],
        [LoopbackServer.Response.Ending.close, .reset])
    func cutBody(_ framing: LoopbackServer.Response.Framing, _ ending: LoopbackServer.Response.Ending) async throws {
        let response = LoopbackServer.Response.ok(body).with {
            $0.framing = framing
            $0.truncatesBodyAfter = 50_000
            $0.ending = ending
        }
        let (error, requests) = try await failure(response)
        #expect(error?.network?.reason == .connectionLost && error?.network?.phase == .receivingBody)
        #expect(error?.network?.curlCode != nil && requests == 1)
    }

    @Test("A truncated response head causes an interrupted connection", arguments: [1, 9, 17, 40, 66])
    func cutHead(_ count: Int) async throws {
        let (error, _) = try await failure(.ok(body).with { $0.truncatesHeadAfter = count })
        #expect(error?.network?.reason == .connectionLost || error?.network?.reason == .badServerResponse)
        #expect(error?.network?.phase == .waitingForResponse)
    }

    @Test("A new connection that ends before any byte fails, but a reused one is replaced once")
    func noAnswer() async throws {
        let body = body
        for ending in [LoopbackServer.Response.Ending.close, .reset] {
            let (error, requests) = try await failure(.raw(Data(), ending: ending))
            #expect(error?.network?.reason == .connectionLost && error?.network?.attempt == 1)
            #expect(requests == 1)
            let server = try LoopbackServer { $0.index == 1 ? .raw(Data(), ending: ending) : .ok(body) }
            let downloader = makeDownloader()
            for _ in 0..<2 { #expect(try await downloader.load(server.url("/a")).body == body) }
            #expect(server.counters.requests == 3)
        }
    }

    @Test("Silence before or during the response exceeds the idle timeout")
    func idleTimer() async throws {
        let timeouts = LoadTimeouts(connect: 5, idle: 0.2, total: 30)
        for (response, phase) in [
            (LoopbackServer.Response.silent, ImageError.NetworkFailure.Phase.waitingForResponse),
            (.ok(body).with { $0.stallsBodyAfter = 1000 }, .receivingBody),
            (.ok(body).with { $0.stallsBodyAfter = 0 }, .receivingBody),
        ] {
            let (error, requests) = try await failure(response) { $0.timeouts = timeouts }
            #expect(error?.network?.reason == .timedOut && error?.network?.phase == phase)
            #expect(requests == 1)
        }
    }

    @Test("The total timeout ends a transfer that is still receiving data")
    func totalLimit() async throws {
        let slow = LoopbackServer.Response.ok(body).with { $0.bytesPerSecond = 5_000 }
        let (error, _) = try await failure(slow) { $0.timeouts = LoadTimeouts(connect: 5, idle: 5, total: 0.3) }
        #expect(error?.network?.reason == .timedOut && error?.network?.phase == .total)
    }

    @Test("A message names the total timeout of the load, although an earlier attempt used a part of it")
    func totalTimeout() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(body).with { $0.stallsBodyAfter = 1_000 }])
        let downloader = makeDownloader {
            $0.timeouts = LoadTimeouts(connect: 5, idle: 0.2, total: 0.3)
            $0.retry = RetryPolicy(maxAttempts: 3, baseDelay: .zero)
        }
        // On a busy machine, the total timeout may have passed before the second attempt.
        let error = await downloader.failure(server.url("/a"))
        let address = server.url("/a").absoluteString
        #expect(error?.network?.phase == .total)
        #expect(error?.message.hasPrefix("The request timed out: the total timeout is 0.3 s [\(address)].") == true)
    }

    @Test("A message describes the reasons of the earlier failures, and a status only if it's the reason")
    func messages() throws {
        let url = try #require(URL(string: "https://example.org/a.png"))
        typealias Failure = ImageError.NetworkFailure
        let idle = Failure(
            .timedOut, url: url, phase: .receivingBody, statusCode: 200, details: "no data for 0.2 s")
        let refused = Failure(.unacceptableStatusCode, url: url, phase: .receivingBody, statusCode: 503)
        let last = Failure(
            .timedOut, url: url, phase: .total, statusCode: 200, details: "the total timeout is 0.3 s")
        #expect(
            last.telling([idle, refused, refused]).message
                == "The request timed out: the total timeout is 0.3 s [https://example.org/a.png]. Earlier failures: the "
                + "request timed out while receiving the response (no data for 0.2 s), status 503 (2 times).")
    }

    @Test(
        "A timeout in a message has no unnecessary digits",
        arguments: [(10.0, "10 s"), (0.25, "0.25 s"), (4.976094793, "4.976 s"), (60, "60 s"), (0.0004, "0 s")])
    func durations(seconds: Double, text: String) {
        #expect(LoadTimeouts.text(seconds) == text)
    }

    @Test("A slow transfer isn't idle while it receives data, but a silent one is")
    func slowButAlive() {
        let transfer = Transfer(
            QueuedTransfer(
                id: 1, promise: Promise(),
                transferRequest: TransferRequestBox(TransferRequest(url: "http://a/", origin: "http://a:80")),
                priority: .normal, observer: { _ in }, context: LoadContext(), requestsBody: true, enqueued: 0,
                activity: OriginActivityCounter()))
        let limit: Int64 = 1_000
        var now: Int64 = 0
        func comes(_ text: String, _ take: (UnsafeRawBufferPointer, Int64) -> Bool) {
            now += limit - 1
            #expect(!transfer.isIdle(for: limit, at: now))
            var text = text
            #expect(text.withUTF8 { take(UnsafeRawBufferPointer($0), now) })
        }
        let lines = ["HTTP/1.1 103 Early\r\n", "\r\n", "HTTP/1.1 200 OK\r\n", "Content-Length: 500\r\n", "\r\n"]
        for line in lines { comes(line, transfer.receiveHeader) }
        for _ in 0..<500 { comes("x") { transfer.receiveBody($0, now: $1) == .received } }
        #expect(transfer.received == 500)
        #expect(!transfer.isIdle(for: limit, at: now + limit - 1) && transfer.isIdle(for: limit, at: now + limit))
    }

    @Test(
        "The size limit applies with and without a declared length, and the connection is closed",
        arguments: [
            LoopbackServer.Response.Framing.contentLength, .chunked, .connectionClose,
        ])
    func sizeLimit(_ framing: LoopbackServer.Response.Framing) async throws {
        let body = body
        let server = try LoopbackServer { _ in .ok(body).with { $0.framing = framing } }
        let downloader = makeDownloader()
        let response = try await downloader.load(server.url("/a")) { $0.maxByteCount = body.count }
        #expect(response.body == body)
        let error = await downloader.failure(server.url("/a")) { $0.maxByteCount = body.count - 1 }
        guard case .limitExceeded(let limit) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(limit.kind == .encodedSize && limit.limit == body.count - 1 && limit.actual > limit.limit)
        await server.waitForClosedConnections(count: 1)
    }

    @Test("A declared length over the limit throws before the body arrives")
    func toldLimit() async throws {
        let (error, _) = try await failure(.ok(Data("x".utf8)).with { $0.framing = .wrongContentLength(1 << 40) })
        guard case .limitExceeded(let limit) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(limit.actual == 1 << 40)
    }

    @Test(
        "A response that isn't valid HTTP throws a bad server response and isn't retried",
        arguments: [
            "hello\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n", "HTTP/9.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
            "HTTP/1.1 200 OK\r\nContent-Length: 3, 4\r\n\r\nabcd",
            "HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 3\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
        ])
    func badAnswers(_ text: String) async throws {
        let (error, requests) = try await failure(.raw(Data(text.utf8)))
        #expect(error?.network?.reason == .badServerResponse, "\(String(describing: error))")
        #expect(requests == 1)
    }

    @Test("Repeated Content-Length fields with equal values are accepted")
    func equalLengths() async throws {
        for lengths in ["Content-Length: 3\r\nContent-Length: 3", "Content-Length: 3, 3"] {
            let server = try LoopbackServer { _ in .raw(Data("HTTP/1.1 200 OK\r\n\(lengths)\r\n\r\nabc".utf8)) }
            #expect(try await makeDownloader().load(server.url("/a")).body == Data("abc".utf8))
        }
    }

    @Test("Huge heads throw a bad server response", arguments: [(1, 200_000), (1, 90_000), (2_000, 100), (4_000, 100)])
    func hugeHeaders(count: Int, length: Int) async throws {
        let line = "X-A: \(String(repeating: "a", count: length))\r\n"
        let text = "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: count) + "\r\n"
        let (error, _) = try await failure(.raw(Data(text.utf8)))
        #expect(error?.network?.reason == .badServerResponse, "\(String(describing: error))")
    }

    @Test("A closed port, an unknown name, and a port without TLS cause specific errors")
    func unreachable() async throws {
        let server = try LoopbackServer(routes: [:])
        let url = server.url("/a")
        server.stop()
        let error = await makeDownloader().failure(url)
        #expect(error?.network?.reason == .cannotConnect && error?.network?.phase == .connecting)
        let unknown = try #require(URL(string: "http://nobody.invalid/a"))
        let missing = await makeDownloader().failure(unknown)?.network?.reason
        #expect(missing == (NetworkReachability.exist ? .cannotFindHost : .offline))
        let plain = try LoopbackServer(routes: [:])
        let secure = try #require(URL(string: "https://127.0.0.1:\(plain.port)/"))
        #expect(await makeDownloader().failure(secure)?.network?.reason == .secureConnectionFailed)
    }

    @Test("A proxy that can't be reached causes a proxy error")
    func proxy() async throws {
        let server = try LoopbackServer(routes: [:])
        let port = server.port
        server.stop()
        let target = try #require(URL(string: "http://127.0.0.1:1/a"))
        let downloader = makeDownloader { $0.proxy = .at("http://127.0.0.1:\(port)") }
        #expect(await downloader.failure(target)?.network?.reason == .proxyFailed)
        let working = try LoopbackServer { .ok(Data($0.target.utf8)) }
        let through = makeDownloader { $0.proxy = .at("http://127.0.0.1:\(working.port)") }
        let far = try #require(URL(string: "http://far.invalid/a"))
        #expect(try await through.load(far).body == Data("http://far.invalid/a".utf8))
    }

    @Test("A downloader for public addresses never connects to a local address in any notation")
    func addressPolicy() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(body)])
        let downloader = makeDownloader { $0.addressPolicy = .publicOnly }
        for host in ["127.0.0.1", "localhost", "0x7f.1", "2130706433", "017700000001", "0", "[::ffff:127.0.0.1]"] {
            let url = try #require(URL(string: "http://\(host):\(server.port)/a"))
            #expect(await downloader.failure(url)?.network?.reason == .addressNotAllowed, "\(host)")
        }
        #expect(server.counters.connections == 0)
    }
}
