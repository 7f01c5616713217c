// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A transformer that throws an error.
private struct ThrowingTransformer: ImageTransformer {
    let identifier = "throwing"
    let error: ImageError

    func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        throw error
    }
}

@Suite("Data that a request can’t use", .timeLimit(.minutes(5)))
struct RefusedDataTests {
    private static let pixels = 300 * 200

    /// Returns a server with an image that is fresh for ten minutes. Without `padding`, it's too small for a check of
    /// its beginning.
    private func server(padding: Int = 0, cacheControl: String = "max-age=600") throws -> LoopbackServer {
        let body = try TestImages.png(1, width: 300, height: 200) + Data(repeating: 0, count: padding)
        return try LoopbackServer(routes: [
            "/a": .ok(body, contentType: "image/png").with { $0.headers["Cache-Control"] = cacheControl }
        ])
    }

    private func strict(_ server: LoopbackServer, _ fixture: ManagerFixture) -> ImageRequest {
        var request = ImageRequest(url: server.url("/a"))
        request.limits = fixture.manager.configuration.limits
        request.limits?.maxSourcePixels = Self.pixels - 1
        return request
    }

    /// Returns the code of a request for data, which is negative if the failure comes from the negative cache.
    private func dataCode(_ manager: ImageManager, _ request: ImageRequest) async -> Int? {
        do throws(ImageError) {
            _ = try await manager.data(for: request)
            return nil
        } catch {
            return error.signedCode
        }
    }

    private static let transformerErrors: [ImageError] = [
        .processing(.transformerFailed(transformer: "throwing", reason: "no")),
        .decoding(ImageError.DecodingFailure(.corrupted("an overlay"), format: .png)),
        .request(.rejected(reason: "no")),
    ]

    @Test(
        "Five requests with a failing transformer are one download, also after a restart", arguments: transformerErrors)
    func transformer(error: ImageError) async throws {
        let server = try server()
        var fixture = try ManagerFixture()
        let failing = ImageRequest(url: server.url("/a"), transformers: [ThrowingTransformer(error: error)])
        for _ in 0..<5 { #expect(await fixture.manager.code(of: failing) == error.code) }
        fixture = try await fixture.restarted()
        #expect(await fixture.manager.code(of: failing) == error.code)
        let plain = try await fixture.manager.response(for: ImageRequest(url: server.url("/a")))
        #expect(plain.source == .diskCache && plain.image.size == PixelSize(width: 300, height: 200))
        #expect(server.counters.requests == 1)
    }

    @Test("Data whose response has no length is stored if only a transformer failed, and not if it's truncated")
    func unknownLength() async throws {
        let body = try TestImages.png(1, width: 300, height: 200)
        let routes = ["/whole": body, "/cut": body.dropLast(300)].mapValues { body in
            LoopbackServer.Response.ok(body, contentType: "image/png").with {
                $0.headers["Cache-Control"] = "max-age=600"
                $0.framing = .connectionClose
                $0.ending = .close
            }
        }
        let server = try LoopbackServer(routes: routes)
        let fixture = try ManagerFixture()
        for path in ["/whole", "/cut"] {
            let error = Self.transformerErrors[0]
            let failing = ImageRequest(url: server.url(path), transformers: [ThrowingTransformer(error: error)])
            for _ in 0..<2 { _ = await fixture.manager.code(of: failing) }
            await fixture.manager.cache.flush()
            let stored = await fixture.manager.cachedTiers(for: ImageRequest(url: server.url(path)))
            #expect(stored == (path == "/whole" ? .disk : []))
        }
    }

    @Test("Five requests whose limit a small image exceeds are one download, and other requests use its data")
    func limit() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        let strict = strict(server, fixture)
        for _ in 0..<5 { #expect(await fixture.manager.code(of: strict) == 6011) }
        for _ in 0..<2 { #expect(await dataCode(fixture.manager, strict) == 6011) }
        let generous = try await fixture.manager.response(for: ImageRequest(url: server.url("/a")))
        #expect(generous.image.size == PixelSize(width: 300, height: 200))
        #expect(await dataCode(fixture.manager, ImageRequest(url: server.url("/a"))) == nil)
        // The image in memory was checked with other limits, and the data is checked with those of the request.
        #expect(await dataCode(fixture.manager, strict) == 6011)
        #expect(server.counters.requests == 1)
    }

    @Test("Data that must not be stored isn't kept after a failure")
    func noStore() async throws {
        let server = try server(cacheControl: "no-store")
        let fixture = try ManagerFixture()
        let strict = strict(server, fixture)
        for _ in 0..<2 { #expect(await fixture.manager.code(of: strict) == 6011) }
        await fixture.manager.cache.flush()
        #expect(await fixture.manager.cachedTiers(for: strict).isEmpty)
        #expect(server.counters.requests == 2)
    }

    @Test("A limit that ends the download of a large file is remembered as long as the response is fresh")
    func endedDownload() async throws {
        let server = try server(padding: 300_000)
        let fixture = try ManagerFixture()
        let strict = strict(server, fixture)
        #expect(await fixture.manager.code(of: strict) == 6011)
        for _ in 0..<4 { #expect(await fixture.manager.code(of: strict) == -6011) }
        #expect(server.counters.requests == 1)
        // The limits of another request apply to it alone.
        #expect(await fixture.manager.code(of: ImageRequest(url: server.url("/a"))) == nil)
        #expect(server.counters.requests == 2)
        await fixture.manager.removeCachedImage(for: strict)
        #expect(await fixture.manager.code(of: strict) == 6011)
        fixture.pass(seconds: 599)
        #expect(await fixture.manager.code(of: strict) == -6011)
        fixture.pass(seconds: 1)
        #expect(await fixture.manager.code(of: strict) == 6011)
        #expect(server.counters.requests == 4)
    }

    @Test("A file with too many bytes is remembered as long as its response is fresh, and otherwise isn't remembered")
    func tooManyBytes() async throws {
        for (cacheControl, requests) in [("max-age=600", 1), ("no-cache", 3), ("private", 3)] {
            let server = try server(padding: 100_000, cacheControl: cacheControl)
            let fixture = try ManagerFixture()
            var request = ImageRequest(url: server.url("/a"))
            request.limits = fixture.manager.configuration.limits
            request.limits?.maxEncodedBytes = 50_000
            for _ in 0..<3 { #expect(abs(await fixture.manager.code(of: request) ?? 0) == 6001) }
            #expect(server.counters.requests == requests)
        }
    }
}
