// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageUI

@Suite("Migration table: SDWebImageOptions", .timeLimit(.minutes(5)))
struct OptionRowTests {
    @Test("retryFailed: a request that ignores failures is sent again")
    func retryFailed() async throws {
        let table = try Migration()
        let url = try Migration.url(1)
        table.loader.respond(to: url, with: StubLoader.Response(error: BinderImages.notFound))
        var request = ImageRequest(url: url)
        await #expect(throws: ImageError.self) { try await table.manager.image(for: request) }
        await #expect(throws: ImageError.self) { try await table.manager.image(for: request) }
        #expect(table.requestCount == 1)
        request.caching.bypassesFailureCache = true
        await #expect(throws: ImageError.self) { try await table.manager.image(for: request) }
        #expect(table.requestCount == 2)
    }

    @Test("lowPriority, highPriority: the priority is set on the request and can change while the task runs")
    func priority() async throws {
        let table = try Migration()
        let gate = TestGate()
        var request = try table.request(gate: gate)
        request.priority = .high
        let task = table.manager.load(request)
        #expect(task.priority == .high)
        task.priority = .veryLow
        #expect(task.priority == .veryLow)
        gate.open()
        _ = try await task.image
    }

    @Test("progressiveLoad: previews show the received data")
    func progressiveLoad() async throws {
        var request = ImageRequest(url: try Migration.url(1))
        request.previews = .progressive
        let (count, image) = try await Migration().previews(request.previews)
        #expect(count >= 1 && !image.metadata.isPartial)
    }

    @Test("refreshCached: the cached image is delivered before the source is requested")
    func refreshCached() async throws {
        let table = try Migration()
        var request = try table.request()
        _ = try await table.manager.image(for: request)
        request.cachePolicy = .refresh
        let names = await table.manager.load(request).eventNames()
        #expect(names.contains("cached"))
        #expect(table.requestCount == 2)
    }

    @Test("continueInBackground: a load that survives its owner fills the cache")
    func continueInBackground() async throws {
        let table = try Migration()
        let gate = TestGate()
        var request = try table.request(gate: gate)
        request.continuesAfterCancellation = true
        let wanted = request
        let owner = Task { try await table.manager.image(for: wanted) }
        await table.loader.waitForRequests(count: 1)
        owner.cancel()
        gate.open()
        _ = await owner.result
        #expect(table.loader.cancelledCount == 0)
        #expect(try await table.manager.image(for: wanted).size.width == 64)
        #expect(table.requestCount == 1)
    }

    @Test("handleCookies: a request can use a cookie jar")
    func handleCookies() async throws {
        let server = try LoopbackServer { request in
            request.headers["Cookie"] == nil
                ? .ok(Data("no".utf8), contentType: "text/plain").with { $0.headers["Set-Cookie"] = "a=1; Path=/" }
                : .ok((try? TestImages.png(1)) ?? Data(), contentType: "image/png")
        }
        let manager = try ManagerFixture().manager
        var request = ImageRequest(url: server.url("/a"))
        request.network.cookieJar = CookieJar()
        request.caching.bypassesFailureCache = true
        await #expect(throws: ImageError.self) { try await manager.image(for: request) }
        #expect(try await manager.image(for: request).size.width == 64)
    }

    @Test("allowInvalidSSLCertificates: checks can be disabled only for named hosts")
    func allowInvalidSSLCertificates() throws {
        var request = ImageRequest(url: try Migration.url(1))
        request.network.tls = .insecure(hosts: ["pictures.example"])
        #expect(request.network.tls?.insecureHosts == ["pictures.example"])
    }

    @MainActor
    @Test("delayPlaceholder: the placeholder appears only after a load that failed or was canceled")
    func delayPlaceholder() async throws {
        let table = try Migration()
        let shown = RecordedPresentations()
        let binder = ImageBinder(manager: table.manager) { shown.show($0) }
        var options = ImageViewOptions(placeholder: .color(.black))
        options.sizing = .originalSize
        options.delaysPlaceholder = true
        await #expect(throws: ImageError.self) {
            try await binder.load(ImageRequest(url: Migration.url(404)), options: options)
        }
        #expect(shown.kinds == [.placeholder])
        binder.unbind()
        let gate = TestGate()
        binder.bind(try table.request(gate: gate), options: options)
        #expect(shown.kinds == [.placeholder, .nothing])
        binder.cancel()
        #expect(shown.kinds == [.placeholder, .nothing, .placeholder])
        gate.open()
        _ = try await binder.load(table.request(2), options: options)
        #expect(shown.kinds == [.placeholder, .nothing, .placeholder, .image])
    }

    @MainActor
    @Test("failurePlaceholder, fallback: loading, failures, and missing URLs have separate placeholders")
    func separatePlaceholders() async throws {
        let table = try Migration()
        let shown = RecordedPresentations()
        let binder = ImageBinder(manager: table.manager) { shown.show($0) }
        var options = ImageViewOptions()
        options.sizing = .originalSize
        options.placeholder = .empty
        options.failurePlaceholder = .color(.black)
        options.fallback = .color(.white)
        await #expect(throws: ImageError.self) {
            try await binder.load(ImageRequest(url: Migration.url(404)), options: options)
        }
        #expect(shown.kinds.last == .failurePlaceholder)
        binder.bind(nil, options: options)
        #expect(shown.kinds.last == .fallback)
    }

    @Test("transformAnimatedImage: frames are transformed unless the request or the transformer disables it")
    func transformAnimatedImage() async throws {
        let table = try Migration()
        var request = try table.request(1, Migration.gif())
        request.transformers = [.resize(width: 10)]
        let small = try await table.manager.image(for: request)
        #expect(small.size.width == 10 && small.frameCount == 3)
        #expect(try small.animation?.frame(at: 2).width == 10)
        request.transformsAnimations = false
        #expect(try await table.manager.image(for: request).size.width == 64)
        request.transformsAnimations = true
        request.transformers = [.resize(width: 10).excludingAnimations()]
        #expect(try await table.manager.image(for: request).size.width == 64)
    }

    @MainActor
    @Test("avoidAutoSetImage: the handlers receive the content and the image, and the view doesn't change")
    func avoidAutoSetImage() async throws {
        let table = try Migration()
        let shown = RecordedPresentations()
        let binder = ImageBinder(manager: table.manager) { shown.show($0) }
        var options = ImageViewOptions()
        options.sizing = .originalSize
        options.setsImageAutomatically = false
        let received = RecordedPresentations()
        options.onPresentation = { received.show($0) }
        let response = try await binder.load(table.request(gate: received.first), options: options)
        #expect(response.image.size.width == 64 && shown.kinds.isEmpty)
        #expect(received.kinds == [.nothing, .image] && received.image === response.image)
    }

    @MainActor
    @Test("sd_setImageWithURL:…setImageBlock:: the closure receives the image instead of the view")
    func setImageBlock() async throws {
        let table = try Migration()
        let shown = RecordedPresentations()
        let received = RecordedPresentations()
        let binder = ImageBinder(manager: table.manager) { shown.show($0) }
        var options = ImageViewOptions()
        options.sizing = .originalSize
        options.setsImageAutomatically = false
        options.onPresentation = { presentation in received.show(presentation) }
        let response = try await binder.load(table.request(), options: options)
        #expect(shown.kinds.isEmpty && received.image === response.image)
    }

    @Test("scaleDownLargeImages, imageScaleDownLimitBytes: images are scaled down to a number of bytes for all frames")
    func scaleDown() async throws {
        let table = try Migration()
        var request = try table.request()
        request.size = .fitting(byteCount: 64 * 48)
        let image = try await table.manager.image(for: request)
        #expect(image.size == PixelSize(width: 32, height: 24))
    }

    @Test("queryMemoryData, queryMemoryDataSync: the original data is returned also for an image in memory")
    func queryMemoryData() async throws {
        let table = try Migration()
        var request = try table.request()
        _ = try await table.manager.image(for: request)
        await table.manager.cache.flush()
        request.includesOriginalData = true
        let response = try await table.manager.response(for: request)
        #expect(try response.originalData == TestImages.png(1))
        #expect(table.requestCount == 1)
    }

    @MainActor
    @Test("queryDiskDataSync: a lookup can wait for the disk, and a binding can show the result immediately")
    func queryDiskDataSync() async throws {
        let table = try Migration()
        let manager = table.manager
        let request = try table.request()
        #expect(manager.loadCachedImageSynchronously(for: request, from: .all) == nil)
        _ = try await manager.image(for: request)
        await manager.cache.flush()
        manager.memoryCache.removeAll()
        #expect(manager.loadCachedImageSynchronously(for: request, from: .all)?.size.width == 64)
        manager.memoryCache.removeAll()
        let shown = RecordedPresentations()
        let binder = ImageBinder(manager: manager) { shown.show($0) }
        var options = ImageViewOptions()
        options.sizing = .originalSize
        options.loadsFromDiskSynchronously = true
        binder.bind(request, options: options)
        #expect(shown.kinds == [.image])
        #expect(table.requestCount == 1)
    }

    @Test("fromCacheOnly: a cache miss throws `notInCache`")
    func fromCacheOnly() async throws {
        let table = try Migration()
        var request = try table.request()
        request.cachePolicy = .cacheOnly
        await #expect(throws: ImageError.cache(.notInCache)) { try await table.manager.image(for: request) }
        #expect(table.requestCount == 0)
    }

    @Test("fromLoaderOnly: the source is requested regardless of the caches")
    func fromLoaderOnly() async throws {
        let table = try Migration()
        var request = try table.request()
        _ = try await table.manager.image(for: request)
        request.cachePolicy = .reload
        _ = try await table.manager.image(for: request)
        #expect(table.requestCount == 2)
    }

    @MainActor
    @Test("forceTransition: a transition can also apply to images in memory")
    func forceTransition() async throws {
        let table = try Migration()
        let request = try table.request()
        _ = try await table.manager.image(for: request)
        let shown = RecordedPresentations()
        let binder = ImageBinder(manager: table.manager) { shown.show($0) }
        var options = ImageViewOptions()
        options.sizing = .originalSize
        options.transition = .crossFade()
        binder.bind(request, options: options)
        #expect(shown.transitions.last?.effect == ImageTransition.Effect.none)
        options.transition = .crossFade().forced()
        binder.unbind()
        binder.bind(request, options: options)
        #expect(shown.transitions.last?.effect == .crossFade)
    }

    @Test("avoidDecodeImage, imageForceDecodePolicy: requesting data doesn't decode the image")
    func avoidDecodeImage() async throws {
        let table = try Migration()
        let manager = table.manager
        let request = try table.request()
        let data = try await manager.data(for: request)
        #expect(try data == TestImages.png(1))
        #expect(manager.statistics.decodes == 0)
    }

    @Test("decodeFirstFrameOnly: a still image and its animation are cached separately")
    func decodeFirstFrameOnly() async throws {
        let table = try Migration()
        var request = try table.request(1, Migration.gif())
        #expect(try await table.manager.image(for: request).frameCount == 3)
        request.frames = .first
        #expect(try await table.manager.image(for: request).isAnimated == false)
        request.frames = .all
        #expect(table.manager.cachedImage(for: request)?.frameCount == 3)
    }

    @MainActor
    @Test("preloadAllFrames: a player can have an unlimited frame buffer")
    func preloadAllFrames() async throws {
        let table = try Migration()
        let image = try await table.manager.image(for: table.request(1, Migration.gif()))
        var playback = AnimationPlayer.Options()
        playback.frameBufferLimit = .max
        let player = AnimationPlayer(image, manager: table.manager, options: playback)
        player?.play()
        #expect(player?.state == .playing)
    }

    @Test("matchAnimatedImageClass, animatedImageClass: one type represents still images and animations")
    func animatedImageClass() async throws {
        let table = try Migration()
        let image = try await table.manager.image(for: table.request(1, Migration.gif()))
        let frames = image.animation?.frameCount
        #expect(frames == 3)
    }

    @Test("waitStoreCache: a task reports when it was stored, or the request waits for it")
    func waitStoreCache() async throws {
        let table = try Migration()
        var request = try table.request()
        let task = table.manager.load(request)
        await task.waitUntilStored()
        #expect(await table.manager.diskCache?.info().entryCount == 1)
        request = try table.request(2)
        request.caching.waitsUntilStored = true
        _ = try await table.manager.image(for: request)
        #expect(await table.manager.diskCache?.info().entryCount == 2)
    }

    // A helper with a sanitizer can’t start within its limits.
    #if !(ADDRESS_SANITIZER || THREAD_SANITIZER)
        @Test(
            "transformVectorImage: vector images are drawn at the requested size and then transformed unless disabled")
        func transformVectorImage() async throws {
            let table = try Migration()
            guard table.manager.configuration.coders.canDecode(.svg) else { return }
            var request = try table.request(1, Migration.svg)
            request.size = .fit(width: 20)
            request.transformers = [.pad(5)]
            #expect(try await table.manager.image(for: request).size.width == 30)
            request.transformers = [.pad(5).excludingVectors()]
            #expect(try await table.manager.image(for: request).size.width == 20)
        }
    #endif

    @MainActor
    @Test("avoidAutoCancelImage: a previous load that survives its owner continues")
    func avoidAutoCancelImage() async throws {
        let table = try Migration()
        let gate = TestGate()
        let first = try table.request(1, gate: gate)
        let binder = ImageBinder(manager: table.manager) { _ in }
        var options = ImageViewOptions()
        options.sizing = .originalSize
        options.continuesWhenReplaced = true
        var ends: [ImageError?] = []
        binder.bind(first, options: options) { ends.append($0.failure) }
        await table.loader.waitForRequests(count: 1)
        _ = try await binder.load(table.request(2), options: options)
        #expect(ends == [.cancelled])
        gate.open()
        #expect(try await table.manager.image(for: first).size.width == 64)
        #expect(table.loader.cancelledCount == 0 && table.requestCount == 2)
    }

    @MainActor
    @Test("waitTransition: an awaited load ends when the image is shown with its transition")
    func waitTransition() async throws {
        let table = try Migration()
        let shown = RecordedPresentations()
        let binder = ImageBinder(manager: table.manager) { shown.show($0) }
        var options = ImageViewOptions(placeholder: .empty, transition: .crossFade(duration: .milliseconds(200)))
        options.sizing = .originalSize
        let request = try table.request()
        _ = try await binder.load(request, options: options)
        #expect(shown.kinds.last == .image && shown.transitions.last?.duration == .milliseconds(200))
    }
}
