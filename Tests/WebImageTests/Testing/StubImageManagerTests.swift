// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Stub manager for app tests", .timeLimit(.minutes(5)))
struct StubImageManagerTests {
    private let stub = StubImageManager()

    private func url(_ path: String) throws -> URL { try #require(URL(string: "https://example.org/\(path)")) }

    @Test("A stub responds by URL with images, colors, data, and errors, and records the requests")
    func answers() async throws {
        let image = Image(pixels: try TestPictures.pixels(1))
        stub.set(.image(image), for: try url("image"))
        stub.set(.color([1, 2, 3], width: 5, height: 4), for: try url("color"))
        stub.set(.data(try TestPictures.png(2)), for: try url("data"))
        stub.set(.failure(.decode(.empty)), for: try url("failure"))
        #expect(try await stub.manager.image(from: url("image")) === image)
        let color = try await stub.manager.image(from: url("color"))
        #expect(color.size == PixelSize(width: 5, height: 4))
        #expect(color.pixels.pixel(x: 4, y: 3).map { [$0.red, $0.green, $0.blue] } == [1, 2, 3])
        let small = ImageRequest(try url("data"), size: .fit(width: 16))
        #expect(try await stub.manager.image(for: small).size.width == 16)
        #expect(try await stub.manager.data(for: small) == TestPictures.png(2))
        await #expect(throws: ImageError.decode(.empty)) { try await stub.manager.image(from: url("failure")) }
        #expect(stub.requests.map(\.url.lastPathComponent) == ["image", "color", "data", "data", "failure"])
        #expect(stub.requests[2].size == .fit(width: 16))
    }

    @Test("A stub responds by predicate, with the most recent one first, and rejects requests without a response")
    func predicates() async throws {
        stub.set(.color([0, 0, 0], width: 1, height: 1), where: { _ in true })
        stub.set(.color([0, 0, 0], width: 2, height: 1), where: { $0.priority == .high })
        var request = ImageRequest(try url("a"))
        #expect(try await stub.manager.image(for: request).size.width == 1)
        request.priority = .high
        #expect(try await stub.manager.image(for: request).size.width == 2)
        let other = StubImageManager()
        await #expect(
            throws: ImageError.request(.refused(reason: "no response is set for https://example.org/a"))
        ) { try await other.manager.image(for: request) }
    }

    @Test("A stub returns several responses in sequence and repeats the last one, and setting responses restarts it")
    func turns() async throws {
        let url = try url("a")
        stub.set(
            .failure(.decode(.empty)), .color([0, 0, 0], width: 1, height: 1), .color([0, 0, 0], width: 2, height: 1),
            for: url)
        await #expect(throws: ImageError.decode(.empty)) { try await stub.manager.image(from: url) }
        for width in [1, 2, 2] { #expect(try await stub.manager.image(from: url).size.width == width) }
        stub.set(.color([0, 0, 0], width: 3, height: 1), for: url)
        #expect(try await stub.manager.image(from: url).size.width == 3)
    }

    @Test("A stub holds a response until its gate opens, and a canceled request ends immediately")
    func gates() async throws {
        let (gate, url) = (Gate(), try url("a"))
        stub.set(.color([0, 0, 0], width: 1, height: 1, gate: gate), for: url)
        let waiting = stub.manager.load(url)
        let cancelled = stub.manager.load(url)
        await stub.waitForRequests(count: 2)
        #expect(waiting.result == nil)
        cancelled.cancel()
        await #expect(throws: ImageError.request(.cancelled)) { try await cancelled.image }
        gate.open()
        #expect(try await waiting.image.size.width == 1)
    }
}
