// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet

@Suite("Downloads", .timeLimit(.minutes(5)))
struct DownloadTests {
    let body = patternBytes(200_000)

    @Test("A body is delivered complete with its head, metrics, and reports")
    func plain() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(body, contentType: "image/png")])
        let downloader = makeDownloader()
        let log = ReportLog()
        let response = try await downloader.load(LoadRequest(url: server.url("/a")), context: log.context())
        #expect(response.body == body)
        #expect(response.httpResponse?.statusCode == 200)
        #expect(response.httpResponse?.headers["content-type"] == "image/png")
        #expect(response.url == server.url("/a"))
        #expect(response.metrics.receivedByteCount == body.count)
        #expect(response.metrics.firstByte > .zero && response.metrics.total >= response.metrics.firstByte)
        #expect(response.metrics.protocolName == "http/1.1")
        #expect(log.started == 1 && log.status == 200 && log.expected == body.count && log.body == body)
        #expect(response.requestDate <= response.responseDate)
    }

    @Test(
        "Bodies that are chunked or end with the connection are complete",
        arguments: [
            LoopbackServer.Response.Framing.chunked, .connectionClose,
        ])
    func framings(_ framing: LoopbackServer.Response.Framing) async throws {
        let server = try LoopbackServer(routes: [
            "/a": .ok(body).with {
                $0.framing = framing
                $0.chunkSize = 777
            }
        ])
        let log = ReportLog()
        let response = try await makeDownloader().load(LoadRequest(url: server.url("/a")), context: log.context())
        #expect(response.body == body && log.body == body && log.expected == nil)
    }

    @Test("Header fields are sent in order, and defaults only if the request has no such field")
    func requestFields() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(body)])
        let downloader = makeDownloader { $0.headers = HTTPHeaderFields([.init(name: "X-Key", value: "1")]) }
        _ = try await downloader.load(server.url("/a?q=%2F#part")) {
            $0.headers.append(name: "Accept", value: "image/png")
            $0.headers.append(name: "X-Empty", value: "")
            $0.headers.append(name: "X-Latin", value: "é")
        }
        let request = try #require(server.requests.first)
        #expect(request.target == "/a?q=%2F")
        #expect(request.headers.values(for: "Accept") == ["image/png"])
        #expect(request.headers["User-Agent"] == "WebImage/\(ProductVersion.current)")
        #expect(request.headers["X-Key"] == "1")
        #expect(request.headers["X-Empty"] == "")
        #expect(request.headers["X-Latin"] == "é")
        #expect(request.headers["Accept-Encoding"] == "gzip, deflate, br, zstd")
    }

    @Test(
        "Header fields that would inject another line are rejected",
        arguments: [
            ("X-A", "1\r\nX-B: 2"), ("X-A\r\n", "1"), ("", "1"), ("X A", "1"), ("X-A", "日"),
        ])
    func fieldInjection(name: String, value: String) async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(body)])
        let error = await makeDownloader().failure(server.url("/a")) { $0.headers.append(name: name, value: value) }
        #expect(error?.code == 1009)
        #expect(server.counters.requests == 0)
    }

    @Test("A status that isn't accepted throws an error with the status and the Retry-After value")
    func status() async throws {
        let server = try LoopbackServer(routes: [
            "/busy": .status(503).with { $0.headers["Retry-After"] = "7" },
            "/odd": .ok(body).with { $0.statusCode = 404 },
        ])
        let busy = try #require(await makeDownloader().failure(server.url("/busy"))?.network)
        #expect(busy.reason == .unacceptableStatusCode && busy.statusCode == 503 && busy.retryAfter == .seconds(7))
        let missing = try #require(await makeDownloader().failure(server.url("/none"))?.network)
        #expect(missing.reason == .unacceptableStatusCode && missing.statusCode == 404 && missing.retryAfter == nil)
        let accepting = makeDownloader { $0.acceptableStatusCodes = Set(200...404) }
        #expect(try await accepting.load(server.url("/odd")).body == body)
    }

    @Test("A large error page doesn't delay the error and isn't read to its end")
    func bigErrorPage() async throws {
        let gate = TestGate()
        let server = try LoopbackServer(routes: [
            "/a": .ok(Data(count: 10_000_000)).with {
                $0.statusCode = 500
                $0.bodyGate = gate
            }
        ])
        let error = await makeDownloader().failure(server.url("/a"))
        #expect(error?.network?.statusCode == 500)
        await server.waitForClosedConnections(count: 1)
        gate.open()
    }

    @Test("An empty response throws an error", arguments: [200, 204, 205])
    func empty(_ status: Int) async throws {
        let server = try LoopbackServer(routes: ["/a": LoopbackServer.Response(statusCode: status)])
        let error = await makeDownloader().failure(server.url("/a"))
        #expect(error?.network?.reason == .emptyBody && error?.network?.statusCode == status)
    }

    @Test("A 304 response is returned if the request allows it, and otherwise throws")
    func notModified() async throws {
        let resource = ServerResource(body: body, type: "image/png", etag: "\"1\"", cacheControl: "max-age=5")
        let server = try LoopbackServer { resource.response(to: $0) }
        let downloader = makeDownloader()
        let condition = HTTPHeaderFields([.init(name: "If-None-Match", value: "W/\"1\"")])
        let response = try await downloader.load(server.url("/a")) {
            $0.headers = condition
            $0.acceptsNotModified = true
        }
        #expect(response.isNotModified && response.body.isEmpty)
        #expect(response.httpResponse?.headers["Cache-Control"] == "max-age=5")
        let error = await downloader.failure(server.url("/a")) { $0.headers = condition }
        #expect(error?.network?.statusCode == 304)
    }

    @Test("Interim responses are skipped, and trailers change no header field")
    func interim() async throws {
        let text =
            "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n\r\n"
            + "3\r\nabc\r\n0\r\nX-A: 2\r\n\r\n"
        let server = try LoopbackServer(routes: ["/a": .raw(Data(text.utf8))])
        let response = try await makeDownloader().load(server.url("/a"))
        #expect(response.body == Data("abc".utf8))
        #expect(response.httpResponse?.headers.lines.map(\.name) == ["Transfer-Encoding", "X-A"])
        #expect(response.httpResponse?.headers["X-A"] == "1")
    }

    @Test("Hundreds of concurrent loads use at most six connections, which are reused")
    func many() async throws {
        let body = patternBytes(3_000)
        let server = try LoopbackServer(routes: ["/a": .ok(body)])
        let downloader = makeDownloader()
        let url = server.url("/a")
        for _ in 0..<2 {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<500 { group.addTask { try await downloader.load(url).body == body } }
                for try await isRight in group { #expect(isRight) }
            }
        }
        #expect(server.counters.requests == 1000)
        #expect(server.counters.connections <= 6)
        #expect(downloader.activity == DownloaderActivity())
    }

    @Test("At most six of fifty transfers to one host run at the same time")
    func placesPerHost() async throws {
        let gate = TestGate()
        let server = try LoopbackServer(routes: ["/a": .ok(Data("x".utf8)).with { $0.headGate = gate }])
        let downloader = makeDownloader()
        let url = server.url("/a")
        async let all: Void = withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = try await downloader.load(url) } }
            try await group.waitForAll()
        }
        await server.waitForRequests(count: 6)
        #expect(downloader.activity(at: url).running == 6)
        gate.open()
        try await all
        #expect(server.counters.mostOpenConnections == 6)
        #expect(server.counters.connections == 6)
    }

    @Test("Closing a downloader ends running loads and rejects new ones")
    func closing() async throws {
        let server = try LoopbackServer(routes: ["/a": .silent])
        let downloader = makeDownloader()
        async let running = downloader.failure(server.url("/a"))
        await server.waitForRequests(count: 1)
        downloader.shutdown()
        #expect(await running?.code == 1010)
        await server.waitForClosedConnections(count: 1)
        #expect(await downloader.failure(server.url("/a"))?.code == 1010)
    }
}
