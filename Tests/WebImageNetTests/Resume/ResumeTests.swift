// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

@Suite("Resumption of interrupted transfers", .timeLimit(.minutes(5)))
struct ResumeTests {
    let body = patternBytes(100_000)
    let etag = HTTPHeaderFields([.init(name: "ETag", value: "\"v1\"")])

    /// The complete response, truncated after 40,000 bytes.
    private var cut: LoopbackServer.Response {
        LoopbackServer.Response(headers: etag, body: body).with { $0.truncatesBodyAfter = 40_000 }
    }

    /// Returns the correct response with the remaining bytes.
    private func rest(from start: Int, _ change: (inout LoopbackServer.Response) -> Void = { _ in })
        -> LoopbackServer.Response
    {
        var response = LoopbackServer.Response(statusCode: 206, headers: etag, body: Data(body.dropFirst(start)))
        response.headers["Content-Range"] = "bytes \(start)-\(body.count - 1)/\(body.count)"
        change(&response)
        return response
    }

    private func start(_ request: LoopbackServer.Request) -> Int? {
        request.headers["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
    }

    @Test("N-16: The next load resumes an interrupted body and first reports the stored bytes")
    func nextLoad() async throws {
        let server = try LoopbackServer { request in start(request).map { rest(from: $0) } ?? cut }
        let downloader = makeDownloader()
        let url = server.url("/a")
        #expect(await downloader.failure(url)?.network?.reason == .connectionLost)
        let log = ReportLog()
        let parts = Shared<[Int]>([])
        let context = LoadContext { report in
            if case .body(let part) = report { parts.update { $0.append(part.count) } }
            log.receive(report)
        }
        let response = try await downloader.load(LoadRequest(url: url), context: context)
        #expect(response.body == body && log.body == body && response.httpResponse?.statusCode == 200)
        #expect(
            response.httpResponse?.headers["Content-Range"] == nil
                && response.httpResponse?.headers["Content-Length"] == "100000")
        #expect(log.expected == body.count && parts.value.first == 40_000)
        #expect(response.metrics.resumedByteCount == 40_000 && response.metrics.receivedByteCount == 60_000)
        #expect(server.requests[1].headers["If-Range"] == "\"v1\"")
        #expect(downloader.partials?.memory == .init())
    }

    @Test("A retry resumes the body, and the head and every byte are reported once")
    func retry() async throws {
        let server = try LoopbackServer { request in
            start(request).map { start in rest(from: start) { if start < 80_000 { $0.truncatesBodyAfter = 20_000 } } }
                ?? cut
        }
        let heads = Shared(0)
        let log = ReportLog()
        let context = LoadContext { report in
            if case .head = report { heads.update { $0 += 1 } }
            log.receive(report)
        }
        let downloader = makeDownloader {
            $0.retry = RetryPolicy(maxAttempts: 5, baseDelay: .zero)
        }
        let response = try await downloader.load(LoadRequest(url: server.url("/a")), context: context)
        #expect(response.body == body && log.body == body && heads.value == 1 && log.started == 1)
        #expect(server.requests.map { start($0) } == [nil, 40_000, 60_000, 80_000])
        #expect(response.metrics.attemptCount == 4 && response.metrics.failures.count == 3)
        #expect(response.metrics.failures.map(\.attempt) == [1, 2, 3])
    }

    @Test("A canceled body is resumed later")
    func cancelled() async throws {
        let whole = LoopbackServer.Response(headers: etag, body: body).with { $0.stallsBodyAfter = 30_000 }
        let server = try LoopbackServer { request in start(request).map { rest(from: $0) } ?? whole }
        let downloader = makeDownloader()
        let url = server.url("/a")
        let log = ReportLog()
        let task = Task { try await downloader.load(LoadRequest(url: url), context: log.context()) }
        await untilTrue { log.body.count == 30_000 }
        task.cancel()
        _ = await task.result
        await untilTrue { downloader.partials?.memory.entries == 1 }
        #expect(try await downloader.load(url).body == body)
        #expect(start(server.requests[1]) == 30_000)
    }

    @Test("With a directory, transfers are resumed after a restart")
    func restart() async throws {
        let body = patternBytes(1_000_000)
        let folder = try TemporaryDirectory()
        let server = try LoopbackServer { request in
            guard let start = start(request) else {
                return LoopbackServer.Response(headers: etag, body: body).with { $0.truncatesBodyAfter = 700_000 }
            }
            var response = LoopbackServer.Response(statusCode: 206, headers: etag, body: Data(body.dropFirst(start)))
            response.headers["Content-Range"] = "bytes \(start)-\(body.count - 1)/\(body.count)"
            return response
        }
        let url = server.url("/a")
        let first = makeDownloader { $0.resume = ResumeOptions(directory: URL(filePath: folder.path)) }
        #expect(await first.failure(url)?.network?.reason == .connectionLost)
        #expect(await first.partials?.disk().entries == 1)
        first.shutdown()
        let second = makeDownloader { $0.resume = ResumeOptions(directory: URL(filePath: folder.path)) }
        let response = try await second.load(url)
        #expect(response.body == body && response.metrics.resumedByteCount == 700_000)
        #expect(await second.partials?.disk().entries == 0)
    }

    @Test("N-16: Without a strong validator, with no-store, or if disabled, the next load requests the whole body")
    func notResumable() async throws {
        for (name, value) in [("ETag", "W/\"v1\""), ("X-A", "b"), ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")] {
            let fields = HTTPHeaderFields([.init(name: name, value: value)])
            let server = try LoopbackServer { [body] request in
                LoopbackServer.Response(headers: fields, body: body).with {
                    if request.index == 0 { $0.truncatesBodyAfter = 40_000 }
                }
            }
            let downloader = makeDownloader()
            #expect(await downloader.failure(server.url("/a")) != nil)
            #expect(try await downloader.load(server.url("/a")).body == body)
            #expect(server.requests[1].headers["Range"] == nil)
        }
        let server = try LoopbackServer { request in request.index == 0 ? cut : rest(from: 0) { $0.statusCode = 200 } }
        let downloader = makeDownloader { $0.resume = nil }
        #expect(await downloader.failure(server.url("/a")) != nil)
        #expect(try await downloader.load(server.url("/a")).body == body)
        #expect(server.requests[1].headers["Range"] == nil)
    }

    @Test("A sufficiently old Last-Modified date is a validator")
    func lastModified() async throws {
        let fields = HTTPHeaderFields([
            .init(name: "Last-Modified", value: "Sun, 06 Nov 1994 08:49:37 GMT"),
            .init(name: "Date", value: "Sun, 06 Nov 1994 09:49:37 GMT"),
        ])
        let server = try LoopbackServer { [body] request in
            start(request).map { start in rest(from: start) { $0.headers["ETag"] = nil } }
                ?? LoopbackServer.Response(headers: fields, body: body).with { $0.truncatesBodyAfter = 40_000 }
        }
        let downloader = makeDownloader()
        #expect(await downloader.failure(server.url("/a")) != nil)
        #expect(try await downloader.load(server.url("/a")).body == body)
        #expect(server.requests[1].headers["If-Range"] == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test("A changed resource restarts with a 200 response, and after a 416 response the body is requested again")
    func startOver() async throws {
        let fresh = patternBytes(50_000, seed: 9)
        for status in [200, 416] {
            let server = try LoopbackServer { request in
                if request.index == 0 { return cut }
                if status == 416, start(request) != nil { return .status(416) }
                return .ok(fresh)
            }
            let downloader = makeDownloader()
            #expect(await downloader.failure(server.url("/a")) != nil)
            let log = ReportLog()
            let response = try await downloader.load(LoadRequest(url: server.url("/a")), context: log.context())
            #expect(response.body == fresh && log.body == fresh && response.metrics.resumedByteCount == 0)
            #expect(server.counters.requests == (status == 200 ? 2 : 3))
            #expect(downloader.partials?.memory == .init())
        }
    }

    @Test(
        "A wrong range never corrupts the body, and the whole body is requested once",
        arguments: [
            "bytes 0-99999/100000", "bytes 39999-99999/100000", "bytes 40000-99998/100000", "bytes 40000-99999/100001",
            "bytes 40000-99999/99999", "pixels 40000-99999/100000", "bytes */100000", "nonsense", "",
        ])
    func lies(_ range: String) async throws {
        let server = try LoopbackServer { request in
            guard let start = start(request) else { return request.index == 0 ? cut : .ok(body) }
            return rest(from: start) { $0.headers["Content-Range"] = range.isEmpty ? nil : range }
        }
        let downloader = makeDownloader()
        #expect(await downloader.failure(server.url("/a")) != nil)
        let log = ReportLog()
        let response = try await downloader.load(LoadRequest(url: server.url("/a")), context: log.context())
        #expect(response.body == body && log.body == body)
        #expect(server.requests.map { start($0) } == [nil, 40_000, nil])
    }

    @Test("A range with too many bytes is a bad response, and one with too few can be resumed")
    func wrongAmount() async throws {
        let long = try LoopbackServer { request in
            start(request).map { start in
                rest(from: start) {
                    $0.framing = .chunked
                    $0.body += Data([1, 2, 3])
                }
            } ?? cut
        }
        let downloader = makeDownloader()
        #expect(await downloader.failure(long.url("/a")) != nil)
        #expect(await downloader.failure(long.url("/a"))?.network?.reason == .badServerResponse)
        #expect(downloader.partials?.memory == .init())
        let short = try LoopbackServer { request in
            start(request).map { start in
                rest(from: start) {
                    $0.framing = .chunked
                    if start < 50_000 { $0.body = $0.body.prefix(20_000) }
                }
            } ?? cut
        }
        #expect(await downloader.failure(short.url("/a")) != nil)
        #expect(await downloader.failure(short.url("/a"))?.network?.reason == .connectionLost)
        #expect(try await downloader.load(short.url("/a")).metrics.resumedByteCount == 60_000)
    }

    @Test("A temporary error keeps the stored part, and a 404 or 410 response removes it")
    func otherStatuses() async throws {
        for (status, isKept) in [(503, true), (302, true), (404, false), (410, false)] {
            let server = try LoopbackServer { request in request.index == 0 ? cut : .status(status) }
            let downloader = makeDownloader()
            #expect(await downloader.failure(server.url("/a")) != nil)
            #expect(await downloader.failure(server.url("/a"))?.network?.statusCode == status)
            #expect(downloader.partials?.memory.entries == (isKept ? 1 : 0), "\(status)")
        }
    }

    @Test("A request with other credentials doesn't resume the body of another user")
    func credentials() async throws {
        let server = try LoopbackServer { request in request.index == 0 ? cut : .ok(body) }
        let downloader = makeDownloader()
        #expect(await downloader.failure(server.url("/a")) { $0.headers["Authorization"] = "Basic YQ==" } != nil)
        #expect(try await downloader.load(server.url("/a")).body == body)
        #expect(server.requests[1].headers["Range"] == nil)
    }

    @Test("A coded body is resumed at its coded bytes and only in its coding", arguments: ["gzip", nil, "br"])
    func coded(_ coding: String?) async throws {
        let text = ContentDecoderTests.text
        let gzip = try #require(ContentDecoderTests.codings["gzip"].flatMap { Data(base64Encoded: $0) })
        let fields = HTTPHeaderFields(etag.lines + [.init(name: "Content-Encoding", value: "gzip")])
        let whole = LoopbackServer.Response(headers: fields, body: gzip)
        let server = try LoopbackServer { request in
            guard let start = start(request) else {
                return whole.with { if request.index == 0 { $0.truncatesBodyAfter = gzip.count / 2 } }
            }
            var response = LoopbackServer.Response(statusCode: 206, headers: etag, body: Data(gzip.dropFirst(start)))
            response.headers["Content-Range"] = "bytes \(start)-\(gzip.count - 1)/\(gzip.count)"
            response.headers["Content-Encoding"] = coding
            return response
        }
        let downloader = makeDownloader { $0.retry = RetryPolicy(baseDelay: .zero) }
        let log = ReportLog()
        let response = try await downloader.load(LoadRequest(url: server.url("/a")), context: log.context())
        #expect(response.body == text && log.body == text)
        #expect(
            server.requests.map { start($0) } == (coding == "br" ? [nil, gzip.count / 2, nil] : [nil, gzip.count / 2]))
        #expect(response.metrics.resumedByteCount == (coding == "br" ? 0 : gzip.count / 2))
    }

    @Test("The size limit includes the stored bytes")
    func sizeLimit() async throws {
        let server = try LoopbackServer { request in start(request).map { rest(from: $0) } ?? cut }
        let downloader = makeDownloader()
        #expect(await downloader.failure(server.url("/a")) != nil)
        let error = await downloader.failure(server.url("/a")) { $0.maxByteCount = 99_999 }
        guard case .limitExceeded(let limit) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(limit.limit == 99_999 && limit.actual == 100_000)
    }
}
