// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Invalid images cause typed errors and aren't cached", .timeLimit(.minutes(5)))
struct HostileInputTests {
    private func fails(_ body: Data, type: String = "image/png", status: Int = 200) async throws -> ImageError? {
        let server = try LoopbackServer { _ in .ok(body, contentType: type).with { $0.statusCode = status } }
        let fixture = try ManagerFixture()
        var caught: ImageError?
        do throws(ImageError) {
            _ = try await fixture.manager.image(for: server.url("/a"))
        } catch {
            caught = error
        }
        await fixture.manager.diskCache?.flush()
        #expect(await fixture.manager.diskCache?.entries().isEmpty == true)
        return caught
    }

    @Test("HTML instead of an image is reported as HTML")
    func html() async throws {
        let page = Data("<!DOCTYPE html><html><body>Sign in</body></html>".utf8)
        #expect(
            try await fails(page, type: "image/jpeg")
                == .decoding(.notAnImage(.html, status: 200, contentType: "image/jpeg")))
    }

    private func result(_ format: ImageFormat) -> ImageError {
        .decoding(.notAnImage(format, status: 200, contentType: "image/png"))
    }

    @Test("JSON and text are reported with their formats")
    func text() async throws {
        #expect(try await fails(Data(#"{"error": "not found"}"#.utf8)) == result(.json))
        #expect(try await fails(Data("Image not found".utf8)) == result(.text))
    }

    @Test("An empty body is a network error with the reason `noData`")
    func empty() async throws {
        guard case .network(let error)? = try await fails(Data()) else {
            Issue.record("the error isn't a network error")
            return
        }
        #expect(error.reason == .emptyBody)
    }

    @Test("A status outside 200 to 299 is an error with the status, also if the body is an image")
    func status() async throws {
        guard case .network(let error)? = try await fails(try TestImages.png(1), status: 404) else {
            Issue.record("the error isn't a network error")
            return
        }
        #expect(error.reason == .unacceptableStatusCode)
        #expect(error.statusCode == 404)
    }

    @Test("A GIF without a trailer and without a length is a partial image and isn't stored", arguments: [false, true])
    func gifWithoutTrailer(_ hasTrailer: Bool) async throws {
        // One red pixel.
        var file = Data("GIF89a".utf8) + Data([1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255])
        file += Data([0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0])
        if hasTrailer { file.append(0x3B) }
        let server = try LoopbackServer { [file] _ in
            .ok(file, contentType: "image/gif").with {
                $0.framing = .connectionClose
                $0.headers["Cache-Control"] = "max-age=600"
            }
        }
        let fixture = try ManagerFixture()
        let image = try await fixture.manager.image(for: server.url("/a"))
        #expect(image.metadata.isPartial != hasTrailer)
        await fixture.manager.diskCache?.flush()
        #expect(await fixture.manager.diskCache?.entries().isEmpty == !hasTrailer)
        _ = try await fixture.manager.image(for: server.url("/a"))
        #expect(server.counters.requests == (hasTrailer ? 1 : 2))
    }

    @Test("A truncated image throws `truncated`")
    func truncated() async throws {
        let picture = try TestImages.png(1)
        guard case .decoding(let error)? = try await fails(picture.prefix(picture.count / 2)),
            case .truncated = error.reason
        else {
            Issue.record("the error isn't reported as truncated")
            return
        }
    }

    @Test("A corrupt image throws a decode error")
    func corrupt() async throws {
        guard case .decoding? = try await fails(TestImages.corruptPNG(1)) else {
            Issue.record("the error isn't a decoding error")
            return
        }
    }

    @Test("An image whose header exceeds the pixel limit is rejected before decoding")
    func bomb() async throws {
        let picture = try TestImages.png(1, width: 64, height: 48)
        let server = try LoopbackServer(routes: ["/a": .ok(picture)])
        let fixture = try ManagerFixture { $0.limits.maxPixels = 64 * 48 - 1 }
        await #expect(
            throws: ImageError.limitExceeded(ImageError.LimitFailure(.pixelCount, limit: 64 * 48 - 1, actual: 64 * 48))
        ) {
            try await fixture.manager.image(for: server.url("/a"))
        }
    }

    @Test("Row 45, G-10: corrupt data on disk is downloaded again")
    func damagedOnDisk() async throws {
        let resource = ServerResource(body: try TestImages.png(1), type: "image/png", cacheControl: "max-age=60")
        let server = try LoopbackServer { resource.response(to: $0) }
        var fixture = try ManagerFixture()
        _ = try await fixture.manager.image(for: server.url("/a"))
        fixture = try await fixture.restarted()
        await fixture.manager.shutdown()
        try damageEntries(in: fixture.directory.file("cache/blobs"))
        fixture = try ManagerFixture(directory: fixture.directory)
        #expect(try await fixture.manager.response(for: ImageRequest(url: server.url("/a"))).source == .network)
        #expect(server.counters.requests == 2)
    }

    private func damageEntries(in folder: String) throws {
        let files = try #require(FileManager.default.enumerator(atPath: folder))
        var damaged = 0
        for case let name as String in files where name.count > 60 {
            var bytes = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: URL(filePath: "\(folder)/\(name)"))
            damaged += 1
        }
        #expect(damaged == 1)
    }
}
