// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

@Suite("Retries", .timeLimit(.minutes(5)))
struct RetryTests {
    let body = Data("picture".utf8)

    /// Returns a downloader that waits on `clock` and always as long as possible.
    private func downloader(
        _ clock: TestClock, _ change: (inout RetryPolicy) -> Void = { _ in }
    ) -> ImageDownloader {
        makeDownloader {
            $0.retryClock = clock
            $0.retry = RetryPolicy(baseDelay: .seconds(1))
            $0.retry.random = { $0.upperBound }
            change(&$0.retry)
        }
    }

    private func server(failing count: Int, _ failure: LoopbackServer.Response) throws -> LoopbackServer {
        try LoopbackServer { [body] in $0.index < count ? failure : .ok(body) }
    }

    @Test("Temporary failures are retried after a delay", arguments: [408, 429, 500, 502, 503, 504, 0])
    func passing(_ status: Int) async throws {
        let failure =
            status == 0 ? LoopbackServer.Response.ok(body).with { $0.truncatesBodyAfter = 3 } : .status(status)
        let server = try server(failing: 2, failure)
        let clock = TestClock()
        let downloader = downloader(clock)
        let url = server.url("/a")
        let log = ReportLog()
        let task = Task { try await downloader.load(LoadRequest(url: url), context: log.context()) }
        for wait in [1, 2] {
            await clock.waitForSleepers(count: 1)
            #expect(server.counters.requests == wait)
            clock.advance(by: .seconds(wait))
        }
        let response = try await task.value
        #expect(response.body == body && log.body == body && log.started == 1)
        #expect(response.metrics.attemptCount == 3 && server.counters.requests == 3)
        #expect(response.metrics.failures.map(\.statusCode) == (status == 0 ? [200, 200] : [status, status]))
    }

    @Test("Permanent failures aren't retried", arguments: [400, 401, 403, 404, 410, 501, 505])
    func permanent(_ status: Int) async throws {
        let server = try server(failing: 9, .status(status))
        #expect(await downloader(TestClock()).failure(server.url("/a"))?.network?.statusCode == status)
        #expect(server.counters.requests == 1)
    }

    @Test("The last error reports its attempt and the previous failures")
    func exhausted() async throws {
        let server = try server(failing: 9, .status(503))
        let error = await downloader(TestClock()) { $0.baseDelay = .zero }.failure(server.url("/a"))?.network
        #expect(error?.attempt == 3 && error?.details == "")
        let address = server.url("/a").absoluteString
        #expect(
            error?.message
                == "The server responded with status 503 [\(address)]. Earlier failures: status 503 (2 times).")
        #expect(server.counters.requests == 3)
        let own = await downloader(TestClock()).failure(server.url("/a")) { $0.network.retry = .never }
        #expect(own?.network?.attempt == 1 && server.counters.requests == 4)
    }

    @Test("Both forms of Retry-After are respected, and invalid values are ignored")
    func retryAfter() async throws {
        for (value, expected) in [
            ("20", 21), ("Sun, 06 Nov 1994 08:49:57 GMT", 21), ("soon", 1), ("-5", 1), ("0", 1),
        ] {
            let failure = LoopbackServer.Response.status(503).with {
                $0.headers["Retry-After"] = value
                $0.headers["Date"] = "Sun, 06 Nov 1994 08:49:37 GMT"
            }
            let server = try server(failing: 1, failure)
            let clock = TestClock()
            let downloader = downloader(clock)
            let url = server.url("/a")
            let task = Task { try await downloader.load(url) }
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(expected) - .milliseconds(1))
            #expect(clock.sleeperCount == 1, "\(value)")
            clock.advance(by: .milliseconds(1))
            #expect(try await task.value.body == body)
        }
    }

    @Test("A Retry-After over the limit fails the load and is reported")
    func longRetryAfter() async throws {
        let server = try server(failing: 9, .status(429).with { $0.headers["Retry-After"] = "31" })
        let error = await downloader(TestClock()).failure(server.url("/a"))
        #expect(error?.network?.retryAfter == .seconds(31) && server.counters.requests == 1)
    }

    @Test("Other requests to the host wait too, except those without retries or to other hosts")
    func host() async throws {
        let server = try server(failing: 1, .status(503).with { $0.headers["Retry-After"] = "10" })
        let other = try LoopbackServer(routes: ["/a": .ok(body)])
        let clock = TestClock()
        let downloader = downloader(clock)
        let url = server.url("/a")
        let first = Task { try await downloader.load(url) }
        await clock.waitForSleepers(count: 1)
        let second = Task { try await downloader.load(url) }
        await clock.waitForSleepers(count: 2)
        #expect(server.counters.requests == 1)
        #expect(try await downloader.load(other.url("/a")).body == body)
        #expect(try await downloader.load(url) { $0.network.retry = .never }.body == body)
        clock.advance(by: .seconds(10))
        #expect(try await second.value.body == body)
        clock.advance(by: .seconds(1))
        #expect(try await first.value.body == body)
    }

    @Test("Cancellation and closing end a wait immediately")
    func ending() async throws {
        let server = try server(failing: 99, .status(503))
        let clock = TestClock()
        let downloader = downloader(clock)
        let url = server.url("/a")
        let cancelled = Task { await downloader.failure(url) }
        await clock.waitForSleepers(count: 1)
        cancelled.cancel()
        #expect(await cancelled.value == .cancelled)
        let closed = Task { await downloader.failure(url) }
        await clock.waitForSleepers(count: 1)
        downloader.shutdown()
        #expect(await closed.value?.code == 1010)
        #expect(downloader.waits.count == 0 && clock.sleeperCount == 0)
    }

    @Test("Alternatives are tried in order, without secrets at other origins, and the error lists all failures")
    func alternatives() async throws {
        let server = try LoopbackServer(routes: ["/b": .status(404), "/c": .ok(body)])
        let other = try LoopbackServer(routes: ["/d": .ok(body)])
        let downloader = downloader(TestClock())
        let mailto = try #require(URL(string: "mailto:a@b"))
        let response = try await downloader.load(server.url("/a")) {
            $0.network.alternativeURLs = [mailto, server.url("/b"), server.url("/c"), other.url("/d")]
        }
        #expect(response.url == server.url("/c") && response.metrics.failures.map(\.statusCode) == [404, 404])
        #expect(server.requests.map(\.path) == ["/a", "/b", "/c"] && other.counters.requests == 0)
        _ = try await downloader.load(server.url("/a")) {
            $0.headers["X-Api-Key"] = "secret"
            $0.headers["Accept-Language"] = "de"
            $0.network.alternativeURLs = [other.url("/d")]
        }
        #expect(server.requests.last?.headers["X-Api-Key"] == "secret")
        #expect(other.requests.first?.headers["X-Api-Key"] == nil)
        #expect(other.requests.first?.headers["Accept-Language"] == "de")
        let error = await downloader.failure(server.url("/a")) { $0.network.alternativeURLs = [server.url("/b")] }
        #expect(error?.network?.url.absoluteString == server.url("/b").absoluteString && error?.network?.attempt == 2)
        let account = "]. Earlier failures: status 404 at \(server.url("/a"))."
        #expect(error?.network?.details == "" && error?.network?.message.hasSuffix(account) == true)
    }

    @Test("A load that exceeds the size limit doesn't try an alternative")
    func limits() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(body), "/b": .ok(Data("x".utf8))])
        let error = await downloader(TestClock()).failure(server.url("/a")) {
            $0.maxByteCount = 3
            $0.network.alternativeURLs = [server.url("/b")]
        }
        #expect(error?.code == 6001 && server.counters.requests == 1)
    }
}
