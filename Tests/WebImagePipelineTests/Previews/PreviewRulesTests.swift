// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Preview rules", .timeLimit(.minutes(5)))
struct PreviewRulesTests {
    @Test(
        "The blur radius depends on the received fraction",
        arguments: [(0, 45.3), (0.1, 27.6), (0.25, 15.7), (0.5, 7.2), (0.75, 3.2), (0.9, 1.7), (1, 0.9)])
    func curve(_ fraction: Double, _ radius: Double) {
        #expect(abs(PreviewBlur.radius(fraction: fraction, displayedCount: 3) - radius) < 0.1)
        #expect([0, 1, 3].map { PreviewBlur.radius(fraction: nil, displayedCount: $0) } == [32, 16, 8])
    }

    @Test("Blurred previews show the whole image and become sharper", arguments: [nil, TargetSize.fit(width: 80)])
    func blurred(_ size: TargetSize?) async throws {
        let picture = try SlowImage(try TestImages.jpeg(progressive: true))
        let fixture = try ManagerFixture()
        let task = fixture.manager.load(picture.request(.blurred(interval: .zero), size: size))
        let log = EventLog(task)
        for count in 1...3 {
            picture.gates[count - 1].open()
            let plain = try #require(try picture.preview(count, size: size))
            let part = Double(picture.size(count)) / Double(picture.data.count)
            let expected = try PreviewBlur.apply(
                PreviewBlur.radius(fraction: part, displayedCount: 0), to: plain.image,
                context: ImageProcessingContext())
            await untilTrue { log.previews.last?.pixels.packedBytes() == expected.pixels.packedBytes() }
        }
        picture.gates[3].open()
        let image = try await task.image
        let last = try #require(await log.allPreviews().last)
        #expect(last.size == image.size && last.pixels.packedBytes() != image.pixels.packedBytes())
    }

    @Test("Images that arrive row by row have no blurred previews")
    func rows() async throws {
        let picture = try SlowImage(try TestImages.jpeg(progressive: false))
        let fixture = try ManagerFixture()
        let log = EventLog(fixture.manager.load(picture.request(.blurred(interval: .zero))))
        picture.gates.prefix(3).forEach { $0.open() }
        await untilTrue { log.received == picture.size(3) }
        picture.gates[3].open()
        #expect(await log.allPreviews().isEmpty)
    }

    @Test("N-14: A download that resumes after an interruption continues its previews")
    func resumed() async throws {
        let data = try TestImages.jpeg(progressive: false)
        let gates = (0..<2).map { _ in TestGate() }
        let (half, threeQuarters) = (data.count / 2, data.count * 3 / 4)
        let server = try LoopbackServer { request in
            var response = LoopbackServer.Response.ok(data, contentType: "image/jpeg")
            response.headers["ETag"] = "\"one\""
            guard request.headers["Range"] != nil else { return response.with { $0.truncatesBodyAfter = half } }
            response.statusCode = 206
            response.body = Data(data.dropFirst(half))
            response.headers["Content-Range"] = "bytes \(half)-\(data.count - 1)/\(data.count)"
            return response.with {
                $0.chunkSize = threeQuarters - half
                $0.chunkGates = gates
            }
        }
        let coder = WatchedCoder()
        let fixture = try ManagerFixture {
            $0.coders.register(coder)
            $0.downloader.retry.baseDelay = .zero
        }
        var request = ImageRequest(url: server.url("/a"))
        request.previews = .progressive(interval: .zero)
        let task = fixture.manager.load(request)
        let log = EventLog(task)
        for (step, count) in [half, threeQuarters].enumerated() {
            if step == 1 { gates[0].open() }
            let expected = try #require(try Self.preview(data.prefix(count)))
            await untilTrue { log.previews.last?.pixels.packedBytes() == expected }
        }
        gates[1].open()
        _ = try await task.image
        #expect(server.counters.requests == 2)
        // The data that was received before the interruption isn't decoded again.
        #expect(coder.noted.decoders == 1 && coder.noted.appended <= data.count)
    }

    @Test("Previews aren't cached")
    func unstored() async throws {
        let picture = try SlowImage(try TestImages.jpeg(progressive: true))
        let fixture = try ManagerFixture()
        let request = picture.request(.progressive(interval: .zero))
        let task = fixture.manager.load(request)
        let log = EventLog(task)
        picture.gates.prefix(2).forEach { $0.open() }
        await untilTrue { !log.previews.isEmpty }
        #expect(fixture.manager.cachedImage(for: request) == nil)
        #expect(fixture.manager.cachedPlaceholder(for: request) == nil)
        picture.gates.forEach { $0.open() }
        let image = try await task.image
        #expect(fixture.manager.cachedImage(for: request) === image && !image.metadata.isPartial)
        #expect(await log.allPreviews().allSatisfy { $0 !== image })
    }

    @Test("A failing transformer removes only the previews of its own request")
    func failingTransformer() async throws {
        let picture = try SlowImage(try TestImages.jpeg(progressive: true))
        let fixture = try ManagerFixture()
        var refusing = picture.request(.progressive(interval: .zero))
        refusing.transformers = [RefusingTransformer()]
        let tasks = [refusing, picture.request(.progressive(interval: .zero))].map(fixture.manager.load)
        let logs = tasks.map(EventLog.init)
        picture.gates[0].open()
        for log in logs { await untilTrue { log.received == picture.size(1) } }
        picture.gates[1].open()
        let expected = try picture.preview(2)?.image.pixels.packedBytes()
        await untilTrue { logs[1].previews.last?.pixels.packedBytes() == expected }
        picture.gates.forEach { $0.open() }
        await #expect(throws: ImageError.self) { try await tasks[0].image }
        _ = try await tasks[1].image
        #expect(await logs[0].allPreviews().isEmpty)
    }

    @Test("Corrupt data ends the previews, and the load fails")
    func damaged() async throws {
        var data = try TestImages.png(1, width: 200, height: 200)
        for place in data.count / 3..<data.count * 2 / 3 { data[place] ^= 0x5A }
        let picture = try SlowImage(data)
        let fixture = try ManagerFixture()
        let task = fixture.manager.load(picture.request(.progressive(interval: .zero)))
        let log = EventLog(task)
        picture.gates.prefix(3).forEach { $0.open() }
        await untilTrue { log.received == picture.size(3) }
        picture.gates[3].open()
        await #expect(throws: ImageError.self) { try await task.image }
        await untilTrue { fixture.manager.runningJobs == 0 && fixture.manager.pipeline.fetch.feeds.count == 0 }
        #expect(fixture.manager.pipeline.fetch.feeds.budget.bytesInUse == 0)
    }

    private static func preview(_ prefix: Data) throws -> [UInt8]? {
        let start = try ImageCoderRegistry.standard.progressiveStart(prefix, context: ImageProcessingContext())
        guard case .decoder(let decoder, _) = start else { return nil }
        try decoder.append(prefix, isLast: false, context: ImageProcessingContext())
        return try decoder.makePreview(context: ImageProcessingContext())?.image.pixels.packedBytes()
    }
}

/// A transformer that always throws.
private struct RefusingTransformer: ImageTransformer {
    var identifier: String { "refusing" }

    func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        throw .processing(.noEncoder(.gif))
    }
}
