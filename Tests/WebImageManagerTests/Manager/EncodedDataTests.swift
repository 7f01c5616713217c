// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Encoded data for servers", .timeLimit(.minutes(5)))
struct EncodedDataTests {
    private func server(
        _ body: Data, type: String = "image/png", cacheControl: String = "max-age=60"
    ) throws -> LoopbackServer {
        let resource = ServerResource(body: body, type: type, etag: "\"1\"", cacheControl: cacheControl)
        return try LoopbackServer { resource.response(to: $0) }
    }

    private func jpeg() throws -> Data {
        try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: try TestImages.pixels(1)), as: .jpeg(quality: 80), context: ImageProcessingContext())
    }

    @Test("An encoding is cached on disk and returned after a restart without decoding or encoding")
    func kept() async throws {
        let server = try server(try TestImages.png(1))
        let fixture = try ManagerFixture()
        let request = ImageRequest(url: server.url("/a"), size: .fit(width: 20))
        let first = try await fixture.manager.encodedImage(for: request, as: .webp(quality: 70)).data
        let other = try await fixture.manager.encodedImage(for: request, as: .webp(quality: 30)).data
        #expect(first != other)
        let restarted = try await fixture.restarted()
        #expect(try await restarted.manager.encodedImage(for: request, as: .webp(quality: 70)).data == first)
        #expect(try await restarted.manager.encodedImage(for: request, as: .webp(quality: 30)).data == other)
        #expect(restarted.manager.statistics.decodes == 0 && restarted.manager.statistics.encodes == 0)
        #expect(server.counters.requests == 1)
        // Another size is another image.
        _ = try await restarted.manager.encodedImage(for: ImageRequest(url: server.url("/a")), as: .webp(quality: 70))
            .data
        #expect(restarted.manager.statistics.encodes == 1)
    }

    @Test("A cached encoding of a large original doesn’t read the original again")
    func largeOriginal() async throws {
        let original = try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: try TestImages.pixels(1, width: 600, height: 400)), as: .pam,
            context: ImageProcessingContext())
        #expect(original.count > 500_000)
        let server = try server(original)
        let files = BlockingFileSystem()
        let fixture = try ManagerFixture {
            $0.memoryCache.costLimit = 0
            $0.diskCache?.fileSystem = files
        }
        let request = ImageRequest(url: server.url("/a"), size: .fit(width: 20))
        let first = try await fixture.manager.encodedImage(for: request, as: .png)
        await fixture.manager.diskCache?.flush()
        // The first lookup reads the original to learn its digest.
        #expect(try await fixture.manager.encodedImage(for: request, as: .png).data == first.data)
        let before = files.readByteCount
        let again = try await fixture.manager.encodedImage(for: request, as: .png)
        #expect(again.data == first.data && again.source?.head == first.source?.head)
        #expect(files.readByteCount - before < 50_000)
        #expect(fixture.manager.statistics.encodes == 1 && server.counters.requests == 1)
        // Without the original, the encoding isn't used.
        fixture.manager.diskCache?.remove(RequestPlan(request, fixture.manager.pipeline.defaults).keys.data)
        _ = try await fixture.manager.encodedImage(for: request, as: .png)
        #expect(server.counters.requests == 2)
    }

    @Test("Removing a request removes the encodings of all sizes of its image and no others")
    func forgotten() async throws {
        let picture = try TestImages.png(1)
        let server = try server(picture)
        let fixture = try ManagerFixture()
        let manager = fixture.manager
        let small = ImageRequest(url: server.url("/a"), size: .fit(width: 20))
        var stored = ImageRequest(url: server.url("/a"), size: .fit(width: 30))
        stored.caching.processedEncoding = .png
        stored.caching.waitsUntilStored = true
        for url in [server.url("/a"), server.url("/ab")] {
            _ = try await manager.encodedImage(for: ImageRequest(url: url), as: .webp(quality: 70)).data
        }
        _ = try await manager.encodedImage(for: small, as: .jpeg).data
        _ = try await manager.image(for: stored)
        await manager.diskCache?.flush()
        let entries = await manager.diskCache?.entries() ?? []
        #expect(entries.count == 6)
        // Two entries contain original data, one contains a processed image, and three contain encoded images.
        let formats = entries.compactMap(\.format?.rawValue).sorted()
        #expect(formats == ["jpeg", "png", "png", "png", "webp", "webp"])
        await manager.removeCachedImage(for: ImageRequest(url: server.url("/a")))
        await manager.diskCache?.flush()
        let left = await manager.diskCache?.entries() ?? []
        #expect(left.count == 2 && left.allSatisfy { $0.source == server.url("/ab").absoluteString })
        // The same data is downloaded and encoded again.
        _ = try await manager.encodedImage(for: small, as: .jpeg).data
        #expect(manager.statistics.encodes == 5)
    }

    @Test("An image in memory is encoded once and then served from disk")
    func fromMemory() async throws {
        let server = try server(try TestImages.png(1))
        let fixture = try ManagerFixture()
        let request = ImageRequest(url: server.url("/a"))
        _ = try await fixture.manager.image(for: request)
        let first = try await fixture.manager.encodedImage(for: request, as: .jpeg).data
        #expect(try await fixture.manager.encodedImage(for: request, as: .jpeg).data == first)
        let counts = fixture.manager.statistics
        #expect(counts.decodes == 1 && counts.encodes == 1 && counts.loads == 1)
    }

    @Test("A stale encoding is revalidated and isn't encoded again after a 304")
    func confirmed() async throws {
        let server = try server(try TestImages.png(1))
        let fixture = try ManagerFixture()
        let request = ImageRequest(url: server.url("/a"))
        let first = try await fixture.manager.encodedImage(for: request, as: .jpeg).data
        fixture.pass(seconds: 61)
        #expect(try await fixture.manager.encodedImage(for: request, as: .jpeg).data == first)
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"1\""])
        #expect(fixture.manager.statistics.encodes == 1)
    }

    @Test("An encoding of outdated data isn't returned", arguments: [false, true])
    func changed(keepsMemory: Bool) async throws {
        let pictures = [try TestImages.png(1), try TestImages.png(2)]
        let server = try LoopbackServer { request in
            ServerResource(
                body: pictures[min(request.index, 1)], type: "image/png", cacheControl: "max-age=60"
            ).response(to: request)
        }
        let fixture = try ManagerFixture()
        var request = ImageRequest(url: server.url("/a"))
        if !keepsMemory { request.caching.writeTo = .disk }
        let first = try await fixture.manager.encodedImage(for: request, as: .png).data
        // Another request reloads the data while the encoding is still fresh.
        var again = request
        again.cachePolicy = .reload
        _ = try await fixture.manager.image(for: again)
        let second = try await fixture.manager.encodedImage(for: request, as: .png).data
        #expect(second != first)
        #expect(try await fixture.manager.encodedImage(for: request, as: .png).data == second)
        #expect(server.counters.requests == 2)
    }

    @Test(
        "An encoding isn't cached if the configuration, the request, or the server forbids it, or for files",
        arguments: 0..<4)
    func notKept(place: Int) async throws {
        let server = try server(try TestImages.png(1), cacheControl: place == 2 ? "no-store" : "max-age=60")
        let fixture = try ManagerFixture { $0.storesEncodedImages = place != 0 }
        var request = ImageRequest(url: server.url("/a"))
        if place == 1 { request.caching.writeTo = .memory }
        if place == 3 {
            let file = URL(filePath: fixture.directory.file("a.png"))
            try TestImages.png(1).write(to: file)
            request = ImageRequest(url: file)
        }
        _ = try await fixture.manager.encodedImage(for: request, as: .jpeg).data
        await fixture.manager.diskCache?.flush()
        let entries = await fixture.manager.diskCache?.entries() ?? []
        #expect(entries.allSatisfy { !$0.key.canonical.contains("7:encoded") })
        #expect(entries.count == (place < 2 ? 1 : 0))
    }

    @Test("A removed encoding is created again")
    func removed() async throws {
        let server = try server(try TestImages.png(1))
        let fixture = try ManagerFixture()
        let request = ImageRequest(url: server.url("/a"))
        _ = try await fixture.manager.encodedImage(for: request, as: .jpeg).data
        await fixture.manager.removeCachedImage(for: request)
        _ = try await fixture.manager.encodedImage(for: request, as: .jpeg).data
        #expect(server.counters.requests == 2)
    }

    @Test("The automatic format returns the original data of an unmodified image from the network, memory, and disk")
    func untouched() async throws {
        let bytes = try jpeg()
        let server = try server(bytes, type: "image/jpeg")
        let fixture = try ManagerFixture { $0.storesEncodedImages = false }
        let request = ImageRequest(url: server.url("/a"))
        let automatic = ImageEncoding.automatic
        #expect(try await fixture.manager.encodedImage(for: request, as: automatic).data == bytes)
        #expect(try await fixture.manager.encodedImage(for: request, as: automatic).data == bytes)
        fixture.manager.memoryCache.removeAll()
        #expect(try await fixture.manager.encodedImage(for: request, as: automatic).data == bytes)
        let small = ImageRequest(url: server.url("/a"), size: .fit(width: 20))
        let reduced = try await fixture.manager.encodedImage(for: small, as: automatic).data
        #expect(try ImageInfo(data: reduced).size.width == 20)
        #expect(server.counters.requests == 1)
    }

    @Test("EXIF and XMP of the original are kept if the encoding requests it, also in other sizes")
    func metadata() async throws {
        let packet = Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"></x:xmpmeta>".utf8)
        let pixels = try TestImages.pixels(1)
        let image = DecodedImage(pixels: pixels).with(
            metadata: ImageMetadata(storedSize: pixels.size, xmp: [UInt8](packet)))
        var encoding = ImageEncoding.jpeg
        encoding.metadata = .keep
        let bytes = try ImageCoderRegistry.standard.encode(image, as: encoding, context: ImageProcessingContext())
        let server = try server(bytes, type: "image/jpeg")
        let fixture = try ManagerFixture()
        let request = ImageRequest(url: server.url("/a"), size: .fit(width: 20))
        let kept = try await fixture.manager.encodedImage(for: request, as: encoding).data
        #expect(kept.range(of: packet) != nil)
        let stripped = try await fixture.manager.encodedImage(for: request, as: .jpeg).data
        #expect(stripped.range(of: packet) == nil)
    }

    @Test("A hundred concurrent requests for one encoding share it")
    func shared() async throws {
        let server = try server(try TestImages.png(1))
        let fixture = try ManagerFixture()
        let request = ImageRequest(url: server.url("/a"))
        let manager = fixture.manager
        let answers = await withTaskGroup(of: Data?.self) { group in
            for _ in 0..<100 { group.addTask { try? await manager.encodedImage(for: request, as: .jpeg).data } }
            return await group.reduce(into: Set<Data>()) { if let data = $1 { $0.insert(data) } }
        }
        #expect(answers.count == 1)
        #expect(manager.statistics.encodes == 1 && server.counters.requests == 1)
    }

    @Test("A request that looked for an encoding before another request stored it doesn't encode again")
    func lookedUpBefore() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let tier = RecordingTier(.disk)
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.cacheTiers = [tier]
            $0.loaders = [loader]
        }
        let manager = fixture.manager
        _ = try await manager.image(for: ImageRequest(url: .sample))
        let (first, second, open) = (TestGate(), TestGate(), TestGate())
        open.open()
        tier.blockLookups(first)
        let lookups = tier.lookups
        let slow = Task { try await manager.encodedImage(for: ImageRequest(url: .sample), as: .png).data }
        await untilTrue { tier.lookups == lookups + 1 }
        tier.blockLookups(second)
        first.open()
        await untilTrue { tier.lookups == lookups + 2 }
        tier.blockLookups(open)
        let data = Task { try await manager.encodedImage(for: ImageRequest(url: .sample), as: .png).data }
        await passing()
        second.open()
        #expect(try await data.value == slow.value)
        #expect(manager.statistics.encodes == 1)
        #expect(tier.payloads.count == 2)
    }
}
