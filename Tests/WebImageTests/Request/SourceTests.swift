// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Sources other than URLs", .timeLimit(.minutes(5)))
struct SourceTests {
    private struct Broken: Error {}

    @Test("An image from data is decoded at the requested size, cached in memory, and never written to disk")
    func data() async throws {
        let manager = try ManagerFixture().manager
        let request = ImageRequest(data: try TestPictures.png(1), size: .fit(width: 32))
        let first = try await manager.response(for: request)
        #expect(first.image.size == PixelSize(width: 32, height: 24) && first.origin == .local)
        #expect(try await manager.response(for: request).origin == .memory)
        let same = ImageRequest(data: try TestPictures.png(1), size: .fit(width: 32))
        #expect(manager.cachedImage(for: same) === first.image)
        #expect(try manager.cachedImage(for: ImageRequest(data: TestPictures.png(2), size: .fit(width: 32))) == nil)
        await manager.cache.flush()
        #expect(await manager.diskCache?.info().entries == 0)
        #expect(try await manager.data(for: request) == TestPictures.png(1))
    }

    @Test("A data closure is called once for concurrent requests, and the disk cache serves later requests")
    func bytes() async throws {
        let fixture = try ManagerFixture()
        let gate = Gate()
        let calls = Shared(0)
        let png = try TestPictures.png(3)
        let request = ImageRequest(key: "mail 7/attachment ä") {
            calls.update { $0 += 1 }
            await gate.wait()
            return png
        }
        let tasks = (0..<3).map { _ in fixture.manager.load(request) }
        gate.open()
        for task in tasks { #expect(try await task.image.size.width == 64) }
        await fixture.manager.cache.flush()
        let later = try await fixture.restarted()
        #expect(try await later.manager.response(for: request).origin == .disk)
        #expect(calls.value == 1)
    }

    @Test("A stream source delivers progress and previews")
    func stream() async throws {
        let manager = try ManagerFixture().manager
        let data = try TestPictures.jpeg(progressive: true)
        let gate = Gate()
        var request = ImageRequest(
            key: "stream",
            stream: {
                AsyncThrowingStream { continuation in
                    continuation.yield(data.prefix(data.count * 3 / 4))
                    gate.whenOpen {
                        continuation.yield(data.dropFirst(data.count * 3 / 4))
                        continuation.finish()
                    }
                }
            })
        request.preview = .progressive
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
        let broken = ImageRequest(key: "a", data: { throw Broken() })
        await #expect(throws: ImageError.request(.sourceFailed(reason: "Broken()"))) {
            try await manager.image(for: broken)
        }
        let refused = ImageRequest(key: "b", data: { throw ImageError.request(.refused(reason: "no")) })
        await #expect(throws: ImageError.request(.refused(reason: "no"))) { try await manager.image(for: refused) }
        let empty = ImageRequest(key: "c", data: { Data() })
        #expect(await code { try await manager.image(for: empty) } == 2021)
        var large = ImageRequest(key: "d", data: { Data(count: 101) })
        large.limits = Limits.desktop
        large.limits?.maxEncodedBytes = 100
        let limited = large
        #expect(await code { try await manager.image(for: limited) } == 6001)
        let picture = ImageRequest(key: "e", image: { throw Broken() })
        #expect(await code { try await manager.image(for: picture) } == 1012)
    }

    @Test("An image closure is called once, and its image is transformed, cached in memory, and encoded on request")
    func image() async throws {
        let manager = try ManagerFixture().manager
        let gate = Gate()
        let calls = Shared(0)
        let pixels = try TestPictures.pixels(5)
        let make: @Sendable () async throws -> Image = {
            calls.update { $0 += 1 }
            await gate.wait()
            return Image(pixels: pixels)
        }
        let whole = ImageRequest(key: "drawn", image: make)
        let small = ImageRequest(key: "drawn", size: .fit(width: 32), transformers: [.pad(4)], image: make)
        let tasks = [manager.load(whole), manager.load(small)]
        gate.open()
        #expect(try await tasks[0].image.pixels.size == pixels.size)
        #expect(try await tasks[1].image.size == PixelSize(width: 40, height: 32))
        #expect(calls.value == 1)
        #expect(manager.cachedImage(for: small)?.size.width == 40)
        await #expect(throws: ImageError.request(.noOriginal)) { try await manager.data(for: whole) }
        let png = try await manager.data(for: whole, encodedAs: .png())
        #expect(ImageFormat.sniff(png) == .png)
        await manager.cache.flush()
        #expect(await manager.diskCache?.info().entries == 0)
    }

    @Test("An image that exceeds the limits is rejected, and canceling a request cancels its image closure")
    func hostile() async throws {
        let manager = try ManagerFixture().manager
        let pixels = try TestPictures.pixels(5)
        var request = ImageRequest(key: "large", image: { Image(pixels: pixels) })
        request.limits = Limits.desktop
        request.limits?.maxPixels = 100
        let limited = request
        #expect((await code { try await manager.image(for: limited) }).map { $0 / 1000 } == 6)
        let began = Gate()
        let ended = Gate()
        let task = manager.load(
            ImageRequest(key: "slow") {
                began.open()
                await withTaskCancellationHandler {
                    await ended.wait()
                } onCancel: {
                    ended.open()
                }
                return Image(pixels: pixels)
            })
        await began.wait()
        task.cancel()
        await ended.wait()
        await untilTrue { manager.runningJobs == 0 }
        #expect(manager.memoryCache.statistics.count == 0)
    }

    private func code(_ body: () async throws -> Image) async -> Int? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? ImageError)?.code
        }
    }
}
