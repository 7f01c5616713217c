// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageUI

@Suite("Migration table: SDWebImage classes", .timeLimit(.minutes(5)))
struct ClassRowTests {
    @Test("SDWebImageManager: an ImageManager is created with one configuration")
    func manager() async throws {
        let folder = try TemporaryDirectory()
        let server = try LoopbackServer(routes: ["/a": .ok(try TestImages.png(1), contentType: "image/png")])
        let manager = ImageManager { configuration in
            configuration.diskCache = DiskCache.Configuration(path: folder.file("cache"))
            configuration.diskCache?.sizeLimit = 1 << 30
            configuration.downloader.proxy = .disabled
            configuration.downloader.headers["X-App"] = "Gallery"
            configuration.limits.maxDimension = 50
        }
        let whole = ImageRequest(url: server.url("/a"))
        await #expect(throws: ImageError.limitExceeded(ImageError.LimitFailure(.dimension, limit: 50, actual: 64))) {
            try await manager.image(for: whole)
        }
        #expect(server.requests.first?.headers["X-App"] == "Gallery")
        #expect(folder.files.contains("cache"))
        await manager.shutdown()
    }

    @Test("SDWebImageCombinedOperation: an ImageTask can be canceled at any stage")
    func task() async throws {
        let table = try Migration()
        let task = table.manager.load(try table.request(gate: TestGate()))
        task.cancel()
        await #expect(throws: ImageError.cancelled) { try await task.response }
    }

    @Test("SDImageCache, SDMemoryCache, SDDiskCache, SDImageCacheConfig: an ImageCache combines its tiers")
    func caches() async throws {
        let folder = try TemporaryDirectory()
        var limits = MemoryCache.Configuration()
        limits.costLimit = 64 << 20
        let cache = ImageCache(
            memory: MemoryCache(configuration: limits),
            disk: try DiskCache(configuration: DiskCache.Configuration(path: folder.file("cache"))))
        cache.memory?.store(DecodedImage(pixels: try TestImages.pixels(1)), for: CacheKey(["mine"]))
        #expect(cache.memory?.image(for: CacheKey(["mine"])) != nil)
        await cache.removeAll()
        #expect(cache.memory?.statistics.count == 0)
    }

    @Test("SDImageCachesManager: tiers have a policy for each operation")
    func cachesManager() async {
        var policies = ImageCache.TierPolicy()
        policies.lookup = .serial
        policies.storage = .nearestOnly
        policies.removal = .concurrent
        policies.promotesHits = false
        let (near, far) = (DictionaryTier(), DictionaryTier())
        let cache = ImageCache(memory: nil, tiers: [near, far], policy: policies)
        let (first, second) = (CacheKey(["first"]), CacheKey(["second"]))
        await cache.store(CacheEntry(key: first, data: Data("one".utf8)))
        #expect(near.keys == [first] && far.keys.isEmpty)
        await far.store(CacheEntry(key: second, data: Data("two".utf8)), matching: [:])
        #expect(await cache.entry(for: second)?.data == Data("two".utf8))
        await cache.removeAll()
        #expect(near.keys.isEmpty && far.keys.isEmpty)
    }

    @Test("SDWebImageDownloader, SDWebImageDownloaderConfig, SDWebImageDownloadToken: ImageDownloader works alone")
    func downloader() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(Data("abc".utf8), contentType: "text/plain")])
        var configuration = ImageDownloader.Configuration()
        configuration.queueOrder = .lifo
        configuration.progressInterval = .milliseconds(100)
        configuration.proxy = .disabled
        let downloader = ImageDownloader(configuration: configuration)
        downloader.isSuspended = true
        downloader.isSuspended = false
        let response = try await downloader.load(LoadRequest(url: server.url("/a")), context: LoadContext())
        #expect(response.body == Data("abc".utf8))
        downloader.shutdown()
    }

    @Test("SDImageLoader, SDImageLoadersManager: the last custom loader is used first")
    func loaders() async throws {
        let second = StubLoader { _ in StubLoader.Response(body: (try? TestImages.png(2, width: 30)) ?? Data()) }
        let folder = try TemporaryDirectory()
        let first = StubLoader()
        let manager = ImageManager { configuration in
            configuration.diskCache = DiskCache.Configuration(path: folder.file("cache"))
            configuration.loaders = [first, second]
        }
        #expect(try await manager.image(for: Migration.url(1)).size.width == 30)
        #expect(first.requests.isEmpty)
    }

    @Test(
        "SDImageCoder, SDImageCodersManager, SDProgressiveImageCoder, SDAnimatedImageCoder: a CoderRegistry transcodes"
    )
    func coders() throws {
        let coders = ImageCoderRegistry.standard
        let image = try coders.decode(TestImages.png(1), context: ImageProcessingContext())
        let webp = try coders.encode(image, as: .webp.lossless, context: ImageProcessingContext())
        #expect(try coders.decode(webp, context: ImageProcessingContext()).format == .webp)
    }

    @Test("SDImageCoderHelper: animations are created from frames and split into frames")
    func coderHelper() throws {
        let frames = try (1...3).map { (pixels: try TestImages.pixels($0), duration: Duration.milliseconds(40)) }
        let animated = try DecodedImage(animation: ImageAnimation(frames: frames, loopCount: 2))
        let second = try animated.selecting(.indices([1]))
        #expect(animated.frameCount == 3 && second.frameCount == 1)
    }

    @Test(
        "SDImageIOCoder, SDImageGIFCoder, SDImageAPNGCoder, SDImageAWebPCoder, SDImageHEICCoder: formats have a coder")
    func formats() throws {
        let coders = ImageCoderRegistry.standard
        let always: [ImageFormat] = [.jpeg, .png, .apng, .gif, .webp, .bmp, .ico]
        #expect(always.allSatisfy { coders.canDecode($0) })
    }

    @Test("NSData+ImageContentType: ImageFormat(sniffing:) recognizes the format")
    func sniff() throws {
        #expect(ImageFormat(sniffing: try TestImages.png(1)) == .png)
    }

    @MainActor
    @Test("shouldIncrementalLoad of SDAnimatedImageView: a player continues with the frames of a running download")
    func incrementalLoad() async throws {
        let file = try SteppedImage(Migration.gif())
        var request = ImageRequest(url: file.url)
        request.previews = .progressive
        let task = file.manager.load(request)
        let log = EventLog(task)
        file.loader.go(.head(expected: nil))
        // The trailer is missing, so further frames may follow.
        file.loader.go(.body(file.data.dropLast()))
        await untilTrue { log.previews.last?.frameCount == 3 }
        let preview = try #require(log.previews.last)
        let player = try #require(AnimationPlayer(preview, manager: file.manager))
        player.play()
        _ = player.tick(at: .zero)
        #expect(player.image.animation?.isComplete == false)
        file.loader.go(.finish(file.data))
        let image = try await task.image
        #expect(player.update(image))
        #expect(player.image === image && player.state == .playing)
    }

    @MainActor
    @Test(
        "SDAnimatedImage, SDAnimatedImagePlayer, SDAnimatedImageView: an AnimationPlayer plays on the clock of any view"
    )
    func player() async throws {
        let table = try Migration()
        let image = try await table.manager.image(for: table.request(1, Migration.gif()))
        let manager = table.manager
        let player = try #require(AnimationPlayer(image, manager: manager))
        player.play()
        player.options.rate = 2
        player.options.mode = .bounce
        player.seek(toFrame: 1)
        player.pause()
        #expect(player.state == .paused)
    }

    @Test("SDImageTransformer: transformers are values that include their parameters in the cache key")
    func transformers() throws {
        let image = DecodedImage(pixels: try TestImages.pixels(1))
        let list: [any ImageTransformer] = [
            .crop(PixelRect(x: 2, y: 2, width: 40, height: 40)), .resize(width: 20), .flip(.horizontal),
            .rotate(degrees: 90), .tint(.black, blendMode: .sourceAtop), .blur(radius: 2), .saturation(0.5),
            .roundedCorners(radius: 4), .border(width: 1, color: .white),
        ]
        let result = try ComposedTransformer(list).apply(to: image, context: ImageProcessingContext())
        #expect(result.size.width >= 20)
        let color = image.pixels.color(x: 3, y: 3)
        let colors = image.pixels.colors(in: PixelRect(x: 0, y: 0, width: 2, height: 2))
        #expect(color != nil && colors.count == 4)
    }

    @Test("SDGraphicsImageRenderer: images can be drawn on images")
    func draw() throws {
        let badge = try TestImages.pixels(2)
        let canvas = DecodedImage(
            pixels: try PixelBuffer.filled(with: .white, size: PixelSize(width: 100, height: 80)))
        let overlay: StandardTransformer = .overlay(
            badge, in: PixelRect(x: 70, y: 50, width: 24, height: 24), opacity: 0.9)
        let drawn = try overlay.apply(to: canvas).pixels
        #expect(drawn.color(x: 5, y: 5) == .white)
        #expect(drawn.color(x: 80, y: 60) != .white)
        let empty: StandardTransformer = .overlay(badge, in: PixelRect(x: 0, y: 0, width: 0, height: 5))
        #expect(throws: ImageError.self) { try empty.apply(to: canvas) }
    }

    @MainActor
    @Test("UIView+WebCache: an ImageBinder connects any view to the manager")
    func views() async throws {
        let table = try Migration()
        let shown = RecordedPresentations()
        let binder = ImageBinder(manager: table.manager) { shown.show($0) }
        binder.setViewSize(width: 20, height: 20, scale: 2)
        _ = try await binder.load(table.request())
        #expect(shown.image?.size.width == 40)
        binder.unbind()
        #expect(shown.kinds.last == .nothing)
    }

    @MainActor
    @Test("sd_imageProgress: a binder reports its state and its progress, also in an object of the application")
    func progress() async throws {
        let table = try Migration()
        let binder = ImageBinder(manager: table.manager) { _ in }
        var options = ImageViewOptions()
        options.sizing = .originalSize
        let progress = Progress(totalUnitCount: 1)
        binder.progress = progress
        binder.bind(try table.request(), options: options)
        var fraction: Double?
        for await snapshot in binder.snapshots {
            fraction = snapshot.progress?.fraction ?? fraction
            if snapshot.state == .showing { break }
        }
        #expect(fraction == 1)
        #expect(progress.totalUnitCount > 1 && progress.isFinished)
    }

    @MainActor
    @Test("sd_imageURL, sd_currentImageURL: a snapshot has the requests of the binding and of the displayed image")
    func imageURL() async throws {
        let table = try Migration()
        let gate = TestGate()
        let binder = ImageBinder(manager: table.manager) { _ in }
        var options = ImageViewOptions()
        options.sizing = .originalSize
        options.keepsCurrentImage = true
        _ = try await binder.load(table.request(1), options: options)
        binder.bind(try table.request(2, gate: gate), options: options)
        #expect(try binder.snapshot.request?.url == Migration.url(2))
        #expect(try binder.snapshot.displayedRequest?.url == Migration.url(1))
        gate.open()
        for await snapshot in binder.snapshots where snapshot.state == .showing { break }
        #expect(binder.snapshot.displayedRequest == binder.snapshot.request)
    }

    @MainActor
    @Test("sd_cancelCurrentImageLoad, sd_cancelLatestImageLoad: a load is canceled, and the view keeps its content")
    func cancelCurrentImageLoad() async throws {
        let table = try Migration()
        let shown = RecordedPresentations()
        let gate = TestGate()
        let binder = ImageBinder(manager: table.manager) { shown.show($0) }
        var options = ImageViewOptions(placeholder: .color(.black))
        options.sizing = .originalSize
        var ends: [ImageError?] = []
        binder.bind(try table.request(gate: gate), options: options) { ends.append($0.failure) }
        await table.loader.waitForRequests(count: 1)
        binder.cancel()
        await table.loader.waitForCancellations(count: 1)
        #expect(ends == [.cancelled] && shown.kinds == [.placeholder])
        #expect(binder.snapshot.state == .cancelled)
    }

    @MainActor
    @Test("sd_setImageWithURL:…setImageBlock: a handler receives the content of a binding")
    func setImageBlock() async throws {
        let table = try Migration()
        let received = RecordedPresentations()
        let binder = ImageBinder(manager: table.manager) { _ in }
        var options = ImageViewOptions(placeholder: .color(.black))
        options.sizing = .originalSize
        options.setsImageAutomatically = false
        options.onPresentation = { received.show($0) }
        _ = try await binder.load(table.request(gate: received.first), options: options)
        #expect(received.kinds == [.placeholder, .image])
    }

    @Test("SDWebImageTransition: transitions are values")
    func transition() {
        let transition = ImageTransition.slide(from: .left, duration: .milliseconds(300))
        #expect(transition.curve.progress(at: 0) == 0 && transition.curve.progress(at: 1) == 1)
        #expect(transition.forced().appliesToMemoryHits && !transition.appliesToMemoryHits)
        #expect(ImageTransition(.zoom, duration: .seconds(-1)).duration == .zero)
        #expect(ImageTransition.crossFade().duration == .milliseconds(500))
    }

    @Test("SDWebImagePrefetcher: a prefetcher loads lists of requests to memory or disk")
    func prefetcher() async throws {
        let table = try Migration()
        let manager = table.manager
        let requests = try (1...4).map { try table.request($0) }
        let prefetcher = ImagePrefetcher(manager: manager)
        let list = prefetcher.prefetch(requests, to: .diskCache)
        let progress = await list.result
        #expect(progress.loadedCount == 4 && progress.failures.isEmpty)
        prefetcher.cancelAll()
    }

    @Test("SDWebImageError: an ImageError has one of six families and a stable code")
    func error() {
        let error = ImageError.network(
            ImageError.NetworkFailure(
                .unacceptableStatusCode, url: URL(filePath: "/b"), phase: .waitingForResponse, statusCode: 404))
        #expect(error.code / 1000 == 2 && error.attempts.count == 1)
    }

    @Test("SDImageScaleFactorForKey: a request has the scale in the name of its file")
    func scale() throws {
        let icon = try #require(URL(string: "https://pictures.example/icon@2x.png"))
        #expect(ImageRequest(url: icon).scale == 2)
    }

    @MainActor
    @Test("SDWebImageSwiftUI: a binder is observable for any declarative toolkit")
    func declarative() async throws {
        let table = try Migration()
        let binder = ImageBinder(manager: table.manager) { _ in }
        var options = ImageViewOptions()
        options.sizing = .originalSize
        binder.bind(try table.request(), options: options)
        for await snapshot in binder.snapshots where snapshot.state == .showing { break }
        #expect(binder.snapshot.content == .image)
    }
}

/// A tier that keeps its entries in a dictionary.
private final class DictionaryTier: CacheTier {
    private let entries = Shared<[CacheKey: CacheEntry]>([:])

    var keys: Set<CacheKey> { Set(entries.value.keys) }

    func entry(for key: CacheKey, matching headers: HTTPHeaderFields) async -> CacheEntry? { entries.value[key] }

    func store(_ entry: CacheEntry, matching headers: HTTPHeaderFields) async {
        entries.update { $0[entry.key] = entry }
    }

    func remove(_ key: CacheKey, matching headers: HTTPHeaderFields?) async { entries.update { $0[key] = nil } }

    func removeAll() async { entries.value = [:] }
}
