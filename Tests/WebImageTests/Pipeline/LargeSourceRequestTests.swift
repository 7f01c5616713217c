// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Requests for small images of large sources", .timeLimit(.minutes(5)))
struct LargeSourceRequestTests {
    /// A JPEG file of 72 megapixels, which exceeds the limit for decoded pixels.
    private static let file = LargeImages.jpeg(width: 9_000, height: 8_000)

    private func failure(_ fixture: ManagerFixture, _ request: ImageRequest) async -> ImageError.LimitFailure? {
        do throws(ImageError) {
            _ = try await fixture.manager.image(for: request)
            return nil
        } catch {
            guard case .limitExceeded(let failure) = error else { return nil }
            return failure
        }
    }

    @Test("A small image is accepted before and after a request without a size is rejected")
    func order() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(Self.file, contentType: "image/jpeg")])
        let fixture = try ManagerFixture()
        let whole = ImageRequest(url: server.url("/a"))
        for width in [300.0, 200] {
            let rejected = await failure(fixture, whole)
            #expect(rejected?.kind == .pixelCount && rejected?.actual == 72_000_000)
            let image = try await fixture.manager.image(
                for: ImageRequest(url: server.url("/a"), size: .fit(width: width)))
            #expect(image.size.width == Int(width))
        }
    }

    @Test("Concurrent requests share the load of a large file although only one of them can be decoded")
    func concurrent() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(Self.file, contentType: "image/jpeg")])
        let fixture = try ManagerFixture()
        let whole = ImageRequest(url: server.url("/a"))
        let small = ImageRequest(url: server.url("/a"), size: .fit(width: 300))
        async let rejected = failure(fixture, whole)
        async let image = fixture.manager.image(for: small)
        let width = try await image.size.width
        #expect(width == 300)
        let kind = await rejected?.kind
        #expect(kind == .pixelCount)
    }

    @Test("The limit for the size in the header rejects the file at every size")
    func header() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(Self.file, contentType: "image/jpeg")])
        let fixture = try ManagerFixture { $0.limits.maxSourcePixels = 71_999_999 }
        let small = ImageRequest(url: server.url("/a"), size: .fit(width: 300))
        let rejected = await failure(fixture, small)
        #expect(rejected == ImageError.LimitFailure(.sourcePixelCount, limit: 71_999_999, actual: 72_000_000))
        await fixture.manager.diskCache?.flush()
        #expect(await fixture.manager.diskCache?.entries().isEmpty == true)
    }

    @Test("A decode charges the budget with the reduced image if the decoder reduces it, and else with the whole image")
    func cost() throws {
        let info = try ImageInfo(data: Self.file)
        let coders = ImageCoderRegistry.standard
        let small = ImageDecodingOptions(size: .fit(width: 300))
        // libjpeg reduces to an eighth of each side, and then the image is resampled to 300 × 267.
        #expect(DecodeStage.cost(info, small, coders) == 1_125 * 1_000 * 4 + 2 * 300 * 267 * 4)
        #expect(DecodeStage.cost(info, ImageDecodingOptions(), coders) == 72_000_000 * 4)
        let gif = ImageInfo(format: .gif, storedSize: PixelSize(width: 9_000, height: 8_000))
        #expect(DecodeStage.cost(gif, small, coders) == 72_000_000 * 4)
        #expect(DecodeStage.cost(nil, small, coders) == 0)
    }

    @Test("A small image of a large source is accepted under critical memory pressure")
    func pressure() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(Self.file, contentType: "image/jpeg")])
        let fixture = try ManagerFixture()
        fixture.manager.configuration.memoryPressureMonitor.report(.critical)
        let small = ImageRequest(url: server.url("/a"), size: .fit(width: 300))
        #expect(try await fixture.manager.image(for: small).size.width == 300)
    }
}
