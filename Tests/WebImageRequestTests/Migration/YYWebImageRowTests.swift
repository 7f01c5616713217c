// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageUI

@Suite("Migration table: YYWebImage", .timeLimit(.minutes(5)))
struct YYWebImageRowTests {
    @Test("YYWebImageOptionShowNetworkActivity: the manager reports the number of running downloads")
    func activity() async throws {
        let table = try Migration()
        let manager = table.manager
        let gate = TestGate()
        let task = manager.load(try table.request(gate: gate))
        await table.loader.waitForRequests(count: 1)
        #expect(manager.activeDownloadCount == 1)
        gate.open()
        _ = try await task.image
    }

    @Test("YYWebImageOptionProgressive: previews have a minimum interval")
    func progressive() async throws {
        var request = ImageRequest(url: try Migration.url(1))
        request.previews = .progressive(interval: .milliseconds(500))
        #expect(request.previews.minimumInterval == 0.5)
        // The rest of the data arrives within the interval, so there's no second preview.
        let (count, image) = try await Migration().previews(request.previews)
        #expect(count == 1 && !image.metadata.isPartial)
    }

    @Test("YYWebImageOptionProgressiveBlur: previews can be blurred")
    func progressiveBlur() async throws {
        var request = ImageRequest(url: try Migration.url(1))
        request.previews = .blurred
        let (count, image) = try await Migration().previews(request.previews)
        #expect(count >= 1 && !image.metadata.isPartial)
    }

    @Test("YYWebImageOptionUseNSURLCache: HTTP freshness rules decide about a request")
    func http() async throws {
        let table = try Migration(policy: .cacheFirst)
        var request = try table.request()
        _ = try await table.manager.image(for: request)
        request.cachePolicy = .http
        _ = try await table.manager.image(for: request)
        // The response contained no freshness information.
        #expect(table.requestCount == 2)
    }

    @Test("YYWebImageOptionRefreshImageCache: invalid data never replaces a valid entry")
    func refresh() async throws {
        let table = try Migration()
        var request = try table.request()
        _ = try await table.manager.image(for: request)
        await table.manager.cache.flush()
        try table.serve(1, Data("<html>".utf8))
        request.cachePolicy = .reload
        let reload = request
        await #expect(throws: ImageError.self) { try await table.manager.image(for: reload) }
        table.manager.memoryCache.removeAll()
        request.cachePolicy = .cacheOnly
        #expect(try await table.manager.image(for: request).size.width == 64)
    }

    @Test("YYWebImageOptionIgnoreDiskCache: a request can use only memory")
    func ignoreDisk() async throws {
        let table = try Migration()
        var request = try table.request()
        request.caching.originalReadFrom = .memory
        request.caching.originalWriteTo = .memory
        request.caching.waitsUntilStored = true
        _ = try await table.manager.image(for: request)
        #expect(await table.manager.diskCache?.info().entryCount == 0)
    }

    @MainActor
    @Test("YYWebImageOptionIgnorePlaceHolder: the current image stays until the next one is loaded")
    func keepsCurrent() async throws {
        let table = try Migration()
        let shown = RecordedPresentations()
        let binder = ImageBinder(manager: table.manager) { shown.show($0) }
        var options = ImageViewOptions(placeholder: .color(.black))
        options.sizing = .originalSize
        options.keepsCurrentImage = true
        _ = try await binder.load(table.request(1, gate: shown.first), options: options)
        _ = try await binder.load(table.request(2), options: options)
        #expect(shown.kinds == [.placeholder, .image, .image])
    }

    @Test("YYWebImageOptionIgnoreAnimatedImage: a request can load only the first frame")
    func ignoreAnimated() async throws {
        let table = try Migration()
        var request = try table.request(1, Migration.gif())
        request.frames = .first
        #expect(try await table.manager.image(for: request).isAnimated == false)
    }

    @MainActor
    @Test("YYWebImageOptionSetImageWithFadeAnimation: images and previews have separate transitions")
    func fade() async throws {
        var options = ImageViewOptions()
        options.transition = .crossFade(duration: .milliseconds(200))
        options.previewTransition = .crossFade(duration: .milliseconds(400))
        options.sizing = .originalSize
        options.placeholder = .color(.black)
        let table = try Migration()
        let data = try TestImages.jpeg(progressive: true)
        let gate = TestGate()
        let url = try Migration.url(1)
        let shown = RecordedPresentations()
        table.loader.respond(
            to: url,
            with: StubLoader.Response(
                chunks: [data.prefix(data.count * 3 / 4), data.dropFirst(data.count * 3 / 4)],
                responseGate: shown.first, bodyGate: gate))
        var request = ImageRequest(url: url)
        request.previews = .progressive
        let binder = ImageBinder(manager: table.manager) { presentation in
            shown.show(presentation)
            if presentation.kind == .preview { gate.open() }
        }
        _ = try await binder.load(request, options: options)
        #expect(shown.kinds == [.placeholder, .preview, .image])
        #expect(shown.transitions.dropFirst().map(\.duration) == [.milliseconds(400), .milliseconds(200)])
    }

    @Test("YYWebImageOptionIgnoreFailedURL: the negative cache can be disabled")
    func failures() async throws {
        let table = try Migration { configuration in configuration.failureLifetime = { _ in nil } }
        table.loader.respond(to: try Migration.url(1), with: StubLoader.Response(error: BinderImages.notFound))
        for _ in 0..<2 {
            await #expect(throws: ImageError.self) { try await table.manager.image(for: Migration.url(1)) }
        }
        #expect(table.requestCount == 2)
    }

    @Test("YYFrameImage, YYSpriteSheetImage: animations are created from sprite sheets")
    func frames() throws {
        let animation = try ImageAnimation(
            spriteSheet: TestImages.pixels(1), columns: 4, rows: 3, frameDuration: .milliseconds(80))
        let animated = try DecodedImage(animation: animation)
        #expect(animation.frameDurations == Array(repeating: Duration.milliseconds(80), count: 12))
        #expect(animated.frameCount == 12 && animated.size == PixelSize(width: 16, height: 16))
    }

    @MainActor
    @Test("YYAnimatedImageView: the players of an image can share frames within a byte budget")
    func pool() async throws {
        let table = try Migration()
        let image = try await table.manager.image(for: table.request(1, Migration.gif()))
        var playback = AnimationPlayer.Options()
        playback.frameBufferLimit = 8 << 20
        playback.isSynchronized = true
        let players = [image, image].compactMap {
            AnimationPlayer($0, manager: table.manager, options: playback)
        }
        #expect(players.count == 2)
        for player in players {
            player.play()
            _ = player.tick(at: .zero)
        }
        await untilTrue {
            for player in players { _ = player.tick(at: .milliseconds(60)) }
            return players.allSatisfy { $0.frameIndex == 1 }
        }
        #expect(players[0].pixels === players[1].pixels)
    }

    @Test("YYImageEncoder, YYImageDecoder: images are encoded and decoded")
    func encoder() throws {
        let image = DecodedImage(pixels: try TestImages.pixels(1))
        for encoding in [ImageEncoding.jpeg, .png, .gif, .webp, .apng] {
            let data = try ImageCoderRegistry.standard.encode(image, as: encoding, context: ImageProcessingContext())
            #expect(try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext()).size == image.size)
        }
    }

    @Test("YYCache: the disk cache works without a manager")
    func cache() async throws {
        let folder = try TemporaryDirectory()
        let disk = try DiskCache(configuration: DiskCache.Configuration(path: folder.file("cache")))
        disk.store(CacheEntry(key: CacheKey(["mine"]), head: nil, data: Data("abc".utf8), storedAt: Date()))
        await disk.flush()
        #expect(await disk.entry(for: CacheKey(["mine"]))?.data == Data("abc".utf8))
    }

    @Test("UIImage+YYWebImage: transformers replace the image effects")
    func effects() throws {
        let image = DecodedImage(pixels: try TestImages.pixels(1))
        let effects: [any ImageTransformer] = [
            .blur(radius: 60, saturation: 1.8, unit: .points), .grayscale, .tint(.white), .inset(4),
            .roundedCorners(radius: 6), .rotate(degrees: 45), .flipVertically,
        ]
        for effect in effects {
            #expect(try !effect.apply(to: image, context: ImageProcessingContext()).size.isEmpty)
        }
    }
}
