// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Previews of running downloads", .timeLimit(.minutes(5)))
struct ImagePreviewTests {
    @Test(
        "The received data is shown as previews before the image",
        arguments: [LoopbackServer.Response.Framing.contentLength, .chunked, .connectionClose], [false, true])
    func previews(_ framing: LoopbackServer.Response.Framing, progressive: Bool) async throws {
        let picture = try SlowImage(try TestImages.jpeg(progressive: progressive), framing: framing)
        let fixture = try ManagerFixture()
        let task = fixture.manager.load(picture.request(.progressive(interval: .zero)))
        let log = EventLog(task)
        for count in 1...3 {
            picture.gates[count - 1].open()
            guard let expected = try picture.preview(count)?.image.pixels.packedBytes() else {
                await untilTrue { log.received == picture.size(count) }
                continue
            }
            await untilTrue { log.previews.last?.pixels.packedBytes() == expected }
        }
        picture.gates[3].open()
        let image = try await task.image
        let previews = await log.allPreviews()
        #expect(previews.count >= 2 && previews.allSatisfy { $0.metadata.isPartial && $0.size == image.size })
        #expect(!image.metadata.isPartial)
        let feeds = fixture.manager.pipeline.fetch.feeds
        await untilTrue {
            fixture.manager.runningJobs == 0 && feeds.count == 0 && feeds.budget.bytesInUse == 0
        }
    }

    @Test("The EXIF thumbnail covers the rows that haven't arrived, and transformers apply to it")
    func thumbnail() async throws {
        let plain = try ImageCoderRegistry.standard.decode(
            TestImages.jpeg(progressive: false), context: ImageProcessingContext())
        var encoding = ImageEncoding.jpeg(quality: 90)
        encoding.thumbnailDimension = 80
        let picture = try SlowImage(
            ImageCoderRegistry.standard.encode(plain, as: encoding, context: ImageProcessingContext()))
        var request = picture.request(.progressive(interval: .zero), size: .fit(width: 80))
        request.transformers = [.roundedCorners(radius: 20)]
        let fixture = try ManagerFixture()
        let task = fixture.manager.load(request)
        let log = EventLog(task)
        picture.gates[0].open()
        let preview = try #require(try picture.preview(1, size: .fit(width: 80)))
        #expect(preview.coversImage && preview.image.isOpaque && preview.fractionCompleted < 1)
        let expected = try StandardTransformer.roundedCorners(radius: 20)
            .transform(preview.image.pixels, context: ImageProcessingContext()).packedBytes()
        await untilTrue { log.previews.last?.pixels.packedBytes() == expected }
        picture.gates.forEach { $0.open() }
        let image = try await task.image
        #expect(image.size == PixelSize(width: 80, height: 60) && !image.metadata.isPartial)
    }

    @Test(
        "The thumbnail of a HEIF file is shown until the image has arrived",
        .enabled(if: ImageCoderRegistry.standard.canDecode(.heif), "the trait HEIF is off"))
    func heifThumbnail() async throws {
        let file = try Data(contentsOf: Fixtures.directory.appending(path: "formats/thumbnail.heic"))
        let picture = try SlowImage(try #require(HEIFItemOrder.reversed(file)))
        let fixture = try ManagerFixture()
        let task = fixture.manager.load(picture.request(.progressive(interval: .zero), size: .fit(width: 30)))
        let log = EventLog(task)
        for gate in picture.gates.prefix(3) { gate.open() }
        let expected = try #require(try picture.preview(3, size: .fit(width: 30)))
        #expect(expected.coversImage && expected.image.size.width == 30)
        await untilTrue { log.previews.last?.pixels.packedBytes() == expected.image.pixels.packedBytes() }
        picture.gates[3].open()
        let image = try await task.image
        #expect(image.size == expected.image.size && !image.metadata.isPartial)
        #expect(await log.allPreviews().count == 1)
    }

    @Test("A late listener receives a preview of the data that was received before, without further data")
    func standing() async throws {
        let picture = try SteppedImage(try TestImages.jpeg(progressive: true))
        var request = ImageRequest(url: picture.url)
        request.previews = .progressive
        let task = picture.manager.load(request)
        await picture.begin(parts: 3)
        let log = EventLog(task)
        await untilTrue { log.previews.count == 1 }
        picture.loader.go(.finish(picture.data))
        #expect(try await !task.image.metadata.isPartial)
    }

    @Test("A request without a preview policy receives no previews")
    func none() async throws {
        let picture = try SlowImage(try TestImages.jpeg(progressive: false))
        let fixture = try ManagerFixture()
        let task = fixture.manager.load(ImageRequest(url: picture.url))
        let log = EventLog(task)
        picture.gates[0].open()
        await untilTrue { log.received == picture.size(1) }
        picture.gates.forEach { $0.open() }
        #expect(await log.allPreviews().isEmpty)
    }

    @Test("The minimum interval passes between two previews")
    func interval() async throws {
        let picture = try SlowImage(try TestImages.jpeg(progressive: false))
        let time = TestTime()
        let fixture = try ManagerFixture {
            $0.previewClock.uptime = { time.now.timeIntervalSinceReferenceDate }
            $0.downloader.progressInterval = .zero
        }
        let log = EventLog(fixture.manager.load(picture.request(.progressive)))
        picture.gates[0].open()
        await untilTrue { log.previews.count == 1 && log.received == picture.size(1) }
        picture.gates[1].open()
        await untilTrue { log.received == picture.size(2) }
        time.pass(0.25)
        #expect(log.previews.count == 1)
        picture.gates[2].open()
        await untilTrue { log.previews.count == 2 }
        picture.gates[3].open()
        #expect(await log.allPreviews().count == 2)
    }

    @Test("S-18: No preview starts after most of the data is received")
    func late() async throws {
        let picture = try SlowImage(try TestImages.jpeg(progressive: false))
        let fixture = try ManagerFixture { $0.previewStopFraction = 0.4 }
        let log = EventLog(fixture.manager.load(picture.request(.progressive(interval: .zero))))
        picture.gates[0].open()
        let expected = try #require(try picture.preview(1)).image.pixels.packedBytes()
        await untilTrue { log.previews.last?.pixels.packedBytes() == expected }
        let count = log.previews.count
        picture.gates.dropFirst().forEach { $0.open() }
        #expect(await log.allPreviews().count == count)
    }

    @Test("Previews have the requested size and are transformed")
    func transformed() async throws {
        let picture = try SlowImage(try TestImages.jpeg(progressive: true))
        let fixture = try ManagerFixture()
        var request = picture.request(.progressive(interval: .zero), size: .fit(width: 40))
        request.transformers = [.roundedCorners(radius: 20)]
        let task = fixture.manager.load(request)
        let log = EventLog(task)
        picture.gates.prefix(2).forEach { $0.open() }
        let plain = try #require(try picture.preview(2, size: .fit(width: 40)))
        let expected = try StandardTransformer.roundedCorners(radius: 20)
            .transform(plain.image.pixels, context: ImageProcessingContext()).packedBytes()
        await untilTrue { log.previews.last?.pixels.packedBytes() == expected }
        #expect(log.previews.last?.size == PixelSize(width: 40, height: 30))
        picture.gates.forEach { $0.open() }
        _ = try await task.image
    }

    @Test("Equal requests share a preview, and other sizes receive their own")
    func shared() async throws {
        let picture = try SlowImage(try TestImages.jpeg(progressive: true))
        let fixture = try ManagerFixture()
        let policy = PreviewPolicy.progressive(interval: .zero)
        let requests = [
            picture.request(policy), picture.request(policy), picture.request(policy, size: .fit(width: 40)),
            ImageRequest(url: picture.url),
        ]
        let tasks = requests.map(fixture.manager.load)
        let logs = tasks.map(EventLog.init)
        await picture.server.waitForRequests(count: 1)
        picture.gates.prefix(2).forEach { $0.open() }
        let expected = try [nil, nil, TargetSize.fit(width: 40)].map {
            try picture.preview(2, size: $0)?.image.pixels.packedBytes()
        }
        for (log, expected) in zip(logs, expected) {
            await untilTrue { log.previews.last?.pixels.packedBytes() == expected }
        }
        #expect(logs[0].previews.last === logs[1].previews.last)
        picture.gates.forEach { $0.open() }
        for task in tasks { _ = try await task.image }
        #expect(await logs[3].allPreviews().isEmpty)
        #expect(picture.server.counters.requests == 1)
    }

    @Test("A request that joins a download late receives previews that include the earlier data")
    func joining() async throws {
        let picture = try SlowImage(try TestImages.jpeg(progressive: false))
        let fixture = try ManagerFixture()
        let first = fixture.manager.load(ImageRequest(url: picture.url))
        let firstLog = EventLog(first)
        picture.gates[0].open()
        await untilTrue { firstLog.received == picture.size(1) }
        let log = EventLog(fixture.manager.load(picture.request(.progressive(interval: .zero))))
        await untilTrue { log.received == picture.size(1) }
        picture.gates[1].open()
        let expected = try picture.preview(2)?.image.pixels.packedBytes()
        await untilTrue { log.previews.last?.pixels.packedBytes() == expected }
        #expect(firstLog.previews.isEmpty && picture.server.counters.requests == 1)
        picture.gates.forEach { $0.open() }
        _ = try await first.image
    }

    @Test("A canceled request receives no further previews, and other requests continue")
    func cancelled() async throws {
        let picture = try SlowImage(try TestImages.jpeg(progressive: false))
        let fixture = try ManagerFixture()
        let tasks = (0..<2).map { _ in fixture.manager.load(picture.request(.progressive(interval: .zero))) }
        let logs = tasks.map(EventLog.init)
        await picture.server.waitForRequests(count: 1)
        picture.gates[0].open()
        for log in logs { await untilTrue { log.received == picture.size(1) } }
        picture.gates[1].open()
        for log in logs { await untilTrue { !log.previews.isEmpty } }
        tasks[0].cancel()
        let count = await logs[0].allPreviews().count
        picture.gates[2].open()
        let expected = try picture.preview(3)?.image.pixels.packedBytes()
        await untilTrue { logs[1].previews.last?.pixels.packedBytes() == expected }
        #expect(logs[0].previews.count == count)
        tasks[1].cancel()
        await untilTrue { fixture.manager.runningJobs == 0 && fixture.manager.pipeline.fetch.feeds.count == 0 }
        #expect(fixture.manager.pipeline.fetch.feeds.budget.bytesInUse == 0)
    }

    @Test("Previews don't replace a cached image that is shown")
    func stored() async throws {
        let data = try TestImages.jpeg(progressive: false)
        let fixture = try ManagerFixture()
        let server = try LoopbackServer { _ in .ok(data, contentType: "image/jpeg").with { $0.chunkSize = 500 } }
        _ = try await fixture.manager.image(for: server.url("/a"))
        var request = ImageRequest(url: server.url("/a"))
        request.previews = .progressive(interval: .zero)
        request.cachePolicy = .refresh
        #expect(await EventLog(fixture.manager.load(request)).allPreviews().isEmpty)
    }

    @Test("Without a memory budget for previews, only the image is delivered")
    func budget() async throws {
        let picture = try SlowImage(try TestImages.jpeg(progressive: false))
        let fixture = try ManagerFixture { $0.progressiveMemoryLimit = 1_000 }
        let task = fixture.manager.load(picture.request(.progressive(interval: .zero)))
        let log = EventLog(task)
        picture.gates.prefix(3).forEach { $0.open() }
        await untilTrue { log.received == picture.size(3) }
        picture.gates[3].open()
        _ = try await task.image
        #expect(await log.allPreviews().isEmpty)
    }
}
