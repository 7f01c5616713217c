// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPClient
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

private func headers(_ lines: (String, String)...) -> HTTPHeaderFields {
    HTTPHeaderFields(lines.map { .init(name: $0.0, value: $0.1) })
}

private func response(_ body: String, _ control: String) -> LoopbackServer.Response {
    LoopbackServer.Response(headers: headers(("Cache-Control", control)), body: Data(body.utf8))
}

@Suite("HTTP client over sockets")
struct HTTPClientTests {
    @Test("Sixty requests run at the same time")
    func sixty() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { request in
            response(request.path, "no-store").with { $0.headGate = gate }
        }
        let client = HTTPClient()
        try await withThrowingTaskGroup(of: (Int, HTTPClient.Response).self) { group in
            for number in 0..<60 {
                group.addTask { (number, try await client.fetch(HTTPClient.Request(url: server.url("/\(number)")))) }
            }
            await server.waitForRequests(count: 60)
            gate.open()
            for try await (number, answer) in group {
                #expect(String(decoding: answer.body, as: UTF8.self) == "/\(number)")
            }
        }
        #expect(server.counters.mostOpenConnections == 60)
    }

    @Test("Each of sixty requests can be canceled on its own")
    func cancelOneByOne() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { request in
            response(request.path, "no-store").with { $0.headGate = gate }
        }
        let client = HTTPClient()
        let tasks = (0..<60).map { number in
            Task { try await client.fetch(HTTPClient.Request(url: server.url("/\(number)"))) }
        }
        await server.waitForRequests(count: 60)
        for (number, task) in tasks.enumerated() where number % 2 == 0 { task.cancel() }
        for (number, task) in tasks.enumerated() where number % 2 == 0 {
            await #expect(throws: ImageError.cancelled) { try await task.value }
            _ = number
        }
        gate.open()
        for (number, task) in tasks.enumerated() where number % 2 == 1 {
            #expect(try await task.value.statusCode == 200)
            _ = number
        }
    }

    @Test("Sixty equal requests share one exchange, and the last cancellation closes the connection")
    func equalRequests() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { _ in response("one", "max-age=60").with { $0.headGate = gate } }
        let client = HTTPClient()
        let fetch: @Sendable () async throws -> Int = {
            try await client.fetch(HTTPClient.Request(url: server.url("/"))).statusCode
        }
        // The others join the exchange of the first one before or after their cancellation, or find its response.
        let first = Task(operation: fetch)
        await server.waitForRequests(count: 1)
        let others = (0..<59).map { _ in Task(operation: fetch) }
        for task in others.prefix(30) { task.cancel() }
        gate.open()
        for task in others.prefix(30) { _ = await task.result }
        for task in [first] + others.dropFirst(30) { #expect(try await task.value == 200) }
        #expect(server.requests.count == 1)

        let closed = TestGate()
        let other = try LoopbackServer { _ in response("", "max-age=60").with { $0.headGate = closed } }
        let lonely = Task { try await client.fetch(HTTPClient.Request(url: other.url("/"))) }
        await other.waitForRequests(count: 1)
        lonely.cancel()
        await #expect(throws: ImageError.cancelled) { try await lonely.value }
        await other.waitForClosedConnections(count: 1)
    }

    @Test("Methods, bodies, and header fields are sent unchanged")
    func wire() async throws {
        let server = try LoopbackServer { _ in response("", "no-store") }
        var request = HTTPClient.Request(url: server.url("/x?y=%20"), method: "M-FOO", body: Data("body".utf8))
        request.headers = headers(("X-A", "1"), ("X-a", "caf\u{e9}"), ("X-Empty", ""))
        _ = try await HTTPClient().fetch(request)
        let seen = try #require(server.requests.first)
        #expect(seen.method == "M-FOO" && seen.target == "/x?y=%20" && seen.body == Data("body".utf8))
        #expect(seen.headers.values(for: "X-A") == ["1", "caf\u{e9}"])
        #expect(seen.headers["X-Empty"]?.isEmpty == true)
        #expect(seen.headers["Content-Type"] == nil)
    }

    @Test("Any three-digit status is a response, and interim responses are reported")
    func statuses() async throws {
        let raw =
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 999 Odd\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 2\r\n\r\nok"
        let server = try LoopbackServer { _ in .raw(Data(raw.utf8)) }
        let answer = try await HTTPClient().fetch(HTTPClient.Request(url: server.url("/")))
        #expect(answer.statusCode == 999)
        #expect(answer.headers.values(for: "X-A") == ["1", "2"])
        #expect(answer.body == Data("ok".utf8))
        #expect(answer.informationalResponses.map(\.statusCode) == [103])
        #expect(answer.informationalResponses.first?.headers["Link"] == "</a>")
    }

    @Test("A request that HTTP can't represent throws before anything is sent")
    func refused() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        let client = HTTPClient()
        var broken = HTTPClient.Request(url: url, method: "G T")
        await #expect(throws: ImageError.self) { try await client.fetch(broken) }
        broken = HTTPClient.Request(url: url, headers: headers(("X", "a\r\nY: b")))
        await #expect(throws: ImageError.self) { try await client.fetch(broken) }
        broken = HTTPClient.Request(url: try #require(URL(string: "ftp://127.0.0.1/")))
        await #expect(throws: ImageError.self) { try await client.fetch(broken) }
    }

    @Test("Redirects are followed and counted, and the method becomes GET where HTTP requires it")
    func redirects() async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/form": .redirect(303, to: "/done")
            case "/loop": .redirect(302, to: "/loop")
            default: response(request.method, "no-store")
            }
        }
        let client = HTTPClient()
        let answer = try await client.fetch(
            HTTPClient.Request(url: server.url("/form"), method: "POST", body: Data("x".utf8)))
        #expect(String(decoding: answer.body, as: UTF8.self) == "GET")
        #expect(answer.url == server.url("/done") && answer.metrics.redirectCount == 1)
        await #expect(throws: ImageError.self) { try await client.fetch(HTTPClient.Request(url: server.url("/loop"))) }
        var manual = HTTPClient.Request(url: server.url("/loop"))
        manual.redirectMode = .manual
        #expect(try await client.fetch(manual).statusCode == 302)
    }

    @Test("A response that takes longer than the timeout of the request throws")
    func timeout() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { _ in response("", "no-store").with { $0.headGate = gate } }
        var request = HTTPClient.Request(url: server.url("/"))
        request.timeout = .milliseconds(100)
        do throws(ImageError) {
            _ = try await HTTPClient().fetch(request)
            Issue.record("no error")
        } catch {
            guard case .network(let failure) = error else { throw error }
            #expect(failure.reason == .timedOut && failure.phase == .total)
        }
        gate.open()
    }

    @Test("A body that exceeds the limit throws")
    func limit() async throws {
        let server = try LoopbackServer { _ in response("0123456789", "no-store") }
        var request = HTTPClient.Request(url: server.url("/"))
        request.maxBodySize = 9
        await #expect(throws: ImageError.self) { try await HTTPClient().fetch(request) }
        request.maxBodySize = 10
        #expect(try await HTTPClient().fetch(request).body.count == 10)

        let client = HTTPClient()
        let stored = try LoopbackServer { _ in response("0123456789", "max-age=60") }
        _ = try await client.fetch(HTTPClient.Request(url: stored.url("/")))
        var small = HTTPClient.Request(url: stored.url("/"))
        small.maxBodySize = 9
        await #expect(throws: ImageError.self) { try await client.fetch(small) }
    }

    @Test("A body with the transfer coding `identity` is complete and stored, also if the connection remains open")
    func identityCoding() async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 3\r\n"
        let server = try LoopbackServer { _ in
            .raw(Data("\(head)Cache-Control: max-age=60\r\n\r\nabc".utf8), ending: .keepAlive)
        }
        let client = HTTPClient()
        var request = HTTPClient.Request(url: server.url("/"))
        request.timeout = .seconds(5)
        let first = try await client.fetch(request)
        #expect(first.body == Data("abc".utf8) && first.source == .network)
        let second = try await client.fetch(request)
        #expect(second.body == first.body && second.source != .network && server.counters.requests == 1)
    }

    @Test("A request after a change never receives or stores an earlier response")
    func changeOnTheWay() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { request in
            guard request.method == "GET" else { return .status(200) }
            let isFirst = request.index == 0
            return response(isFirst ? "old" : "new", "max-age=60").with { $0.headGate = isFirst ? gate : nil }
        }
        let client = HTTPClient()
        let before = Task { try await client.fetch(HTTPClient.Request(url: server.url("/"))) }
        await server.waitForRequests(count: 1)
        _ = try await client.fetch(HTTPClient.Request(url: server.url("/"), method: "POST"))
        let after = try await client.fetch(HTTPClient.Request(url: server.url("/")))
        #expect(after.body == Data("new".utf8) && after.source == .network)
        gate.open()
        #expect(try await before.value.body == Data("old".utf8))
        #expect(try await client.fetch(HTTPClient.Request(url: server.url("/"))).body == Data("new".utf8))
    }

    @Test("A GET request with a body is neither served from the cache nor stored")
    func getWithBody() async throws {
        let server = try LoopbackServer { request in
            response(String(decoding: request.body, as: UTF8.self), "max-age=60")
        }
        let client = HTTPClient()
        for body in ["a", "b"] {
            let answer = try await client.fetch(HTTPClient.Request(url: server.url("/"), body: Data(body.utf8)))
            #expect(answer.source == .network && answer.body == Data(body.utf8))
        }
        #expect(try await client.fetch(HTTPClient.Request(url: server.url("/"))).source == .network)
    }

    @Test("Concurrent requests for a stale response start one revalidation")
    func behindOnce() async throws {
        let gate = TestGate()
        let count = Shared(0)
        let server = try LoopbackServer { _ in
            count.update { $0 += 1 }
            // The window is long enough for a busy machine. After the window, requests would wait for the gate
            // themselves.
            return response("x", "max-age=0, stale-while-revalidate=86400").with {
                if count.value > 1 { $0.headGate = gate }
            }
        }
        let client = HTTPClient()
        _ = try await client.fetch(HTTPClient.Request(url: server.url("/")))
        for _ in 0..<20 {
            #expect(try await client.fetch(HTTPClient.Request(url: server.url("/"))).source == .stale)
        }
        await server.waitForRequests(count: 2)
        gate.open()
        await client.shutdown()
        #expect(server.requests.count == 2)
    }
}
