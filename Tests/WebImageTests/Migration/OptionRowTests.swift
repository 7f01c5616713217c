// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Rows: SDWebImageOptions", .timeLimit(.minutes(2)))
struct OptionRowTests {
    @Test("retryFailed: a failure that is remembered is asked for again where the request says so")
    func retryFailed() async throws {
        let table = try Migration()
        let url = try Migration.url(1)
        table.loader.set(StubLoader.Answer(error: BinderPictures.notFound), for: url)
        var request = ImageRequest(url)
        await #expect(throws: ImageError.self) { try await table.manager.image(for: request) }
        await #expect(throws: ImageError.self) { try await table.manager.image(for: request) }
        #expect(table.asked == 1)
        request.ignoresFailures = true
        await #expect(throws: ImageError.self) { try await table.manager.image(for: request) }
        #expect(table.asked == 2)
    }

    @Test("lowPriority, highPriority: on the request, and on the task while it runs")
    func priority() async throws {
        let table = try Migration()
        let gate = Gate()
        var request = try table.request(gate: gate)
        request.priority = .high
        let task = table.manager.load(request)
        #expect(task.priority == .high)
        task.priority = .veryLow
        #expect(task.priority == .veryLow)
        gate.open()
        _ = try await task.image
    }

    @Test("progressiveLoad: pictures of what has come")
    func progressiveLoad() async throws {
        var request = ImageRequest(try Migration.url(1))
        request.preview = .progressive
        let (count, image) = try await Migration().previews(request.preview)
        #expect(count >= 1 && !image.metadata.isPartial)
    }

    @Test("refreshCached: the stored picture at once, then the source is asked")
    func refreshCached() async throws {
        let table = try Migration()
        var request = try table.request()
        _ = try await table.manager.image(for: request)
        request.cachePolicy = .refresh
        let names = await table.manager.load(request).eventNames()
        #expect(names.contains("cached"))
        #expect(table.asked == 2)
    }

    @Test("continueInBackground: the picture lands in the cache although its owner is gone")
    func continueInBackground() async throws {
        let table = try Migration()
        let gate = Gate()
        var request = try table.request(gate: gate)
        request.survivesOwner = true
        let wanted = request
        let owner = Task { try await table.manager.image(for: wanted) }
        await table.loader.waitForRequests(count: 1)
        owner.cancel()
        gate.open()
        _ = await owner.result
        #expect(table.loader.cancelledCount == 0)
        #expect(try await table.manager.image(for: wanted).size.width == 64)
        #expect(table.asked == 1)
    }

    @Test("handleCookies: none by default, a jar or the shared one on request")
    func handleCookies() async throws {
        let server = try LoopbackServer { request in
            request.fields["Cookie"] == nil
                ? .ok(Data("no".utf8), type: "text/plain").with { $0.fields["Set-Cookie"] = "a=1; Path=/" }
                : .ok((try? TestPictures.png(1)) ?? Data(), type: "image/png")
        }
        let manager = try ManagerFixture().manager
        var request = ImageRequest(server.url("/a"))
        request.network.cookies = .jar(CookieJar())
        request.ignoresFailures = true
        await #expect(throws: ImageError.self) { try await manager.image(for: request) }
        #expect(try await manager.image(for: request).size.width == 64)
    }

    @Test("allowInvalidSSLCertificates: for named hosts alone")
    func allowInvalidSSLCertificates() throws {
        var request = ImageRequest(try Migration.url(1))
        request.network.tls = .insecure(hosts: ["pictures.example"])
        #expect(request.network.tls?.uncheckedHosts == ["pictures.example"])
    }

    @MainActor
    @Test("delayPlaceholder: while it loads, when it failed and without a URL are three pictures")
    func delayPlaceholder() async throws {
        let table = try Migration()
        let shown = ShownPictures()
        let binder = ImageBinder(manager: table.manager) { shown.show($0) }
        var options = BindingOptions()
        options.sizing = .none
        options.placeholder = .empty
        options.failure = .color(.black)
        options.empty = .color(.white)
        await #expect(throws: ImageError.self) {
            try await binder.load(ImageRequest(Migration.url(404)), options: options)
        }
        #expect(shown.kinds.last == .failure)
        binder.bind(nil, options: options)
        #expect(shown.kinds.last == .empty)
    }

    @Test("transformAnimatedImage: frames too, unless the request or the transformer says otherwise")
    func transformAnimatedImage() async throws {
        let table = try Migration()
        var request = try table.request(1, Migration.gif())
        request.transformers = [.resize(width: 10)]
        let small = try await table.manager.image(for: request)
        #expect(small.size.width == 10 && small.frameCount == 3)
        #expect(try small.animation?.frame(at: 2).width == 10)
        request.transformsAnimation = false
        #expect(try await table.manager.image(for: request).size.width == 64)
        request.transformsAnimation = true
        request.transformers = [.resize(width: 10).applied(toFrames: false)]
        #expect(try await table.manager.image(for: request).size.width == 64)
    }

    @MainActor
    @Test("avoidAutoSetImage: the handler gets the picture, the view stays as it is")
    func avoidAutoSetImage() async throws {
        let table = try Migration()
        let shown = ShownPictures()
        let binder = ImageBinder(manager: table.manager) { shown.show($0) }
        var options = BindingOptions()
        options.sizing = .none
        options.sets = .never
        let response = try await binder.load(table.request(), options: options)
        #expect(response.image.size.width == 64 && shown.image == nil)
    }

    @Test("scaleDownLargeImages, imageScaleDownLimitBytes: as large as so many bytes hold, all frames counted")
    func scaleDown() async throws {
        let table = try Migration()
        var request = try table.request()
        request.size = .fitting(bytes: 64 * 48)
        let image = try await table.manager.image(for: request)
        #expect(image.size == PixelSize(width: 32, height: 24))
    }

    @Test("queryMemoryData, queryMemoryDataSync: original bytes beside the picture, wherever that was")
    func queryMemoryData() async throws {
        let table = try Migration()
        var request = try table.request()
        _ = try await table.manager.image(for: request)
        await table.manager.cache.flush()
        request.wantsData = true
        let response = try await table.manager.response(for: request)
        #expect(try response.data == TestPictures.png(1))
        #expect(table.asked == 1)
    }

    @MainActor
    @Test("queryDiskDataSync: a look that waits for the disk, and a binding that shows what it finds at once")
    func queryDiskDataSync() async throws {
        let table = try Migration()
        let manager = table.manager
        let request = try table.request()
        #expect(manager.cachedImage(for: request, tiers: .all) == nil)
        _ = try await manager.image(for: request)
        await manager.cache.flush()
        manager.memoryCache.removeAll()
        #expect(manager.cachedImage(for: request, tiers: .all)?.size.width == 64)
        manager.memoryCache.removeAll()
        let shown = ShownPictures()
        let binder = ImageBinder(manager: manager) { shown.show($0) }
        var options = BindingOptions()
        options.sizing = .none
        options.looksOnDisk = true
        binder.bind(request, options: options)
        #expect(shown.kinds == [.picture])
        #expect(table.asked == 1)
    }

    @Test("fromCacheOnly: a miss is an error of its own")
    func fromCacheOnly() async throws {
        let table = try Migration()
        var request = try table.request()
        request.cachePolicy = .cacheOnly
        await #expect(throws: ImageError.cache(.notInCache)) { try await table.manager.image(for: request) }
        #expect(table.asked == 0)
    }

    @Test("fromLoaderOnly: the source is asked whatever the caches hold, and its answer is stored")
    func fromLoaderOnly() async throws {
        let table = try Migration()
        var request = try table.request()
        _ = try await table.manager.image(for: request)
        request.cachePolicy = .reload
        _ = try await table.manager.image(for: request)
        #expect(table.asked == 2)
    }

    @MainActor
    @Test("forceTransition: also for what was in memory")
    func forceTransition() async throws {
        let table = try Migration()
        let request = try table.request()
        _ = try await table.manager.image(for: request)
        let shown = ShownPictures()
        let binder = ImageBinder(manager: table.manager) { shown.show($0) }
        var options = BindingOptions()
        options.sizing = .none
        options.transition = .crossFade()
        binder.bind(request, options: options)
        #expect(shown.transitions.last?.effect == Transition.Effect.none)
        options.transition = .always(.crossFade())
        binder.unbind()
        binder.bind(request, options: options)
        #expect(shown.transitions.last?.effect == .crossFade)
    }

    @Test("avoidDecodeImage, imageForceDecodePolicy: who wants no pixels asks for bytes")
    func avoidDecodeImage() async throws {
        let table = try Migration()
        let manager = table.manager
        let request = try table.request()
        let data = try await manager.data(for: request)
        #expect(try data == TestPictures.png(1))
        #expect(manager.statistics.decodes == 0)
    }

    @Test("decodeFirstFrameOnly: a still, beside the animation")
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
    @Test("preloadAllFrames: a player may be allowed to keep all frames")
    func preloadAllFrames() async throws {
        let table = try Migration()
        let image = try await table.manager.image(for: table.request(1, Migration.gif()))
        var playback = PlaybackOptions()
        playback.bufferBytes = .max
        let player = AnimationPlayer(image, manager: table.manager, options: playback)
        player?.play()
        #expect(player?.state == .playing)
    }

    @Test("matchAnimatedImageClass, animatedImageClass: one type for stills and animations")
    func animatedImageClass() async throws {
        let table = try Migration()
        let image = try await table.manager.image(for: table.request(1, Migration.gif()))
        let frames = image.animation?.timeline.frameCount
        #expect(frames == 3)
    }

    @Test("waitStoreCache: the task tells when it was written, or the request waits for it")
    func waitStoreCache() async throws {
        let table = try Migration()
        var request = try table.request()
        let task = table.manager.load(request)
        await task.stored
        #expect(await table.manager.diskCache?.info().entries == 1)
        request = try table.request(2)
        request.waitsForStore = true
        _ = try await table.manager.image(for: request)
        #expect(await table.manager.diskCache?.info().entries == 2)
    }

    @Test("transformVectorImage: drawn at the size asked for, then transformed, unless the transformer says otherwise")
    func transformVectorImage() async throws {
        let table = try Migration()
        guard table.manager.configuration.coders.canDecode(.svg) else { return }
        var request = try table.request(1, Migration.svg)
        request.size = .fit(width: 20)
        request.transformers = [.pad(5)]
        #expect(try await table.manager.image(for: request).size.width == 30)
        request.transformers = [.pad(5).applied(toVectors: false)]
        #expect(try await table.manager.image(for: request).size.width == 20)
    }

    @MainActor
    @Test("avoidAutoCancelImage: what was bound before goes on, at the lowest priority")
    func avoidAutoCancelImage() async throws {
        let table = try Migration()
        let gate = Gate()
        let first = try table.request(1, gate: gate)
        let binder = ImageBinder(manager: table.manager) { _ in }
        var options = BindingOptions()
        options.sizing = .none
        options.survivesOwner = true
        binder.bind(first, options: options)
        await table.loader.waitForRequests(count: 1)
        _ = try await binder.load(table.request(2), options: options)
        gate.open()
        #expect(try await table.manager.image(for: first).size.width == 64)
        #expect(table.loader.cancelledCount == 0 && table.asked == 2)
    }

    @MainActor
    @Test("waitTransition: a load that is awaited ends when the picture is shown, and tells how it comes in")
    func waitTransition() async throws {
        let table = try Migration()
        let shown = ShownPictures()
        let binder = ImageBinder(manager: table.manager) { shown.show($0) }
        var options = BindingOptions(placeholder: .empty, transition: .crossFade(duration: 0.2))
        options.sizing = .none
        _ = try await binder.load(table.request(), options: options)
        #expect(shown.kinds.last == .picture && shown.transitions.last?.duration == 0.2)
    }
}
