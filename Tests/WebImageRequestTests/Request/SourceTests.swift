// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Sources other than URLs", .timeLimit(.minutes(5)))
struct SourceTests {
    private struct Failure: Error {}

    @Test("An image from data is decoded at the requested size, cached in memory, and never written to disk")
    func data() async throws {
        let manager = try ManagerFixture().manager
        var request = ImageRequest(data: try TestImages.png(1))
        request.size = .fit(width: 32)
        let first = try await manager.response(for: request)
        #expect(first.image.size == PixelSize(width: 32, height: 24) && first.source == .local)
        #expect(try await manager.response(for: request).source == .memoryCache)
        var same = ImageRequest(data: try TestImages.png(1))
        same.size = .fit(width: 32)
        #expect(manager.cachedImage(for: same) === first.image)
        var other = ImageRequest(data: try TestImages.png(2))
        other.size = .fit(width: 32)
        #expect(manager.cachedImage(for: other) == nil)
        await manager.cache.flush()
        #expect(await manager.diskCache?.info().entryCount == 0)
        #expect(try await manager.data(for: request) == TestImages.png(1))
    }

    @Test("A data closure is called once for concurrent requests, and the disk cache serves later requests")
    func bytes() async throws {
        let fixture = try ManagerFixture()
        let gate = TestGate()
        let calls = Shared(0)
        let png = try TestImages.png(3)
        let request = ImageRequest(cacheKey: "mail 7/attachment ä") {
            calls.update { $0 += 1 }
            await gate.wait()
            return png
        }
        let tasks = (0..<3).map { _ in fixture.manager.load(request) }
        gate.open()
        for task in tasks { #expect(try await task.image.size.width == 64) }
        await fixture.manager.cache.flush()
        let later = try await fixture.restarted()
        #expect(try await later.manager.response(for: request).source == .diskCache)
        #expect(calls.value == 1)
    }

    @Test("A stream source delivers progress and previews")
    func stream() async throws {
        let manager = try ManagerFixture().manager
        let data = try TestImages.jpeg(progressive: true)
        let gate = TestGate()
        var request = ImageRequest(
            cacheKey: "stream",
            stream: {
                AsyncThrowingStream { continuation in
                    continuation.yield(data.prefix(data.count * 3 / 4))
                    gate.whenOpen {
                        continuation.yield(data.dropFirst(data.count * 3 / 4))
                        continuation.finish()
                    }
                }
            })
        request.previews = .progressive
        let task = manager.load(request)
        var previews = 0
        for await event in task.events {
            if case .preview = event {
                previews += 1
                gate.open()
            }
        }
        #expect(previews >= 1)
        #expect(try await task.image.size == PixelSize(width: 160, height: 120))
    }

    @Test("Errors of a source are wrapped unless they're typed, and empty or oversized data throws")
    func failures() async throws {
        let manager = try ManagerFixture().manager
        let broken = ImageRequest(cacheKey: "a", data: { throw Failure() })
        await #expect(throws: ImageError.request(.sourceFailed(reason: "Failure()"))) {
            try await manager.image(for: broken)
        }
        let refused = ImageRequest(cacheKey: "b", data: { throw ImageError.request(.rejected(reason: "no")) })
        await #expect(throws: ImageError.request(.rejected(reason: "no"))) { try await manager.image(for: refused) }
        let empty = ImageRequest(cacheKey: "c", data: { Data() })
        #expect(await code { try await manager.image(for: empty) } == 2021)
        var large = ImageRequest(cacheKey: "d", data: { Data(count: 101) })
        large.limits = ImageLimits.desktop
        large.limits?.maxEncodedBytes = 100
        let limited = large
        #expect(await code { try await manager.image(for: limited) } == 6001)
        let picture = ImageRequest(cacheKey: "e", image: { throw Failure() })
        #expect(await code { try await manager.image(for: picture) } == 1012)
    }

    @Test("An image closure is called once, and its image is transformed, cached in memory, and encoded on request")
    func image() async throws {
        let manager = try ManagerFixture().manager
        let gate = TestGate()
        let calls = Shared(0)
        let pixels = try TestImages.pixels(5)
        let make: @Sendable () async throws -> DecodedImage = {
            calls.update { $0 += 1 }
            await gate.wait()
            return DecodedImage(pixels: pixels)
        }
        let whole = ImageRequest(cacheKey: "drawn", image: make)
        var small = ImageRequest(cacheKey: "drawn", image: make)
        small.size = .fit(width: 32)
        small.transformers = [.pad(4)]
        let tasks = [manager.load(whole), manager.load(small)]
        await untilTrue { manager.statistics.coalescedLoads == 1 }
        gate.open()
        #expect(try await tasks[0].image.pixels.size == pixels.size)
        #expect(try await tasks[1].image.size == PixelSize(width: 40, height: 32))
        #expect(calls.value == 1)
        #expect(manager.cachedImage(for: small)?.size.width == 40)
        await #expect(throws: ImageError.request(.noOriginalData)) { try await manager.data(for: whole) }
        let png = try await manager.encodedImage(for: whole, as: .png).data
        #expect(ImageFormat(sniffing: png) == .png)
        await manager.cache.flush()
        #expect(await manager.diskCache?.info().entryCount == 0)
    }

    @Test("An image that exceeds the limits is rejected, and canceling a request cancels its image closure")
    func hostile() async throws {
        let manager = try ManagerFixture().manager
        let pixels = try TestImages.pixels(5)
        var request = ImageRequest(cacheKey: "large", image: { DecodedImage(pixels: pixels) })
        request.limits = ImageLimits.desktop
        request.limits?.maxPixels = 100
        let limited = request
        #expect((await code { try await manager.image(for: limited) }).map { $0 / 1000 } == 6)
        let began = TestGate()
        let ended = TestGate()
        let task = manager.load(
            ImageRequest(cacheKey: "slow") {
                began.open()
                await withTaskCancellationHandler {
                    await ended.wait()
                } onCancel: {
                    ended.open()
                }
                return DecodedImage(pixels: pixels)
            })
        await began.wait()
        task.cancel()
        await ended.wait()
        await untilTrue { manager.runningJobs == 0 }
        #expect(manager.memoryCache.statistics.count == 0)
    }

    private func code(_ body: () async throws -> DecodedImage) async -> Int? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? ImageError)?.code
        }
    }
}
