// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Rows: classes of SDWebImage", .timeLimit(.minutes(2)))
struct ClassRowTests {
    @Test("SDWebImageManager: ImageManager, configured by one value")
    func manager() async throws {
        let folder = try TemporaryFolder()
        let manager = ImageManager { configuration in
            configuration.cache.disk = DiskCacheConfiguration(directory: folder.file("cache"))
            configuration.cache.disk.sizeLimit = .gigabytes(1)
            configuration.downloader.connectionsPerHost = 4
            configuration.limits = .server
        }
        #expect(manager.configuration.downloader.connectionsPerHost == 4)
        await manager.close()
    }

    @Test("SDWebImageCombinedOperation: ImageTask, cancelled at any stage")
    func task() async throws {
        let table = try Migration()
        let task = table.manager.load(try table.request(gate: Gate()))
        task.cancel()
        await #expect(throws: ImageError.request(.cancelled)) { try await task.response }
    }

    @Test("SDImageCache, SDMemoryCache, SDDiskCache, SDImageCacheConfig: ImageCache of memory, disk and further tiers")
    func caches() async throws {
        let folder = try TemporaryFolder()
        let cache = ImageCache(
            memory: MemoryCache(costLimit: 64 << 20),
            disk: try DiskCache(configuration: DiskCacheConfiguration(directory: folder.file("cache"))))
        cache.memory?.store(Image(pixels: try TestPictures.pixels(1)), for: CacheKey(["mine"]))
        #expect(cache.memory?.image(for: CacheKey(["mine"])) != nil)
        await cache.removeAll()
        #expect(cache.memory?.statistics.count == 0)
    }

    @Test("SDImageCachesManager: tiers with a policy for each operation")
    func cachesManager() {
        var policies = ImageCache.Policies()
        policies.query = .serial
        policies.store = .highestOnly
        policies.remove = .concurrent
        #expect(ImageCache(tiers: [], policies: policies).policies.store == .highestOnly)
    }

    @Test(
        "SDWebImageDownloader, SDWebImageDownloaderConfig, SDWebImageDownloadToken: ImageDownloader, usable by itself")
    func downloader() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(Data("abc".utf8), type: "text/plain")])
        var configuration = DownloaderConfiguration()
        configuration.queueOrder = .lifo
        configuration.minimumProgressInterval = 0.1
        configuration.proxy = .none
        let downloader = ImageDownloader(configuration)
        downloader.suspend()
        downloader.resume()
        let response = try await downloader.load(LoadRequest(url: server.url("/a")), context: LoadContext())
        #expect(response.body == Data("abc".utf8))
        downloader.close()
    }

    @Test("SDImageLoader, SDImageLoadersManager: ImageLoader; the last one added is asked first")
    func loaders() async throws {
        let second = StubLoader { _ in StubLoader.Answer(body: (try? TestPictures.png(2, width: 30)) ?? Data()) }
        let folder = try TemporaryFolder()
        let first = StubLoader()
        let manager = ImageManager { configuration in
            configuration.cache.disk = DiskCacheConfiguration(directory: folder.file("cache"))
            configuration.loaders = [first, second]
        }
        #expect(try await manager.image(from: Migration.url(1)).size.width == 30)
        #expect(first.requests.isEmpty)
    }

    @Test("SDImageCoder, SDImageCodersManager, SDProgressiveImageCoder, SDAnimatedImageCoder: CoderRegistry")
    func coders() throws {
        let coders = CoderRegistry.standard
        let image = try coders.decode(TestPictures.png(1), context: CodingContext())
        let webp = try coders.encode(image, as: .webp(lossless: true), context: CodingContext())
        #expect(try coders.decode(webp, context: CodingContext()).format == .webp)
    }

    @Test("SDImageCoderHelper: pictures from frames, frames from pictures")
    func coderHelper() throws {
        let frames = try (1...3).map { (pixels: try TestPictures.pixels($0), milliseconds: 40) }
        let animated = try Image(ImageAnimation(frames: frames, loopCount: 2))
        let second = try animated.taking(.list([1]))
        #expect(animated.frameCount == 3 && second.frameCount == 1)
    }

    @Test(
        "SDImageIOCoder, SDImageGIFCoder, SDImageAPNGCoder, SDImageAWebPCoder, SDImageHEICCoder: one coder per format")
    func formats() throws {
        let coders = CoderRegistry.standard
        let always: [ImageFormat] = [.jpeg, .png, .apng, .gif, .webp, .bmp, .ico]
        #expect(always.allSatisfy { coders.canDecode($0) })
    }

    @Test("NSData+ImageContentType: ImageFormat.sniff")
    func sniff() throws {
        #expect(ImageFormat.sniff(try TestPictures.png(1)) == .png)
    }

    @MainActor
    @Test("SDAnimatedImage, SDAnimatedImagePlayer, SDAnimatedImageView: AnimationPlayer on the clock of any view")
    func player() async throws {
        let table = try Migration()
        let image = try await table.manager.image(for: table.request(1, Migration.gif()))
        let player = try #require(AnimationPlayer(image, manager: table.manager))
        player.play()
        player.rate = 2
        player.mode = .bounce
        player.seek(toFrame: 1)
        player.pause()
        #expect(player.state == .paused)
    }

    @Test("SDImageTransformer: a list of values; each one names its parameters in the key")
    func transformers() throws {
        let image = Image(pixels: try TestPictures.pixels(1))
        let list: [any ImageTransformer] = [
            .crop(PixelRect(x: 2, y: 2, width: 40, height: 40)), .resize(width: 20), .flip(.horizontal),
            .rotate(degrees: 90), .tint(.black, mode: .sourceAtop), .blur(radius: 2), .saturation(0.5),
            .roundedCorners(radius: 4), .border(width: 1, color: .white),
        ]
        let result = try ComposedTransformer(list).apply(to: image, context: TransformContext())
        #expect(result.size.width >= 20)
        let color = image.color(at: PixelPoint(x: 3, y: 3))
        let colors = image.colors(in: PixelRect(x: 0, y: 0, width: 2, height: 2))
        #expect(color != nil && colors.count == 4)
    }

    @Test("SDGraphicsImageRenderer: pictures drawn on pictures")
    func draw() throws {
        let badge = try TestPictures.pixels(2)
        let canvas = try PixelBuffer.filled(.white, size: PixelSize(width: 100, height: 80))
        let drawn = try canvas.draw(badge, in: PixelRect(x: 70, y: 50, width: 24, height: 24), opacity: 0.9)
        #expect(drawn.color(at: PixelPoint(x: 5, y: 5)) == .white)
        #expect(drawn.color(at: PixelPoint(x: 80, y: 60)) != .white)
        #expect(throws: ImageError.self) { try canvas.draw(badge, in: PixelRect(x: 0, y: 0, width: 0, height: 5)) }
    }

    @MainActor
    @Test("UIView+WebCache: ImageBinder between any view and the manager; WebImageView(of:) in GTK")
    func views() async throws {
        let table = try Migration()
        let shown = ShownPictures()
        let binder = ImageBinder(manager: table.manager) { shown.show($0) }
        binder.allocate(ViewAllocation(width: 20, height: 20, scaleFactor: 2))
        _ = try await binder.load(table.request())
        #expect(shown.image?.size.width == 40)
        binder.unbind()
        #expect(shown.kinds.last == .nothing)
    }

    @MainActor
    @Test("sd_imageProgress: what a binder tells of itself")
    func progress() async throws {
        let table = try Migration()
        let binder = ImageBinder(manager: table.manager) { _ in }
        var states = 0
        binder.onChange = { snapshot in
            if snapshot.progress?.fraction == 1 { states += 1 }
        }
        var options = BindingOptions()
        options.sizing = .none
        _ = try await binder.load(table.request(), options: options)
        #expect(binder.snapshot.state == .showing)
    }

    @Test("SDWebImageTransition: values, with a curve that gives the progress at any time")
    func transition() {
        let transition = Transition.slide(from: .left, duration: 0.3)
        #expect(transition.curve.progress(at: 0) == 0 && transition.curve.progress(at: 1) == 1)
        #expect(Transition.crossFade().duration == 0.5)
    }

    @Test("SDWebImagePrefetcher: lists and sequences, progress, pause, memory or disk")
    func prefetcher() async throws {
        let table = try Migration()
        let manager = table.manager
        let requests = try (1...4).map { try table.request($0) }
        let prefetcher = ImagePrefetcher(manager)
        let list = prefetcher.prefetch(requests, to: .disk)
        let progress = await list.result
        #expect(progress.loaded == 4 && progress.failed == 0)
        prefetcher.cancelAll()
    }

    @Test("SDWebImageError: ImageError, six families with numbers that never change")
    func error() {
        let error = ImageError.network(NetworkError(.status, url: "https://a.example/b", phase: .head, status: 404))
        #expect(error.code / 1000 == 2 && error.attempts.count == 1)
    }

    @Test("SDImageScaleFactorForKey: ImageScale.from(key:)")
    func scale() {
        let scale = ImageScale.from(key: "icon@2x.png")
        #expect(scale == 2)
    }

    @MainActor
    @Test("SDWebImageSwiftUI: the observable binder for any declarative toolkit")
    func declarative() async throws {
        let table = try Migration()
        let binder = ImageBinder(manager: table.manager) { _ in }
        var options = BindingOptions()
        options.sizing = .none
        binder.bind(try table.request(), options: options)
        for await snapshot in binder.changes where snapshot.state == .showing { break }
        #expect(binder.snapshot.shown == .picture)
    }
}
