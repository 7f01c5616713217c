// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// An interceptor made of a closure.
private struct Stage: RequestInterceptor {
    let body: @Sendable (ImageRequest, Next) async throws(ImageError) -> RequestAnswer

    func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> RequestAnswer {
        try await body(request, next)
    }
}

@Suite("Interceptors of requests", .timeLimit(.minutes(1)))
struct InterceptorTests {
    private let loader = StubLoader()
    private let web: URL

    init() throws {
        web = try #require(URL(string: "https://example.org/a.png"))
        loader.set(.init(body: try TestPictures.png(1)), for: web)
    }

    private func fixture(_ interceptors: any RequestInterceptor...) throws -> ManagerFixture {
        try ManagerFixture { [loader] configuration in
            configuration.loaders = [loader]
            configuration.interceptors = interceptors
            configuration.cachePolicy = .cacheFirst
        }
    }

    @Test("an options processor changes every request, and pictures in memory still come at once")
    func options() async throws {
        let fixture = try fixture(
            .options {
                $0.size = .fit(width: 10)
                $0.cachePolicy = .cacheFirst
            })
        #expect(try await fixture.manager.image(from: web).size.width == 10)
        #expect(fixture.manager.cachedImage(for: ImageRequest(web))?.size.width == 10)
        let task = fixture.manager.load(web)
        #expect(try task.result?.get().origin == .memory)
        await fixture.manager.removeCached(ImageRequest(web))
        #expect(fixture.manager.cachedImage(for: ImageRequest(web)) == nil)
    }

    @Test("an interceptor may change the request, and the first one is outermost")
    func order() async throws {
        let log = Lock<[String]>([])
        func stage(_ name: String, _ width: Double) -> Stage {
            Stage { (request, next) async throws(ImageError) in
                log.withLock { $0.append("\(name) in") }
                var changed = request
                changed.size = .fit(width: width)
                let answer = try await next(changed)
                log.withLock { $0.append("\(name) out") }
                return answer
            }
        }
        let fixture = try fixture(stage("first", 10), stage("second", 20))
        #expect(try await fixture.manager.image(from: web).size.width == 20)
        #expect(log.withLock { $0 } == ["first in", "second in", "second out", "first out"])
        // Memory answers behind the interceptors.
        let again = try await fixture.manager.response(for: ImageRequest(web))
        #expect(again.origin == .memory && log.withLock { $0.count } == 8)
    }

    @Test("an interceptor may answer with a picture or with bytes; nothing is loaded or stored")
    func answers() async throws {
        let bytes = try TestPictures.png(2, width: 30, height: 20)
        let picture = Image(pixels: try TestPictures.pixels(3, width: 7, height: 5))
        let fixture = try fixture(
            Stage { (request, _) async throws(ImageError) in request.key == "bytes" ? .data(bytes) : .image(picture) })
        var request = ImageRequest(web)
        let answer = try await fixture.manager.response(for: request)
        #expect(answer.image === picture && answer.origin == .local)
        #expect(try await fixture.manager.data(for: request).isEmpty == false)
        request.key = "bytes"
        request.size = .fit(width: 15)
        request.wantsData = true
        let decoded = try await fixture.manager.response(for: request)
        #expect(decoded.image.size == PixelSize(width: 15, height: 10) && decoded.data == bytes)
        #expect(try await fixture.manager.data(for: request) == bytes)
        #expect(loader.requests.isEmpty && fixture.manager.cachedImage(for: request) == nil)
        request.limits = Limits.desktop
        request.limits?.maxEncodedBytes = 10
        let limited = request
        await #expect(throws: ImageError.self) { try await fixture.manager.data(for: limited) }
        await #expect(throws: ImageError.self) { try await fixture.manager.image(for: limited) }
    }

    @Test("an interceptor may try again")
    func retries() async throws {
        let lost = ImageError.network(NetworkError(.cannotFindHost, url: web.absoluteString, phase: .resolve))
        loader.set(.init(error: lost), .init(body: try TestPictures.png(1)), for: web)
        let fixture = try fixture(
            Stage { (request, next) async throws(ImageError) in
                do throws(ImageError) {
                    return try await next(request)
                } catch {
                    var again = request
                    again.ignoresFailures = true
                    return try await next(again)
                }
            })
        #expect(try await fixture.manager.response(for: ImageRequest(web)).origin == .network)
        #expect(loader.requests.count == 2)
    }

    @Test("an interceptor may refuse, before anything is looked at")
    func refuses() async throws {
        let refusal = ImageError.request(.refused(reason: "no network today"))
        let fixture = try fixture(Stage { (_, _) async throws(ImageError) in throw refusal })
        await #expect(throws: refusal) { try await fixture.manager.image(from: web) }
        await #expect(throws: refusal) { try await fixture.manager.data(for: ImageRequest(web)) }
        #expect(refusal.code == 1011 && loader.requests.isEmpty)
    }

    @Test("an answer may be changed on its way out")
    func changes() async throws {
        let fixture = try fixture(
            Stage { (request, next) async throws(ImageError) in
                guard case .response(var response) = try await next(request) else { return try await next(request) }
                response.data = Data([1])
                return .response(response)
            })
        #expect(try await fixture.manager.response(for: ImageRequest(web)).data == Data([1]))
    }

    @Test("a cancelled request ends at once, and what its interceptors run is cancelled")
    func cancelled() async throws {
        let reached = Gate()
        let held = Gate()
        let ended = Gate()
        let fixture = try fixture(
            Stage { (request, next) async throws(ImageError) in
                reached.open()
                await held.wait()
                defer { ended.open() }
                return try await next(request)
            })
        let task = fixture.manager.load(web)
        await reached.wait()
        task.cancel()
        #expect(await task.eventNames() == ["started", "failed 1001"])
        await ended.wait()
        #expect(loader.requests.isEmpty && fixture.manager.runningJobs == 0)
    }
}
