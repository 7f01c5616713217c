// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Rows 1, 10, 15, 16, 42, 45, and 46: from the response to the image", .timeLimit(.minutes(5)))
struct ImageTableTests {
    private func failure(_ fixture: ManagerFixture, _ url: URL) async -> ImageError? {
        do throws(ImageError) {
            _ = try await fixture.manager.image(for: url)
            return nil
        } catch {
            return error
        }
    }

    private func storedCount(_ fixture: ManagerFixture) async -> Int? {
        await fixture.manager.diskCache?.flush()
        return await fixture.manager.diskCache?.entries().count
    }

    @Test("Row 1: a redirected image is cached under the first URL and reports the final URL")
    func redirected() async throws {
        let picture = try TestImages.png(1)
        let server = try LoopbackServer(routes: [
            "/a": .redirect(to: "/b").with { $0.headers["Cache-Control"] = "max-age=60" },
            "/b": .ok(picture, contentType: "image/png").with { $0.headers["Cache-Control"] = "max-age=60" },
        ])
        var fixture = try ManagerFixture()
        let first = try await fixture.manager.response(for: ImageRequest(url: server.url("/a")))
        #expect(first.url == server.url("/a") && first.finalURL == server.url("/b"))
        #expect(try fixture.manager.load(server.url("/a")).result?.get().source == .memoryCache)
        fixture = try await fixture.restarted()
        let stored = try await fixture.manager.response(for: ImageRequest(url: server.url("/a")))
        #expect(stored.source == .diskCache && stored.finalURL == server.url("/b"))
        #expect(server.counters.requests == 2)
    }

    @Test(
        "Row 1: a redirect without freshness is requested again although its target is fresh", arguments: [false, true])
    func changingRedirect(restarts: Bool) async throws {
        let places = ["/b": 1, "/c": 2]
        let target = Shared("/b")
        let pictures = try places.mapValues { try TestImages.png($0) }
        let server = try LoopbackServer { request in
            guard let picture = pictures[request.target] else { return .redirect(to: target.value) }
            return .ok(picture, contentType: "image/png").with { $0.headers["Cache-Control"] = "max-age=60" }
        }
        var fixture = try ManagerFixture()
        for place in ["/b", "/c"] {
            target.value = place
            let response = try await fixture.manager.response(for: ImageRequest(url: server.url("/a")))
            #expect(response.source == .network && response.finalURL == server.url(place))
            #expect(response.image.originalInfo?.digest == pictures[place].map { ContentDigest(of: $0) })
            if restarts { fixture = try await fixture.restarted() }
        }
        #expect(server.counters.requests == 4)
    }

    @Test("Row 15, N-24: neither a truncated image without a length nor its data is cached")
    func cutWithoutLength() async throws {
        let picture = try TestImages.png(1)
        let server = try LoopbackServer { _ in
            .ok(picture.prefix(picture.count / 2), contentType: "image/png").with {
                $0.framing = .connectionClose
                $0.headers["Cache-Control"] = "max-age=60"
            }
        }
        let fixture = try ManagerFixture()
        guard case .decoding = await failure(fixture, server.url("/a")) else {
            Issue.record("a truncated image was accepted")
            return
        }
        #expect(await storedCount(fixture) == 0)
        _ = try? await fixture.manager.data(for: ImageRequest(url: server.url("/a")))
        #expect(await storedCount(fixture) == 0)
    }

    @Test("Row 15: an image without a length whose checksums are missing is partial and isn't cached")
    func cutChecksums() async throws {
        let picture = try TestImages.png(1)
        let server = try LoopbackServer { _ in
            // The end chunk and the checksums of the pixels have 20 bytes.
            .ok(picture.prefix(picture.count - 20), contentType: "image/png").with {
                $0.framing = .connectionClose
                $0.headers["Cache-Control"] = "max-age=60"
            }
        }
        let fixture = try ManagerFixture()
        let image = try await fixture.manager.image(for: server.url("/a"))
        #expect(image.metadata.isPartial && image.size == PixelSize(width: 64, height: 48))
        #expect(await storedCount(fixture) == 0)
    }

    @Test("Row 15: a complete image without a length is cached after it's decoded")
    func wholeWithoutLength() async throws {
        let picture = try TestImages.png(1)
        let server = try LoopbackServer { _ in
            .ok(picture, contentType: "image/png").with {
                $0.framing = .connectionClose
                $0.headers["Cache-Control"] = "max-age=60"
            }
        }
        let fixture = try ManagerFixture()
        _ = try await fixture.manager.image(for: server.url("/a"))
        #expect(await storedCount(fixture) == 1)
    }

    @Test("Row 16, N-24: a body that is shorter than its length is neither decoded nor cached")
    func shortBody() async throws {
        let picture = try TestImages.png(1)
        let server = try LoopbackServer { _ in
            .ok(picture, contentType: "image/png").with { $0.framing = .wrongContentLength(picture.count + 100) }
        }
        let coder = CountingCoder()
        let fixture = try ManagerFixture { $0.coders.register(coder) }
        guard case .network(let error) = await failure(fixture, server.url("/a")) else {
            Issue.record("a short body was accepted")
            return
        }
        #expect(error.reason == .connectionLost)
        #expect(coder.decodes == 0)
        #expect(await storedCount(fixture) == 0)
    }

    @Test(
        "Row 42: the data determines the format regardless of the content type",
        arguments: [
            "image/jpeg", "text/html", "application/octet-stream", "nonsense", "",
        ])
    func types(_ type: String) async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(try TestImages.png(1), contentType: type)])
        let fixture = try ManagerFixture()
        #expect(try await fixture.manager.image(for: server.url("/a")).size == PixelSize(width: 64, height: 48))
    }

    @Test(
        "Row 42: pages and text are distinguished from images, not cached, and requested again after one minute",
        arguments: [
            ("<!DOCTYPE html><title>Sign in</title>", ImageFormat.html), ("{\"error\": 1}", .json),
            ("Image not found, sorry", .text),
        ])
    func pages(_ text: String, kind: ImageFormat) async throws {
        let server = try LoopbackServer { _ in
            .ok(Data(text.utf8), contentType: "image/png").with { $0.headers["Cache-Control"] = "max-age=60" }
        }
        let fixture = try ManagerFixture()
        let expected = ImageError.decoding(.notAnImage(kind, status: 200, contentType: "image/png"))
        for requests in 1...2 {
            #expect(await failure(fixture, server.url("/a")) == expected)
            let again = await failure(fixture, server.url("/a"))
            #expect(again?.rememberedUntil != nil && again?.remembered(until: nil) == expected)
            #expect(server.counters.requests == requests)
            fixture.pass(seconds: 60)
        }
        #expect(await storedCount(fixture) == 0)
    }

    @Test("Row 45: a corrupt image throws a decode error, isn't cached, and doesn't replace a valid entry")
    func brokenPicture() async throws {
        let good = try TestImages.png(1)
        let broken = try TestImages.corruptPNG(1)
        let server = try LoopbackServer { request in
            .ok(request.index == 1 ? broken : good, contentType: "image/png").with {
                $0.headers["Cache-Control"] = "max-age=60"
            }
        }
        let fixture = try ManagerFixture()
        _ = try await fixture.manager.image(for: server.url("/a"))
        var again = ImageRequest(url: server.url("/a"))
        again.cachePolicy = .reload
        do throws(ImageError) {
            _ = try await fixture.manager.image(for: again)
            Issue.record("an invalid image was accepted")
        } catch {
            guard case .decoding = error else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(await storedCount(fixture) == 1)
        let restarted = try await fixture.restarted()
        #expect(try await restarted.manager.response(for: ImageRequest(url: server.url("/a"))).source == .diskCache)
        #expect(server.counters.requests == 2)
    }

    @Test("Row 46: an image with too many pixels is rejected by its header without an allocation")
    func bomb() async throws {
        var head = try TestImages.png(1)
        // Write an IHDR chunk with 60,000 × 60,000 pixels and a correct CRC.
        head.replaceSubrange(16..<24, with: [0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60])
        head.replaceSubrange(29..<33, with: withUnsafeBytes(of: Self.crc(head[12..<29]).bigEndian) { Data($0) })
        let bytes = head
        let coder = CountingCoder()
        let server = try LoopbackServer(routes: ["/a": .ok(bytes, contentType: "image/png")])
        let fixture = try ManagerFixture { $0.coders.register(coder) }
        let error = await failure(fixture, server.url("/a"))
        guard case .limitExceeded(let limit) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(limit.actual == 60_000 * 60_000 || limit.actual == 60_000, "\(limit)")
        #expect(coder.decodes == 0)
        // A request with other limits can use the data.
        #expect(await storedCount(fixture) == 1)
    }

    /// Returns the CRC-32 of PNG (ISO 3309).
    private static func crc(_ bytes: Data) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0xedb8_8320 : 0) }
        }
    }
}
