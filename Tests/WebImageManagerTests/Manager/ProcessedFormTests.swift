// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Stored processed images", .timeLimit(.minutes(5)))
struct ProcessedFormTests {
    private static let encodings: [(name: String, encoding: ImageEncoding)] = [
        ("png", .png), ("small", ImageEncoding(format: .png).with(\.maxDimension, 12)), ("jpeg", .jpeg(quality: 60)),
        ("webp", .webp(quality: 60)), ("lossless", .webp.lossless), ("qoi", ImageEncoding(format: .qoi)), ("pam", .pam),
        ("gif", .gif), ("automatic", .automatic), ("limited", ImageEncoding(format: .jpeg).with(\.maxByteCount, 700)),
    ]

    private static let files = ["colors/p3-alpha-16.png", "colors/p3-alpha-8.png", "colors/adobe.jpg"]

    private func requests(_ server: LoopbackServer) -> [(name: String, request: ImageRequest)] {
        var requests: [(name: String, request: ImageRequest)] = []
        for file in Self.files {
            for depth in [false, true] {
                for color in [true, false] {
                    for (name, encoding) in Self.encodings {
                        var request = ImageRequest(
                            url: server.url("/\(file)?\(depth)\(color)\(name)"), size: .fit(width: 20))
                        request.decoding.preservesBitDepth = depth
                        request.decoding.color = color ? .sRGB : .source
                        request.caching.processedEncoding = encoding
                        request.caching.waitsUntilStored = true
                        requests.append(("\(file) \(depth) \(color) \(name)", request))
                    }
                }
            }
        }
        return requests
    }

    @Test("A fresh image and its copies from memory and from disk have the same pixels in every encoding")
    func equalPixels() async throws {
        let server = try LoopbackServer { request in
            let file = Fixtures.directory.appending(path: String(request.path.dropFirst()))
            guard let data = try? Data(contentsOf: file) else { return .status(404) }
            return ServerResource(
                body: data, type: "image/\(file.pathExtension)", cacheControl: "max-age=3600"
            ).response(to: request)
        }
        var fixture = try ManagerFixture()
        let requests = requests(server)
        var fresh: [DecodedImage] = []
        for (name, request) in requests {
            let response = try await fixture.manager.response(for: request)
            fresh.append(response.image)
            let remembered = try await fixture.manager.response(for: request)
            #expect(remembered.source == .memoryCache && remembered.image === response.image, "\(name)")
        }
        await fixture.manager.diskCache?.flush()
        fixture = try await fixture.restarted()
        // Remove the originals, so that images without a stored processed version must come from the server again.
        await fixture.manager.diskCache?.remove { !$0.key.components.contains("decode") }
        for (place, (name, request)) in requests.enumerated() {
            let before = server.counters.requests
            let stored = try await fixture.manager.response(for: request).image
            #expect(stored.pixels.format == fresh[place].pixels.format, "\(name)")
            #expect(stored.size == fresh[place].size, "\(name)")
            #expect(stored.pixels.packedBytes() == fresh[place].pixels.packedBytes(), "\(name)")
            #expect(stored.metadata == fresh[place].metadata, "\(name)")
            #expect(stored.format == fresh[place].format, "\(name)")
            if request.decoding.color == .sRGB { #expect(server.counters.requests == before, "\(name)") }
        }
    }

    @Test("Requests with lossless or no storage share an image in memory, and those with lossy storage don't")
    func sharing() async throws {
        let resource = ServerResource(body: try TestImages.png(1), type: "image/png", cacheControl: "max-age=60")
        let server = try LoopbackServer { resource.response(to: $0) }
        let fixture = try ManagerFixture()
        let manager = fixture.manager
        var lossy = ImageRequest(url: server.url("/a"))
        lossy.caching.processedEncoding = .jpeg(quality: 20)
        lossy.caching.waitsUntilStored = true
        var whole = lossy
        whole.caching.processedEncoding = .png
        let image = try await manager.image(for: ImageRequest(url: server.url("/a")))
        #expect(try await manager.image(for: whole) === image)
        let reduced = try await manager.image(for: lossy)
        #expect(reduced.pixels.packedBytes() != image.pixels.packedBytes())
        #expect(try await manager.image(for: ImageRequest(url: server.url("/a"))) === image)
        // An image that was encoded isn't encoded a second time.
        await manager.diskCache?.flush()
        #expect(await manager.diskCache?.entries().count == 2)
        withExtendedLifetime(fixture) {}
    }

    @Test("A revalidated processed image is stored again unchanged")
    func revalidated() async throws {
        let resource = ServerResource(
            body: try TestImages.png(1), type: "image/png", etag: "\"1\"", cacheControl: "max-age=60")
        let server = try LoopbackServer { resource.response(to: $0) }
        var fixture = try ManagerFixture()
        var request = ImageRequest(url: server.url("/a"))
        request.caching.processedEncoding = .jpeg(quality: 20)
        request.caching.waitsUntilStored = true
        let first = try await fixture.manager.image(for: request)
        for _ in 1...3 {
            fixture.pass(seconds: 61)
            #expect(try await fixture.manager.image(for: request).pixels.packedBytes() == first.pixels.packedBytes())
            fixture = try await fixture.restarted()
            #expect(try await fixture.manager.image(for: request).pixels.packedBytes() == first.pixels.packedBytes())
        }
        #expect(server.counters.requests == 4)
    }
}
