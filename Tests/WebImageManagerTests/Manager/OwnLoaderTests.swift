// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A loader for one scheme that returns an image whose width identifies the loader.
private struct SchemeLoader: ImageLoader {
    let scheme: String
    let width: Int

    func canLoad(_ url: URL) -> Bool { url.scheme == scheme }

    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        guard let body = try? TestImages.png(1, width: width, height: 4) else { throw .decoding(.noData) }
        return LoadResponse(body: body, url: request.url)
    }
}

/// A loader that reports a wait reason and responds when the gate opens.
private struct WaitingLoader: ImageLoader {
    let gate: TestGate

    func canLoad(_ url: URL) -> Bool { true }

    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        context.report(.waiting(.rateLimit))
        await gate.wait()
        guard let body = try? TestImages.png(1) else { throw .decoding(.noData) }
        return LoadResponse(body: body, url: request.url)
    }
}

@Suite("Custom loaders", .timeLimit(.minutes(5)))
struct OwnLoaderTests {
    @Test("The last loader that can load a URL runs before the built-in ones, and an unsupported scheme throws")
    func order() async throws {
        let fixture = try ManagerFixture {
            $0.loaders = [
                SchemeLoader(scheme: "app", width: 10), SchemeLoader(scheme: "app", width: 11),
                SchemeLoader(scheme: "other", width: 12), SchemeLoader(scheme: "https", width: 13),
            ]
        }
        for (text, width) in [("app:a", 11), ("other:a", 12), ("https://example.org/a", 13)] {
            let response = try await fixture.manager.response(for: ImageRequest(url: try #require(URL(string: text))))
            #expect(response.image.size.width == width && response.source == .local)
        }
        let unknown = try #require(URL(string: "nobody:a"))
        await #expect(throws: ImageError.request(.unsupportedScheme("nobody"))) {
            try await fixture.manager.image(for: unknown)
        }
    }

    @Test("A custom loader reports the reason for its wait")
    func waiting() async throws {
        let gate = TestGate()
        let fixture = try ManagerFixture { $0.loaders = [WaitingLoader(gate: gate)] }
        let task = fixture.manager.load(try #require(URL(string: "https://example.org/a.png")))
        var reasons: [WaitReason] = []
        for await event in task.events {
            guard case .waiting(let reason) = event else { continue }
            reasons.append(reason)
            gate.open()
        }
        #expect(reasons == [.rateLimit])
        _ = try await task.image
    }
}
