// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Stub manager for app tests", .timeLimit(.minutes(5)))
struct StubImageManagerTests {
    private let stub = StubImageManager()

    private func url(_ path: String) throws -> URL { try #require(URL(string: "https://example.org/\(path)")) }

    @Test("A stub responds by URL with images, colors, data, and errors, and records the requests")
    func answers() async throws {
        let image = DecodedImage(pixels: try TestImages.pixels(1))
        stub.respond(to: try url("image"), with: .image(image))
        stub.respond(to: try url("color"), with: .color(PixelColor(red: 1, green: 2, blue: 3), width: 5, height: 4))
        stub.respond(to: try url("data"), with: .data(try TestImages.png(2)))
        stub.respond(to: try url("failure"), with: .failure(.decoding(.noData)))
        #expect(try await stub.manager.image(for: url("image")) === image)
        let color = try await stub.manager.image(for: url("color"))
        #expect(color.size == PixelSize(width: 5, height: 4))
        #expect(color.pixels.pixel(x: 4, y: 3).map { [$0.red, $0.green, $0.blue] } == [1, 2, 3])
        let small = ImageRequest(url: try url("data"), size: .fit(width: 16))
        #expect(try await stub.manager.image(for: small).size.width == 16)
        #expect(try await stub.manager.data(for: small) == TestImages.png(2))
        await #expect(throws: ImageError.decoding(.noData)) { try await stub.manager.image(for: url("failure")) }
        #expect(stub.requests.map(\.url.lastPathComponent) == ["image", "color", "data", "data", "failure"])
        #expect(stub.requests[2].size == .fit(width: 16))
    }

    @Test("A stub decodes data for every cache policy and custom loader, and stores nothing")
    func data() async throws {
        let (url, png) = (try url("data.png"), try TestImages.png(2))
        stub.respond(to: url, with: .data(png))
        for policy in CachePolicy.allCases {
            var request = ImageRequest(url: url, transformers: [.pad(4)])
            request.cachePolicy = policy
            request.loader = StubLoader()
            request.caching.key = "key"
            request.includesOriginalData = true
            let response = try await stub.manager.response(for: request)
            #expect(response.image.size == PixelSize(width: 72, height: 56), "\(policy)")
            #expect(response.originalData == png && response.url == url)
            #expect(response.source == .local && stub.manager.memoryCache.statistics.count == 0)
        }
    }

    @Test("A stub responds by predicate, with the most recent one first, and rejects requests without a response")
    func predicates() async throws {
        stub.respond(with: .color(.black, width: 1, height: 1), where: { _ in true })
        stub.respond(with: .color(.black, width: 2, height: 1), where: { $0.priority == .high })
        var request = ImageRequest(url: try url("a"))
        #expect(try await stub.manager.image(for: request).size.width == 1)
        request.priority = .high
        #expect(try await stub.manager.image(for: request).size.width == 2)
        let other = StubImageManager()
        await #expect(
            throws: ImageError.request(.rejected(reason: "no response is set for https://example.org/a"))
        ) { try await other.manager.image(for: request) }
    }

    @Test("A stub returns several responses in sequence and repeats the last one, and setting responses restarts it")
    func turns() async throws {
        let url = try url("a")
        stub.respond(
            to: url,
            with: .failure(.decoding(.noData)), .color(.black, width: 1, height: 1),
            .color(.black, width: 2, height: 1))
        await #expect(throws: ImageError.decoding(.noData)) { try await stub.manager.image(for: url) }
        for width in [1, 2, 2] { #expect(try await stub.manager.image(for: url).size.width == width) }
        stub.respond(to: url, with: .color(.black, width: 3, height: 1))
        #expect(try await stub.manager.image(for: url).size.width == 3)
    }

    @Test("A stub holds a response until its gate opens, and a canceled request ends immediately")
    func gates() async throws {
        let (gate, url) = (TestGate(), try url("a"))
        stub.respond(to: url, with: .color(.black, width: 1, height: 1, gate: gate))
        let waiting = stub.manager.load(url)
        let cancelled = stub.manager.load(url)
        await stub.waitForRequests(count: 2)
        #expect(waiting.result == nil)
        cancelled.cancel()
        await #expect(throws: ImageError.cancelled) { try await cancelled.image }
        gate.open()
        #expect(try await waiting.image.size.width == 1)
    }
}
