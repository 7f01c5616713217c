// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import Synchronization
import WebImage

/// A load that can be canceled.
public protocol SDWebImageOperation: AnyObject, Sendable {
    /// Cancels the load.
    func cancel()
}

/// The handle of a load, which contains an `ImageTask`.
public final class SDWebImageCombinedOperation: SDWebImageOperation {
    /// The task of WebImage, or `nil` if the load failed immediately.
    public let task: WebImage.ImageTask?

    init(_ task: WebImage.ImageTask?) { self.task = task }

    /// Cancels the load. Its completion closure receives ``SDWebImageError/Code/cancelled``.
    public func cancel() { task?.cancel() }

    /// A Boolean value that indicates whether the load was canceled.
    public var isCancelled: Bool {
        guard case .failure(.cancelled) = task?.result else { return false }
        return true
    }
}

/// A closure that returns the cache key for a URL.
public final class SDWebImageCacheKeyFilter: Sendable {
    /// The closure.
    public let cacheKey: @Sendable (_ url: URL) -> String?

    /// Creates a filter.
    public init(block: @escaping @Sendable (_ url: URL) -> String?) { cacheKey = block }
}

/// Replaced options and context.
public struct SDWebImageOptionsResult {
    /// The options.
    public let options: SDWebImageOptions
    /// The context.
    public let context: SDWebImageContext?

    /// Creates a result.
    public init(options: SDWebImageOptions, context: SDWebImageContext?) {
        self.options = options
        self.context = context
    }
}

/// A closure that replaces the options and the context of each load.
public final class SDWebImageOptionsProcessor: Sendable {
    let process: @Sendable (URL?, SDWebImageOptions, SDWebImageContext?) -> SDWebImageOptionsResult?

    /// Creates a processor.
    public init(
        block:
            @escaping @Sendable (
                _ url: URL?, _ options: SDWebImageOptions, _ context: SDWebImageContext?
            ) -> SDWebImageOptionsResult?
    ) {
        process = block
    }
}

/// A pair of a cache and a loader, which loads images through `ImageManager.shared`.
public final class SDWebImageManager: Sendable {
    private struct State {
        var transformer: (any SDImageTransformer)?
        var cacheKeyFilter: SDWebImageCacheKeyFilter?
        var optionsProcessor: SDWebImageOptionsProcessor?
        var running: [WebImage.ImageTask] = []
    }

    /// The manager with the shared cache and the shared downloader.
    public static let shared = SDWebImageManager(cache: .shared, loader: .shared)

    /// The cache.
    public let imageCache: SDImageCache
    /// The downloader.
    public let imageLoader: SDWebImageDownloader
    private let state = Mutex(State())

    /// Creates a manager.
    public init(cache: SDImageCache, loader: SDWebImageDownloader) {
        imageCache = cache
        imageLoader = loader
    }

    /// The transformer of loads without a transformer in their context. The default is `nil`.
    public var transformer: (any SDImageTransformer)? {
        get { state.withLock { $0.transformer } }
        set { state.withLock { $0.transformer = newValue } }
    }

    /// The closure that returns cache keys. The default is `nil`, which means the URL.
    public var cacheKeyFilter: SDWebImageCacheKeyFilter? {
        get { state.withLock { $0.cacheKeyFilter } }
        set { state.withLock { $0.cacheKeyFilter = newValue } }
    }

    /// The closure that replaces the options of each load. The default is `nil`.
    public var optionsProcessor: SDWebImageOptionsProcessor? {
        get { state.withLock { $0.optionsProcessor } }
        set { state.withLock { $0.optionsProcessor = newValue } }
    }

    /// A Boolean value that indicates whether a load of this manager runs.
    public var isRunning: Bool { state.withLock { $0.running.contains { $0.result == nil } } }

    /// Loads an image.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - options: The options.
    ///   - context: The context.
    ///   - progressBlock: A closure that’s called on the main actor during the download.
    ///   - completedBlock: A closure that’s called on the main actor, several times if there are previews or a cached
    ///     image. If the image is in memory and the caller runs on the main thread, it’s called before this method
    ///     returns.
    /// - Returns: The handle of the load.
    @discardableResult
    public func loadImage(
        with url: URL?, options: SDWebImageOptions = [], context: SDWebImageContext? = nil,
        progress progressBlock: SDImageLoaderProgressBlock? = nil,
        completed completedBlock: @escaping SDInternalCompletionBlock
    ) -> SDWebImageCombinedOperation? {
        guard let url else {
            onMain { completedBlock(nil, nil, SDWebImageError(.invalidURL), .none, true, nil) }
            return SDWebImageCombinedOperation(nil)
        }
        guard let request = request(for: url, options: options, context: context) else {
            onMain { completedBlock(nil, nil, SDWebImageError(.invalidDownloadOperation), .none, true, url) }
            return SDWebImageCombinedOperation(nil)
        }
        let task = ImageManager.shared.load(request)
        state.withLock { state in
            state.running.removeAll { $0.result != nil }
            state.running.append(task)
        }
        task.deliver { event in
            switch event {
            case .progress(let progress):
                progressBlock?(progress.receivedByteCount, progress.expectedByteCount ?? 0, url)
            case .preview(let image): completedBlock(UIImage(decoded: image), nil, nil, .none, false, url)
            case .cached(let response): response.complete(completedBlock)
            case .finished(.success(let response)):
                // The cached image was already delivered.
                if request.cachePolicy == .refresh, response.source == .revalidated { break }
                response.complete(completedBlock)
            case .finished(.failure(.cache(.notInCache))): completedBlock(nil, nil, nil, .none, true, url)
            case .finished(.failure(let error)):
                completedBlock(nil, nil, SDWebImageError.mapping(error), .none, true, url)
            case .started, .waiting: break
            }
        }
        return SDWebImageCombinedOperation(task)
    }

    /// Cancels all loads of this manager.
    public func cancelAll() { for task in state.withLock({ $0.running }) { task.cancel() } }

    /// Removes all failures that the manager remembers.
    public func removeAllFailedURLs() { ImageManager.shared.removeRememberedFailures() }

    /// Not available.
    @available(*, unavailable, message: "Use removeAllFailedURLs(), or the option retryFailed.")
    public func removeFailedURL(_ url: URL) {}

    /// Returns the cache key for a URL, without its size and transformer.
    public func cacheKey(for url: URL?) -> String? {
        url.map { url in cacheKeyFilter.map { $0.cacheKey(url) ?? "" } ?? url.absoluteString }
    }

    /// Not available.
    @available(
        *, unavailable,
        message: "Sizes and transformers aren’t part of the string. Use SDImageCache.queryImage(…context:…)."
    )
    public func cacheKey(for url: URL?, context: SDWebImageContext?) -> String? { nil }

    /// Not available.
    @available(*, unavailable, message: "Create managers with init(cache:loader:).")
    public static var defaultImageCache: SDImageCache? { nil }

    /// Not available.
    @available(*, unavailable, message: "Create managers with init(cache:loader:).")
    public static var defaultImageLoader: SDWebImageDownloader? { nil }

    /// Not available.
    @available(*, unavailable, message: "Use ImageManager.Configuration.cacheSerializer of WebImage.")
    public var cacheSerializer: Any? { nil }

    /// Not available.
    @available(
        *, unavailable, message: "Use an ImageRequestInterceptor and ImageManager.Configuration.failureLifetime."
    )
    public var delegate: Any? { nil }

    /// Returns the request of WebImage, or `nil` if a request modifier rejects it.
    func request(for url: URL, options: SDWebImageOptions, context: SDWebImageContext?) -> ImageRequest? {
        let result = optionsProcessor?.process(url, options, context)
        let options = result?.options ?? options
        var context = (result == nil ? context : result?.context) ?? [:]
        if context[.imageTransformer] == nil, let transformer { context[.imageTransformer] = transformer }
        let cache = context[.imageCache] as? SDImageCache ?? imageCache
        let loader = context[.imageLoader] as? SDWebImageDownloader ?? imageLoader
        let filter = context[.cacheKeyFilter] as? SDWebImageCacheKeyFilter
        let key = filter?.cacheKey(url) ?? cacheKey(for: url)
        var request = ImageRequest(key: key ?? url.absoluteString, url: url)
        cache.apply(to: &request)
        request.apply(options, context)
        return loader.apply(to: &request, context) ? request : nil
    }
}

extension ImageResponse {
    /// Calls a completion closure with the image.
    @MainActor
    func complete(_ block: SDInternalCompletionBlock) {
        block(UIImage(decoded: image), originalData, nil, SDImageCacheType(source), true, url)
    }
}

extension ImageRequest {
    /// Applies options and a context. The caller applies the values that concern the cache, the loader, and the key.
    mutating func apply(_ options: SDWebImageOptions, _ context: SDWebImageContext) {
        // SDWebImage never revalidates a cached image unless `refreshCached` is set.
        cachePolicy = .cacheFirst
        if options.contains(.refreshCached) { cachePolicy = .refresh }
        if options.contains(.fromCacheOnly) { cachePolicy = .cacheOnly }
        if options.contains(.fromLoaderOnly) { cachePolicy = .reload }
        if options.contains(.lowPriority) { priority = .low }
        if options.contains(.highPriority) { priority = .high }
        if options.contains(.progressiveLoad) { previews = .progressive }
        if options.contains(.handleCookies) { network.cookieJar = .shared }
        if options.contains(.allowInvalidSSLCertificates), let host = url.host() {
            network.tls = .insecure(hosts: [host])
        }
        if options.contains(.decodeFirstFrameOnly) { frames = .first }
        caching.bypassesFailureCache = options.contains(.retryFailed)
        caching.waitsUntilStored = options.contains(.waitStoreCache)
        if options.contains(.scaleDownLargeImages) { size = .fitting(byteCount: 60 << 20) }
        apply(context)
        if let transformer = context[.imageTransformer] as? any SDImageTransformer {
            transformers = [
                transformer.mapped(
                    animations: options.contains(.transformAnimatedImage),
                    vectors: options.contains(.transformVectorImage))
            ]
        }
        // Images in memory are delivered without their data unless it’s requested, because reading it takes time.
        let isMemoryDataRequested = !options.isDisjoint(with: [.queryMemoryData, .queryMemoryDataSync])
        includesOriginalData = isMemoryDataRequested || ImageManager.shared.cachedImage(for: self) == nil
    }

    private mutating func apply(_ context: SDWebImageContext) {
        if let pixels = context[.imageThumbnailPixelSize] as? CGSize, pixels.width > 0, pixels.height > 0 {
            let keepsRatio = context[.imagePreserveAspectRatio] as? Bool ?? true
            size =
                keepsRatio
                ? .fit(width: pixels.width, height: pixels.height)
                : .stretch(width: pixels.width, height: pixels.height)
        }
        if let bytes = context[.imageScaleDownLimitBytes] as? Int { size = .fitting(byteCount: bytes) }
        if let factor = context[.imageScaleFactor] as? CGFloat { scale = Double(factor) }
        if context[.imageDecodeToHDR] as? Bool == true { decoding.dynamicRange = .high }
        if let coder = context[.imageCoder] as? any SDImageCoder { self.coder = MappedCoder(coder) }
        if let cache = context[.originalImageCache] as? SDImageCache { caching.originalCache = cache.cache }
        if let type = context[.queryCacheType] as? SDImageCacheType {
            caching.readFrom = type.tiers
            caching.originalReadFrom = type.tiers
        }
        if let type = context[.storeCacheType] as? SDImageCacheType {
            caching.writeTo = type.tiers
            caching.originalWriteTo = type.tiers
        }
        if let type = context[.originalQueryCacheType] as? SDImageCacheType { caching.originalReadFrom = type.tiers }
        if let type = context[.originalStoreCacheType] as? SDImageCacheType { caching.originalWriteTo = type.tiers }
    }
}
