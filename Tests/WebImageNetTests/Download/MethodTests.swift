// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

@Suite("Methods and bodies of loads", .timeLimit(.minutes(5)))
struct LoadMethodTests {
    private let image = patternBytes(1_000)
    private let form = Data("shape=circle".utf8)

    @Test("The method, the body, and its content type are sent", arguments: ["POST", "PUT", "PATCH", "REPORT"])
    func sent(method: String) async throws {
        let server = try LoopbackServer { [image] _ in .ok(image) }
        let response = try await makeDownloader().load(server.url("/a")) {
            $0.method = method
            $0.body = form
            $0.headers["Content-Type"] = "application/x-www-form-urlencoded"
        }
        #expect(response.body == image)
        let request = try #require(server.requests.first)
        #expect(request.method == method && request.body == form)
        #expect(request.headers["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test("A method that isn't a token is rejected before anything is sent")
    func invalid() async throws {
        let server = try LoopbackServer { [image] _ in .ok(image) }
        for method in ["", "A B", "GET\r\nX: 1"] {
            let error = await makeDownloader().failure(server.url("/a")) { $0.method = method }
            #expect(error == .request(.invalidOption(name: "method", value: method)))
        }
        #expect(server.counters.requests == 0)
    }

    @Test(
        "Redirects change the method and drop the body as the Fetch standard requires",
        arguments: [301, 302, 303, 307, 308], ["GET", "HEAD", "POST", "PUT"])
    func redirects(status: Int, method: String) async throws {
        let server = try LoopbackServer { [image] request in
            request.path == "/a" ? .redirect(status, to: "/b") : .ok(image)
        }
        let hasBody = method == "POST" || method == "PUT"
        // The response to HEAD is empty, so only the requests count.
        _ = await makeDownloader().failure(server.url("/a")) {
            $0.method = method
            if hasBody {
                $0.body = form
                $0.headers["Content-Type"] = "text/plain"
            }
        }
        let becomesGet =
            switch status {
            case 301, 302: method == "POST"
            case 303: hasBody
            default: false
            }
        let last = try #require(server.requests.last)
        #expect(server.requests.count == 2 && last.path == "/b")
        #expect(last.method == (becomesGet ? "GET" : method))
        #expect(last.body == (hasBody && !becomesGet ? form : Data()))
        #expect(last.headers["Content-Type"] == (hasBody && !becomesGet ? "text/plain" : nil))
    }

    @Test("A redirect to another origin sends the body with its content type, but no credentials")
    func crossOrigin() async throws {
        let target = try LoopbackServer { [image] _ in .ok(image) }
        let location = target.url("/b").absoluteString
        let server = try LoopbackServer { _ in .redirect(307, to: location) }
        _ = try await makeDownloader().load(server.url("/a")) {
            $0.method = "POST"
            $0.body = form
            $0.headers["Content-Type"] = "text/plain"
            $0.headers["Authorization"] = "Bearer secret"
        }
        let last = try #require(target.requests.last)
        #expect(last.method == "POST" && last.body == form)
        #expect(last.headers["Content-Type"] == "text/plain" && last.headers["Authorization"] == nil)
    }

    @Test("Only idempotent requests are retried, unless the request has its own policy")
    func retries() async throws {
        let policy = RetryPolicy(maxAttempts: 3, baseDelay: .zero)
        for (method, hasPolicy, count) in [
            ("GET", false, 3), ("PUT", false, 3), ("POST", false, 1), ("PATCH", false, 1), ("POST", true, 3),
        ] {
            let server = try LoopbackServer { _ in .status(503) }
            let downloader = makeDownloader { $0.retry = policy }
            let error = await downloader.failure(server.url("/a")) {
                $0.method = method
                if hasPolicy { $0.network.retry = policy }
            }
            #expect(error?.network?.statusCode == 503)
            #expect(server.counters.requests == count, "\(method)")
        }
    }

    @Test("Requests are equal if they have the same method and body, regardless of their custom data")
    func equality() throws {
        let request = LoadRequest(url: try #require(URL(string: "https://example.org/a")))
        var other = request
        other.userInfo["row"] = 1
        #expect(other == request && other.hashValue == request.hashValue)
        other.method = "POST"
        #expect(other != request && other.userInfo.count == 1)
        other.method = "GET"
        #expect(other == request)
        other.body = form
        #expect(other != request)
        #expect(request.method == "GET" && request.body.isEmpty && request.userInfo.isEmpty)
    }
}
