// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A download interceptor that calls a closure.
private struct Hook: DownloadInterceptor {
    let body: @Sendable (LoadRequest, Next) async throws(ImageError) -> LoadResponse

    func intercept(_ request: LoadRequest, next: Next) async throws(ImageError) -> LoadResponse {
        try await body(request, next)
    }
}

/// A body modifier that decrypts only the bodies of requests with a key in their custom data.
private struct Cipher: ResponseBodyModifier {
    func modify(_ body: Data, of head: HTTPResponseHead?, for request: LoadRequest) async throws(ImageError) -> Data {
        guard let key = request.userInfo["cipher"] as? UInt8 else { return body }
        return Data(body.map { $0 ^ key })
    }
}

@Suite("Download interceptors for single requests", .timeLimit(.minutes(5)))
struct PerRequestInterceptorTests {
    @Test("A body modifier decrypts only the requests that have a key, without a custom loader")
    func decryptor() async throws {
        let encrypted = Data(Numbered.data(1).map { $0 ^ 0x5A })
        let headers = Numbered.head(1).headers
        let server = try LoopbackServer(routes: [
            "/secret": LoopbackServer.Response(headers: headers, body: encrypted),
            "/plain": LoopbackServer.Response(headers: headers, body: Numbered.data(2)),
        ])
        let fixture = try ManagerFixture { $0.downloader.bodyModifiers = [Cipher()] }
        var secret = ImageRequest(url: server.url("/secret"))
        secret.userInfo["cipher"] = UInt8(0x5A)
        #expect(Numbered.number(of: try await fixture.manager.image(for: secret)) == 1)
        #expect(Numbered.number(of: try await fixture.manager.image(for: server.url("/plain"))) == 2)
        // The caches contain the decrypted data.
        #expect(try await fixture.manager.data(for: secret) == Numbered.data(1))
        #expect(server.requests.count == 2)
    }

    @Test("An interceptor changes the URL, the method, and the header fields of the requests that ask for it")
    func modifier() async throws {
        let head = Numbered.head(1)
        let server = try LoopbackServer { request in
            request.path == "/signed" && request.method == "POST" && request.headers["X-Token"] == "7"
                ? LoopbackServer.Response(headers: head.headers, body: Numbered.data(1))
                : LoopbackServer.Response(headers: head.headers, body: Numbered.data(2))
        }
        let signed = server.url("/signed")
        let keys = Shared<[CacheKey?]>([])
        let fixture = try ManagerFixture {
            $0.downloader.interceptors = [
                Hook { (request, next) async throws(ImageError) in
                    keys.update { $0.append(request.cacheKey) }
                    guard let token = request.userInfo["token"] as? Int else { return try await next(request) }
                    var changed = request
                    changed.url = signed
                    changed.method = "POST"
                    changed.headers["X-Token"] = "\(token)"
                    return try await next(changed)
                }
            ]
        }
        var request = ImageRequest(url: server.url("/a"))
        request.userInfo["token"] = 7
        #expect(Numbered.number(of: try await fixture.manager.image(for: request)) == 1)
        #expect(Numbered.number(of: try await fixture.manager.image(for: server.url("/b"))) == 2)
        #expect(keys.value == [request, ImageRequest(url: server.url("/b"))].map { fixture.manager.cacheKey(for: $0) })
        // The image is cached for the URL of the image request.
        #expect(try await fixture.manager.response(for: request).source == .memoryCache)
    }

    @Test(
        "An interceptor receives the status and the header fields of a response with a rejected status or type",
        arguments: [403, 200])
    func rejected(_ status: Int) async throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(
                statusCode: status, headers: ["X-Reason": "quota", "Content-Type": "text/plain"],
                body: Data("too many".utf8))
        }
        let seen = Shared<[ImageError.NetworkFailure]>([])
        let replacement = Numbered.data(3)
        let fixture = try ManagerFixture {
            $0.downloader.acceptableContentTypes = ["image/*"]
            $0.downloader.interceptors = [
                Hook { (request, next) async throws(ImageError) in
                    do throws(ImageError) {
                        return try await next(request)
                    } catch {
                        guard case .network(let failure) = error else { throw error }
                        seen.update { $0.append(failure) }
                        guard request.userInfo["substitute"] != nil else { throw error }
                        return LoadResponse(
                            httpResponse: HTTPResponseHead(statusCode: 200), body: replacement, url: request.url)
                    }
                }
            ]
        }
        let url = server.url("/a")
        await #expect(throws: ImageError.self) { try await fixture.manager.image(for: url) }
        #expect(seen.value.map(\.responseHead?.statusCode) == [status])
        #expect(seen.value.first?.responseHead?.headers["X-Reason"] == "quota")
        #expect(seen.value.first?.reason == (status == 200 ? .unacceptableContentType : .unacceptableStatusCode))
        var request = ImageRequest(url: url)
        request.caching.bypassesFailureCache = true
        request.userInfo["substitute"] = true
        #expect(Numbered.number(of: try await fixture.manager.image(for: request)) == 3)
    }
}
