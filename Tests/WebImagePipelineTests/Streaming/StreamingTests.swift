// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Streamed decoding", .timeLimit(.minutes(5)))
struct StreamingTests {
    /// Returns a JPEG that is large enough for streaming.
    private static func photo() throws -> Data {
        let data = try TestImages.jpeg(progressive: false, width: 640, height: 480)
        #expect(data.count > DownloadSpeedGate.leastBytes)
        return data
    }

    /// Returns a clock that advances by one second at each reading, so that every download is slow.
    private static func clock() -> TimeSource {
        let time = Shared(0.0)
        return TimeSource(
            now: { Date() },
            uptime: {
                time.update {
                    $0 += 1
                    return $0
                }
            })
    }

    private func isAtRest(_ manager: ImageManager) async {
        await untilTrue { manager.isAtRest }
    }

    @Test(
        "A slow download is decoded while it runs and has the same pixels as the complete file",
        arguments: [false, true])
    func slow(tellsLength: Bool) async throws {
        let picture = try SteppedImage(try Self.photo())
        let request = ImageRequest(url: picture.url, size: .fit(width: 100))
        let task = picture.manager.load(request)
        await picture.begin(parts: 3, expected: tellsLength ? .some(picture.data.count) : .some(nil))
        await picture.waitForDecoder()
        picture.loader.go(.finish(picture.data))
        let response = try await task.response
        #expect(response.image.hasPixels(of: try picture.whole(request.size)))
        #expect(picture.manager.statistics.decodes == 1 && picture.manager.statistics.decodesWhileLoading == 1)
        #expect(response.source == .network && picture.manager.cachedImage(for: request) != nil)
        await isAtRest(picture.manager)
    }

    @Test("Several sizes of one download are decoded while it runs, and transformers run afterward")
    func sizes() async throws {
        let picture = try SteppedImage(try Self.photo())
        let small = ImageRequest(url: picture.url, size: .fit(width: 50))
        let flipped = ImageRequest(url: picture.url, transformers: [.flip(.horizontal)])
        let tasks = [small, small, flipped].map { picture.manager.load($0) }
        await untilTrue { picture.manager.pipeline.fetch.sharedCount == 2 }
        await picture.begin()
        await picture.waitForDecoder()
        picture.loader.go(.finish(picture.data))
        var images: [DecodedImage] = []
        for task in tasks { images.append(try await task.image) }
        #expect(images[0].hasPixels(of: try picture.whole(small.size)))
        let flip = FlipTransformer(.horizontal)
        let expected = try flip.transform(
            try picture.whole().pixels, context: ImageProcessingContext())
        #expect(images[2].hasPixels(of: DecodedImage(pixels: expected)))
        #expect(picture.manager.statistics.decodes == 2 && picture.manager.statistics.decodesWhileLoading == 2)
        await isAtRest(picture.manager)
    }

    @Test("A data request decodes nothing")
    func bytes() async throws {
        let picture = try SteppedImage(try Self.photo())
        let wait = Task { try await picture.manager.data(for: ImageRequest(url: picture.url)) }
        await picture.begin(parts: 3)
        picture.loader.go(.finish(picture.data))
        #expect(try await wait.value == picture.data)
        #expect(picture.manager.pipeline.fetch.feeds.budget.bytesInUse == 0)
        #expect(picture.manager.statistics.decodes == 0)
        await isAtRest(picture.manager)
    }

    @Test("If `decodesWhileDownloading` is `false`, a download is decoded when it's complete")
    func off() async throws {
        let picture = try SteppedImage(try Self.photo()) { $0.decodesWhileDownloading = false }
        let task = picture.manager.load(picture.url)
        await picture.begin(parts: 3)
        picture.loader.go(.finish(picture.data))
        _ = try await task.image
        #expect(picture.manager.statistics.decodes == 1 && picture.manager.statistics.decodesWhileLoading == 0)
    }

    @Test("A download that restarts is decoded from the beginning")
    func anew() async throws {
        let picture = try SteppedImage(try Self.photo())
        let other = try TestImages.jpeg(progressive: true, width: 800, height: 300)
        let task = picture.manager.load(picture.url)
        picture.loader.go(.head(expected: other.count))
        picture.loader.go(.body(other.prefix(other.count / 2)))
        await picture.waitForDecoder()
        picture.loader.go(.head(expected: picture.data.count))
        picture.loader.go(.body(picture.part(0)))
        picture.loader.go(.body(picture.part(1)))
        await untilTrue { picture.loader.deliveredCount.value == 5 }
        await picture.waitForDecoder()
        picture.loader.go(.finish(picture.data))
        #expect(try await task.image.hasPixels(of: try picture.whole()))
        await isAtRest(picture.manager)
    }

    @Test("If a loader returns other data than it reported, the returned data is decoded")
    func others() async throws {
        let picture = try SteppedImage(try Self.photo())
        let other = try TestImages.jpeg(progressive: true, width: 800, height: 300)
        let task = picture.manager.load(picture.url)
        picture.loader.go(.head(expected: other.count))
        picture.loader.go(.body(other.prefix(other.count / 2)))
        await picture.waitForDecoder()
        picture.loader.go(.finish(picture.data))
        #expect(try await task.image.hasPixels(of: try picture.whole()))
        #expect(picture.manager.statistics.decodesWhileLoading == 0)
        await isAtRest(picture.manager)
    }

    @Test("K-12: An interrupted or canceled download leaves no decoder and ends once", arguments: [false, true])
    func ends(isCancelled: Bool) async throws {
        let picture = try SteppedImage(try Self.photo())
        let task = picture.manager.load(picture.url)
        let names = Task { await task.eventNames() }
        await untilTrue { task.isHeard }
        await picture.begin()
        await picture.waitForDecoder()
        let lost = ImageError.network(
            ImageError.NetworkFailure(.connectionLost, url: picture.url, phase: .receivingBody))
        if isCancelled { task.cancel() } else { picture.loader.go(.fail(lost)) }
        await #expect(throws: isCancelled ? ImageError.cancelled : lost) { try await task.response }
        #expect(await names.value == ["started", isCancelled ? "failed 1001" : "failed 2005"])
        await isAtRest(picture.manager)
    }

    @Test("Corrupt data within a stream causes the same error as the complete file, once")
    func damage() async throws {
        var random = SeededGenerator(seed: 1)
        let whole = try noise(&random)
        var data = whole
        data.replaceSubrange(data.count / 3..<data.count / 3 + 64, with: Data(repeating: 0xA5, count: 64))
        #expect(whole != data)
        let picture = try SteppedImage(data)
        let task = picture.manager.load(picture.url)
        let names = Task { await task.eventNames() }
        await untilTrue { task.isHeard }
        await picture.begin(parts: 3)
        picture.loader.go(.finish(data))
        await #expect(throws: ImageError.self) { try await task.response }
        let expected = try? #require(throws: ImageError.self) { try picture.whole() }
        #expect(await names.value == ["started", "failed \(expected?.code ?? 0)"])
        await isAtRest(picture.manager)
    }

    /// Returns a PNG that compression doesn't make smaller.
    private func noise(_ random: inout SeededGenerator) throws -> Data {
        let canvas = try PixelCanvas(size: PixelSize(width: 200, height: 150))
        canvas.withUnsafeMutableBytes { bytes in
            for index in bytes.indices {
                bytes[index] = index % 4 == 3 ? 255 : UInt8.random(in: 0...255, using: &random)
            }
        }
        return try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: canvas.finish(isOpaque: true)), as: .png, context: ImageProcessingContext())
    }

    @Test("A header that exceeds the limits is rejected before decoding starts")
    func hostile() async throws {
        var data = try Self.photo()
        let start = try #require(data.range(of: Data([0xFF, 0xC0]))?.lowerBound)
        for offset in [5, 7] { data.replaceSubrange(start + offset..<start + offset + 2, with: [0xFF, 0xDC]) }
        let picture = try SteppedImage(data)
        let task = picture.manager.load(picture.url)
        await picture.begin(parts: 3)
        #expect(picture.manager.pipeline.fetch.feeds.budget.bytesInUse == 0)
        picture.loader.go(.finish(data))
        let error = await #expect(throws: ImageError.self) { try await task.response }
        #expect((error?.code ?? 0) / 1_000 == 6)
        await isAtRest(picture.manager)
    }

    @Test("The image of a server that sends its data in quarters equals the complete file")
    func server() async throws {
        let slow = try SlowImage(try Self.photo())
        let fixture = try ManagerFixture { $0.previewClock = Self.clock() }
        let task = fixture.manager.load(slow.url)
        slow.gates[0].open()
        slow.gates[1].open()
        let budget = fixture.manager.pipeline.fetch.feeds.budget
        await untilTrue { budget.bytesInUse > 0 }
        slow.gates[2].open()
        slow.gates[3].open()
        let whole = try ImageCoderRegistry.standard.decode(slow.data, context: ImageProcessingContext())
        #expect(try await task.image.hasPixels(of: whole))
        #expect(fixture.manager.statistics.decodesWhileLoading == 1)
        await isAtRest(fixture.manager)
    }

    @Test("A download that is redirected, interrupted, and resumed is decoded once")
    func continued() async throws {
        let data = try Self.photo()
        let half = data.count / 2
        let (first, rest) = (TestGate(), TestGate())
        let server = try LoopbackServer { request in
            if request.path == "/a" { return .redirect(to: "/target") }
            var response = LoopbackServer.Response.ok(data, contentType: "image/jpeg")
            response.headers["ETag"] = "\"one\""
            guard request.headers["Range"] != nil else {
                return response.with {
                    $0.truncatesBodyAfter = half
                    $0.chunkSize = half / 2
                    $0.chunkGates = [first]
                }
            }
            response.statusCode = 206
            response.body = data.dropFirst(half)
            response.headers["Content-Range"] = "bytes \(half)-\(data.count - 1)/\(data.count)"
            response.bodyGate = rest
            return response
        }
        let fixture = try ManagerFixture {
            $0.downloader.retry = RetryPolicy(maxAttempts: 3, baseDelay: .zero, maxDelay: .zero)
            $0.previewClock = Self.clock()
        }
        let task = fixture.manager.load(server.url("/a"))
        first.open()
        let budget = fixture.manager.pipeline.fetch.feeds.budget
        await untilTrue { budget.bytesInUse > 0 }
        rest.open()
        let response = try await task.response
        #expect(
            response.image.hasPixels(
                of: try ImageCoderRegistry.standard.decode(
                    data,
                    context: ImageProcessingContext())))
        #expect(server.requests.map(\.path) == ["/a", "/target", "/a", "/target"])
        #expect(server.requests.map { $0.headers["Range"] } == [nil, nil, nil, "bytes=\(half)-"])
        #expect(response.metrics?.resumedByteCount == half)
        #expect(fixture.manager.statistics.decodes == 1 && fixture.manager.statistics.decodesWhileLoading == 1)
        await isAtRest(fixture.manager)
    }
}

extension DecodedImage {
    /// Compares the pixels. A comparison inside `#expect` would print all of them.
    fileprivate func hasPixels(of other: DecodedImage) -> Bool { pixels.packedBytes() == other.pixels.packedBytes() }
}
