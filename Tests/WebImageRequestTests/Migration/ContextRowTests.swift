// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageUI

@Suite("Migration table: SDWebImageContext", .timeLimit(.minutes(5)))
struct ContextRowTests {
    @MainActor
    @Test("setImageOperationKey: every image of a view has its own binder")
    func setImageOperationKey() async throws {
        let table = try Migration()
        let manager = table.manager
        let (shown, shownBehind) = (RecordedPresentations(), RecordedPresentations())
        let foreground = ImageBinder(manager: manager) { shown.show($0) }
        let background = ImageBinder(manager: manager) { shownBehind.show($0) }
        var options = ImageViewOptions()
        options.sizing = .originalSize
        foreground.bind(try table.request(1), options: options)
        background.bind(try table.request(2), options: options)
        await untilTrue { shown.image != nil && shownBehind.image != nil }
        #expect(shown.image !== shownBehind.image)
    }

    @MainActor
    @Test("customManager: a binder can have a custom manager")
    func customManager() throws {
        let manager = try Migration().manager
        let binder = ImageBinder(manager: manager) { _ in }
        #expect(binder.manager === manager)
    }

    @Test("callbackQueue: code that awaits an image continues on its actor")
    func callbackQueue() async throws {
        let table = try Migration()
        let (manager, request) = (table.manager, try table.request())
        let task = Task { @MainActor in
            let image = try await manager.image(for: request)
            MainActor.assertIsolated()
            return image.size.width
        }
        #expect(try await task.value == 64)
    }

    @Test("imageCache, originalImageCache: a request can have its own caches")
    func caches() async throws {
        let table = try Migration()
        var request = try table.request()
        let cache = ImageCache()
        let originals = ImageCache(
            memory: nil,
            disk: try DiskCache(
                configuration: DiskCache.Configuration(path: table.fixture.directory.file("originals"))))
        request.caching.cache = cache
        request.caching.originalCache = originals
        request.caching.waitsUntilStored = true
        _ = try await table.manager.image(for: request)
        #expect(cache.memory?.statistics.count == 1 && table.manager.memoryCache.statistics.count == 0)
        #expect(await table.manager.diskCache?.info().entryCount == 0)
    }

    @Test("imageLoader: a request can have its own loader")
    func imageLoader() async throws {
        let table = try Migration()
        var request = try table.request(1)
        let loader = StubLoader { _ in StubLoader.Response(body: (try? TestImages.png(7, width: 20)) ?? Data()) }
        request.loader = loader
        #expect(try await table.manager.image(for: request).size.width == 20)
        #expect(table.requestCount == 0 && loader.requests.count == 1)
    }

    @Test("imageCoder: a request can have its own coder, with a separate cache key")
    func imageCoder() async throws {
        let table = try Migration()
        var request = try table.request(1, Data("grey 9".utf8))
        request.coder = OneColorCoder()
        #expect(try await table.manager.image(for: request).size == PixelSize(width: 9, height: 9))
    }

    @Test("imageTransformer, manager.transformer: requests override the transformers of the manager")
    func transformers() async throws {
        let table = try Migration { $0.transformers = [.resize(width: 32)] }
        var request = try table.request()
        #expect(try await table.manager.image(for: request).size.width == 32)
        request.transformers = [.pad(3)]
        #expect(try await table.manager.image(for: request).size.width == 70)
        request.transformers = []
        request.usesDefaultTransformers = false
        #expect(try await table.manager.image(for: request).size.width == 64)
    }

    @Test("imageDecodeOptions: decoding options are typed, and custom coders receive strings")
    func decodeOptions() async throws {
        let table = try Migration()
        var request = try table.request(1, Data("grey 9".utf8))
        request.coder = OneColorCoder()
        request.decoding.coderOptions["side"] = "4"
        #expect(try await table.manager.image(for: request).size.width == 4)
    }

    @Test("imageScaleFactor: the scale is taken from the name or from the request")
    func scaleFactor() async throws {
        let table = try Migration()
        var request = try table.request()
        #expect(ImageRequest(url: try #require(URL(string: "https://a.example/b@3x.png"))).scale == 3)
        request.scale = 2
        #expect(try await table.manager.image(for: request).scale == 2)
    }

    @Test("imagePreserveAspectRatio, imageThumbnailPixelSize: sizes fit, fill, stretch, or are exact")
    func thumbnail() async throws {
        let table = try Migration()
        var request = try table.request()
        request.size = .stretch(width: 20, height: 20)
        #expect(try await table.manager.image(for: request).size == PixelSize(width: 20, height: 20))
        request.size = .fit(width: 32, height: 32)
        #expect(try await table.manager.image(for: request).size == PixelSize(width: 32, height: 24))
    }

    @Test("imageTypeIdentifierHint: a hint selects the format of data without a signature")
    func hint() async throws {
        let table = try Migration()
        var request = try table.request()
        request.decoding.formatHint = .png
        #expect(try await table.manager.image(for: request).format == .png)
    }

    @Test("imageDecodeToHDR: images keep the gain maps of their files")
    func dynamicRange() async throws {
        let table = try Migration()
        let pixels = try PixelBuffer.filled(with: .white, size: PixelSize(width: 16, height: 16))
        let gainMap = GainMap(pixels: pixels, metadata: GainMapMetadata(gainMax: 2, alternateHeadroom: 2))
        let data = try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: pixels).with(gainMap: gainMap), as: .jpeg, context: ImageProcessingContext())
        var request = try table.request(1, data)
        #expect(try await !table.manager.image(for: request).isHDR)
        request.decoding.dynamicRange = .high
        #expect(try await table.manager.image(for: request).isHDR)
    }

    @Test("imageEncodeOptions: the processed image is stored separately with its own encoding")
    func storeFinal() async throws {
        let table = try Migration()
        var request = try table.request()
        request.size = .fit(width: 16)
        request.caching.processedEncoding = .webp.lossless
        await table.manager.load(request).waitUntilStored()
        #expect(await table.manager.diskCache?.info().entryCount == 2)
    }

    @Test(
        "queryCacheType, storeCacheType, originalQueryCacheType, originalStoreCacheType: requests select sets of tiers")
    func tiers() async throws {
        let table = try Migration()
        var request = try table.request()
        request.caching.readFrom = .memory
        request.caching.writeTo = .memory
        request.caching.originalReadFrom = []
        request.caching.originalWriteTo = []
        request.caching.waitsUntilStored = true
        _ = try await table.manager.image(for: request)
        #expect(await table.manager.diskCache?.info().entryCount == 0)
        table.manager.memoryCache.removeAll()
        await table.manager.letsGo(of: request)
        _ = try await table.manager.image(for: request)
        #expect(table.requestCount == 2)
    }

    @Test("downloadRequestModifier: all transfers pass through the interceptors of the downloader")
    func requestModifier() async throws {
        struct Signature: DownloadInterceptor {
            func intercept(_ request: LoadRequest, next: Next) async throws(ImageError) -> LoadResponse {
                var signed = request
                signed.headers["X-Signature"] = "abc"
                return try await next(signed)
            }
        }
        let server = try LoopbackServer(routes: ["/a": .ok(try TestImages.png(1), contentType: "image/png")])
        let manager = try ManagerFixture { configuration in
            configuration.downloader.interceptors = [Signature()]
        }.manager
        _ = try await manager.image(for: server.url("/a"))
        #expect(server.requests.first?.headers["X-Signature"] == "abc")
    }

    @Test("downloadResponseModifier: an interceptor changes the header fields of a response before the manager uses it")
    func downloadResponseModifier() async throws {
        struct Cacheable: DownloadInterceptor {
            func intercept(_ request: LoadRequest, next: Next) async throws(ImageError) -> LoadResponse {
                var response = try await next(request)
                response.httpResponse?.headers["Cache-Control"] = "max-age=60"
                return response
            }
        }
        let server = try LoopbackServer(routes: ["/a": .ok(try TestImages.png(1), contentType: "image/png")])
        let manager = try ManagerFixture { configuration in
            configuration.downloader.interceptors = [Cacheable()]
        }.manager
        let request = ImageRequest(url: server.url("/a"))
        let response = try await manager.response(for: request)
        #expect(response.httpResponse?.headers["Cache-Control"] == "max-age=60")
        #expect(response.httpResponse?.headers["Content-Type"] == "image/png")
        #expect(try await manager.response(for: request).source == .memoryCache)
        #expect(server.requests.count == 1)
    }

    @Test("downloadDecryptor: body modifiers change bodies before decoding")
    func decryptor() async throws {
        struct Cipher: ResponseBodyModifier {
            func modify(_ body: Data, of head: HTTPResponseHead?, for request: LoadRequest) async throws(ImageError)
                -> Data
            {
                Data(body.map { $0 ^ 0x5A })
            }
        }
        let secret = Data(try TestImages.png(1).map { $0 ^ 0x5A })
        let server = try LoopbackServer(routes: ["/a": .ok(secret, contentType: "application/octet-stream")])
        let manager = try ManagerFixture { configuration in
            configuration.downloader.bodyModifiers = [Cipher()]
        }.manager
        #expect(try await manager.image(for: server.url("/a")).size.width == 64)
    }

    @Test("cacheKeyFilter: keys are set for the manager or for one request")
    func keyFilter() async throws {
        let table = try Migration { configuration in
            configuration.makeCacheKey = { url in
                url.query == nil ? nil : url.absoluteString.components(separatedBy: "?").first
            }
        }
        let url = try table.serve()
        _ = try await table.manager.image(for: url)
        let signed = try #require(URL(string: url.absoluteString + "?signature=1"))
        #expect(try await table.manager.image(for: signed).size.width == 64)
        var request = ImageRequest(url: try Migration.url(2))
        request.caching.key = url.absoluteString
        #expect(try await table.manager.image(for: request).size.width == 64)
        #expect(table.requestCount == 1)
    }

    @Test("cacheSerializer: a closure determines the stored data of a download")
    func serializer() async throws {
        let table = try Migration { configuration in
            configuration.cacheSerializer = { image, data, request in image == nil ? nil : data }
        }
        let request = try table.request()
        _ = try await table.manager.data(for: request)
        await table.manager.cache.flush()
        #expect(await table.manager.diskCache?.info().entryCount == 0)
    }

    @Test("optionsProcessor: a closure changes every request")
    func optionsProcessor() async throws {
        let table = try Migration { configuration in
            configuration.requestModifier = { $0.size = .fit(width: 16) }
        }
        #expect(try await table.manager.image(for: table.request()).size.width == 16)
    }

    @Test("shouldDownloadImageForURL, shouldBlockFailedURL: an interceptor rejects downloads, but no cached images")
    func delegate() async throws {
        struct NoAdvertisements: DownloadInterceptor {
            func intercept(_ request: LoadRequest, next: Next) async throws(ImageError) -> LoadResponse {
                if request.url.path.hasPrefix("/ads") { throw .request(.rejected(reason: "advertisement")) }
                return try await next(request)
            }
        }
        let server = try LoopbackServer { _ in .status(404) }
        // The fixture owns the directory of the disk cache.
        let fixture = try ManagerFixture { configuration in
            configuration.downloader.interceptors = [NoAdvertisements()]
            configuration.failureLifetime = { error in error.httpStatusCode == 404 ? .seconds(60) : nil }
        }
        let advertisement = ImageRequest(url: server.url("/ads/1"))
        await #expect(throws: ImageError.request(.rejected(reason: "advertisement"))) {
            try await fixture.manager.image(for: advertisement)
        }
        #expect(server.requests.isEmpty)
        try await fixture.manager.store(TestImages.png(1), for: advertisement)
        #expect(try await fixture.manager.response(for: advertisement).source == .diskCache)
        // The manager remembers the second failure.
        for _ in 0..<2 {
            await #expect(throws: ImageError.self) { try await fixture.manager.image(for: server.url("/b")) }
        }
        #expect(server.requests.map(\.path) == ["/b"])
    }
}

/// A coder for data of the form `grey SIDE`.
private struct OneColorCoder: ImageCoder {
    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { prefix.starts(with: Data("grey".utf8)) }

    func decode(
        _ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage {
        let text = options.coderOptions["side"] ?? String(decoding: data.dropFirst(5), as: UTF8.self)
        let side = Int(text) ?? 1
        let grey = PixelColor(red: 128, green: 128, blue: 128)
        return DecodedImage(
            pixels: try PixelBuffer.filled(with: grey, size: PixelSize(width: side, height: side), context: context))
    }
}
