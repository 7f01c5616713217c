// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

/// An interceptor that calls a closure.
private struct Hook: DownloadInterceptor {
    let body: @Sendable (LoadRequest, Next) async throws(ImageError) -> LoadResponse

    func intercept(_ request: LoadRequest, next: Next) async throws(ImageError) -> LoadResponse {
        try await body(request, next)
    }
}

/// A response interceptor that inverts every byte, like a simple cipher.
private struct Inverter: ResponseBodyModifier {
    var failure: ImageError?

    func modify(_ body: Data, of head: HTTPResponseHead?, for request: LoadRequest) async throws(ImageError) -> Data {
        if let failure { throw failure }
        return Data(body.map { ~$0 })
    }
}

/// A response interceptor that doubles the body.
private struct Doubler: ResponseBodyModifier {
    func modify(_ body: Data, of head: HTTPResponseHead?, for request: LoadRequest) async throws(ImageError) -> Data {
        body + body
    }
}

@Suite("Interceptors", .timeLimit(.minutes(5)))
struct InterceptorTests {
    private let body = patternBytes(10_000)

    @Test("The first interceptor is the outermost, and each can change the request and read the response")
    func order() async throws {
        let server = try LoopbackServer { [body] _ in .ok(body) }
        let log = Shared<[String]>([])
        func hook(_ name: String) -> Hook {
            Hook { (request, next) async throws(ImageError) in
                log.update { $0.append("\(name) asks") }
                var request = request
                request.headers.append(name: "X-Hook", value: name)
                let response = try await next(request)
                log.update { $0.append("\(name) has") }
                return response
            }
        }
        let downloader = makeDownloader { $0.interceptors = [hook("a"), hook("b")] }
        #expect(try await downloader.load(server.url("/")).body == body)
        #expect(log.value == ["a asks", "b asks", "b has", "a has"])
        #expect(server.requests.first?.headers.values(for: "X-Hook") == ["a", "b"])
    }

    @Test("An interceptor can return its own response, throw an error, or retry the request")
    func answers() async throws {
        let server = try LoopbackServer { [body] in $0.headers["Authorization"] == "Bearer 2" ? .ok(body) : .status(401)
        }
        let own = makeDownloader {
            $0.interceptors = [
                Hook { (request, _) async throws(ImageError) in
                    LoadResponse(
                        body: Data("own".utf8), url: request.url, requestDate: .distantPast,
                        responseDate: .distantPast)
                }
            ]
        }
        #expect(try await own.load(server.url("/")).body == Data("own".utf8))
        #expect(await own.failure(server.url("/")) { $0.maxByteCount = 2 }?.code == 6001)
        let refusing = makeDownloader {
            $0.interceptors = [Hook { (_, _) async throws(ImageError) in throw .request(.unsupportedScheme("x")) }]
        }
        #expect(await refusing.failure(server.url("/")) == .request(.unsupportedScheme("x")))
        #expect(server.counters.requests == 0)
        let renewing = makeDownloader {
            $0.interceptors = [
                Hook { (request, next) async throws(ImageError) in
                    var request = request
                    request.headers["Authorization"] = "Bearer 1"
                    do throws(ImageError) {
                        return try await next(request)
                    } catch .network(let error) where error.reason == .authenticationRequired {
                        request.headers["Authorization"] = "Bearer 2"
                        return try await next(request)
                    }
                }
            ]
        }
        #expect(try await renewing.load(server.url("/")).body == body)
        #expect(server.counters.requests == 2)
    }

    @Test("Cancellation passes through interceptors, and no further request is sent")
    func cancellation() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { [body] _ in .ok(body).with { $0.headGate = gate } }
        let ended = Shared(false)
        let downloader = makeDownloader {
            $0.interceptors = [
                Hook { (request, next) async throws(ImageError) in
                    do {
                        return try await next(request)
                    } catch {
                        ended.value = true
                        return try await next(request)
                    }
                }
            ]
        }
        let url = server.url("/")
        let task = Task { await downloader.failure(url) }
        await server.waitForRequests(count: 1)
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(ended.value && server.counters.requests == 1)
        gate.open()
    }

    @Test("Changed bodies are reported only when complete, and parts of the original aren't reported")
    func bodies() async throws {
        let server = try LoopbackServer { [body] _ in .ok(Data(body.map { ~$0 })).with { $0.chunkSize = 1_000 } }
        let downloader = makeDownloader { $0.bodyModifiers = [Inverter(), Doubler()] }
        let log = ReportLog()
        let response = try await downloader.load(LoadRequest(url: server.url("/")), context: log.context())
        #expect(response.body == body + body && log.body == body + body)
        #expect(log.expected == 20_000 && log.started == 1 && log.status == 200)
        #expect(await downloader.failure(server.url("/")) { $0.maxByteCount = 15_000 }?.code == 6001)
        let broken = ImageError.decoding(.corrupted(format: .png, reason: "cipher"))
        let failing = makeDownloader { $0.bodyModifiers = [Inverter(failure: broken)] }
        #expect(await failing.failure(server.url("/")) == broken)
    }

    @Test("A 304 response has no body to change, and priorities still reach the queue")
    func notModified() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { _ in .status(304).with { $0.headGate = gate } }
        let downloader = makeDownloader { $0.bodyModifiers = [Doubler()] }
        let context = LoadContext()
        let url = server.url("/")
        var request = LoadRequest(url: url)
        request.acceptsNotModified = true
        let task = Task { [request] in try await downloader.load(request, context: context) }
        await server.waitForRequests(count: 1)
        context.priority = .high
        gate.open()
        let response = try await task.value
        #expect(response.isNotModified && response.body.isEmpty)
    }
}
