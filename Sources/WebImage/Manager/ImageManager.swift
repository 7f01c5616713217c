// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageNet
import WebImageStore

/// The main entry point of the library.
///
/// A manager connects the memory and disk caches, the loaders, and the coders, and it coalesces the work of concurrent
/// requests. It's thread-safe. A process usually needs only one manager, which is ``shared``.
public final class ImageManager: Sendable {
    /// The manager of the process.
    ///
    /// The first access creates a manager with the default configuration. To use another configuration, set this
    /// property at launch. Views, prefetchers, and other objects keep the manager that they were created with. You can
    /// use the property from any thread.
    public static var shared: ImageManager {
        get {
            sharedManager.withLock { shared in
                if let shared { return shared }
                let manager = ImageManager()
                shared = manager
                return manager
            }
        }
        set {
            sharedManager.replace(with: newValue)
        }
    }
    private static let sharedManager = Lock<ImageManager?>(nil)

    /// The settings that this manager was created with. For the current values, see ``settings``.
    public let configuration: ImageManager.Configuration
    /// The memory cache, the disk cache, and any other tiers, combined into one cache.
    public let cache: ImageCache
    /// The built-in cache for decoded images.
    ///
    /// It remains empty if ``ImageManager/Configuration/customMemoryCache`` replaces it.
    public let memoryCache: MemoryCache
    /// The cache for original data, or `nil` if it's turned off or its directory can't be used.
    public let diskCache: DiskCache?
    /// The error that prevented the manager from opening its disk cache, or `nil` if there was none.
    public let diskCacheError: ImageError?
    /// The HTTP loader.
    public let downloader: ImageDownloader
    let pipeline: ImagePipeline
    /// The lock under which ``update(_:)`` changes the settings.
    let updates = Lock(())
    private let pressure: MemoryPressureObservation

    /// Creates a manager with changes to the default configuration.
    ///
    /// - Parameter configure: A closure that changes the default settings.
    public convenience init(_ configure: (inout Configuration) -> Void) {
        var configuration = Configuration()
        configure(&configuration)
        self.init(configuration: configuration)
    }

    /// Creates a manager.
    ///
    /// If the disk cache can't be opened, the manager works without it and ``diskCacheError`` contains the error.
    ///
    /// - Parameter configuration: The settings. The default is a configuration with the default values.
    public init(configuration: Configuration = Configuration()) {
        let configuration = configuration.withOneTime()
        self.configuration = configuration
        PixelPool.shared.allowIdle(min(max(configuration.decodingMemoryLimit, 0) / 4, PixelPool.mostIdleBytes))
        memoryCache = MemoryCache(configuration: configuration.memoryCache)
        (diskCache, diskCacheError) = Self.openDisk(configuration.diskCache)
        cache = ImageCache(
            memory: memoryCache, customMemory: configuration.customMemoryCache, disk: diskCache,
            tiers: configuration.cacheTiers, policy: configuration.tierPolicy, now: configuration.now)
        downloader = ImageDownloader(configuration: Self.keepingParts(configuration, hasDisk: diskCache != nil))
        let settings = LiveSettings(
            configuration, builtIn: [DataURLLoader(limit: configuration.maxDataURLBytes), FileLoader(), downloader],
            rules: { [downloader] in downloader.rules },
            headerIdentity: { [downloader] in downloader.headerIdentity })
        pipeline = ImagePipeline(configuration: configuration, cache: cache, settings: settings)
        pressure = Self.observePressure(configuration.memoryPressureMonitor, cache, pipeline.workers)
    }

    /// Stores the resume data next to the cache so that interrupted downloads can resume after a restart. Resume data
    /// isn't encrypted, so it remains in memory if the cache has an encryption key.
    private static func keepingParts(
        _ configuration: ImageManager.Configuration, hasDisk: Bool
    ) -> ImageDownloader.Configuration {
        var downloader = configuration.restrictedDownloader
        if hasDisk, let cache = configuration.diskCache, cache.encryptionKey == nil, downloader.resume != nil,
            downloader.resume?.directory == nil
        {
            downloader.resume?.directory = cache.directory.appending(path: "partial")
        }
        // The pipeline coalesces loads before they reach the downloader.
        downloader.sharesTransfers = false
        return downloader
    }

    private static func openDisk(_ configuration: DiskCache.Configuration?) -> (DiskCache?, ImageError?) {
        guard let configuration else { return (nil, nil) }
        do throws(ImageError) {
            return (try DiskCache(configuration: configuration), nil)
        } catch {
            return (nil, error)
        }
    }

    // MARK: - Loading

    /// Starts a request and returns its task immediately.
    ///
    /// If an image in the memory cache can serve the request, the manager starts no work and the returned task is
    /// already finished.
    @discardableResult
    public func load(_ request: ImageRequest) -> ImageTask { start(request, showsPreliminary: true).task }

    /// The start of a request for a view, with the content that the view can display until the image is available.
    package struct ViewLoad {
        package let task: ImageTask
        /// The image for the request that was in memory before the load started.
        package let stored: DecodedImage?
        /// The same image in another size, if ``stored`` is `nil`.
        package let otherSize: DecodedImage?
        /// The image of a preliminary request that was in memory.
        package let preliminary: DecodedImage?
    }

    /// Starts a request for a view.
    ///
    /// The memory cache is read before the load starts. Otherwise, a fast load could store its image before, and the view
    /// would receive the result of this load as an earlier image.
    ///
    /// - Parameter readsMemory: Whether the image and the same image in another size are looked up.
    /// - Returns: The task and the images. If the task is already finished, there are no images.
    package func loadForView(_ request: ImageRequest, readsMemory: Bool) -> ViewLoad {
        var (stored, otherSize) = (DecodedImage?.none, DecodedImage?.none)
        let (task, preliminary) = start(request, showsPreliminary: true) {
            guard readsMemory else { return false }
            stored = cachedImage(for: request)
            if stored == nil { otherSize = cachedPlaceholder(for: request) }
            return stored != nil
        }
        if task.immediateResult != nil {
            return ViewLoad(task: task, stored: nil, otherSize: nil, preliminary: nil)
        }
        return ViewLoad(task: task, stored: stored, otherSize: otherSize, preliminary: preliminary)
    }

    /// Starts a request and, if its events can have subscribers, its preliminary request.
    ///
    /// If memory doesn't serve the request, `willStart` is called before any work starts and returns whether memory
    /// contains the image nevertheless. Another load may have stored the image since memory was read.
    func start(
        _ request: ImageRequest, showsPreliminary: Bool, willStart: () -> Bool = { false }
    ) -> (task: ImageTask, preliminary: DecodedImage?) {
        let plan = pipeline.plan(request)
        var (response, known) = pipeline.hit(plan)
        if response == nil, willStart() { (response, known) = pipeline.hit(plan) }
        if let response { return (ImageTask(plan.callerRequest, finished: .success(response)), nil) }
        let task = pipeline.start(plan, known: known)
        guard showsPreliminary, known == nil, plan.callerRequest.preliminary != nil else { return (task, nil) }
        return (task, PreliminaryLoads.start(for: plan, task, pipeline))
    }

    /// Starts a request for the image at a URL with the default options.
    @discardableResult
    public func load(_ url: URL) -> ImageTask { load(ImageRequest(url: url)) }

    /// Loads the image for a request.
    ///
    /// If an image in the memory cache can serve the request, this method returns without suspending. Canceling the
    /// calling Swift task cancels the request unless ``ImageRequest/continuesAfterCancellation`` is `true`.
    ///
    /// - Parameter request: The request to load.
    /// - Returns: The decoded and transformed image.
    /// - Throws: An ``ImageError`` if the image can't be loaded or decoded.
    public func image(for request: ImageRequest) async throws(ImageError) -> DecodedImage {
        try await response(for: request).image
    }

    /// Loads the image at a URL with the default options.
    ///
    /// - Parameter url: The URL of the image.
    /// - Returns: The decoded image.
    /// - Throws: An ``ImageError`` if the image can't be loaded or decoded.
    public func image(for url: URL) async throws(ImageError) -> DecodedImage {
        try await image(for: ImageRequest(url: url))
    }

    /// Loads the response for a request.
    ///
    /// If an image in the memory cache can serve the request, this method returns without suspending. Canceling the
    /// calling Swift task cancels the request unless ``ImageRequest/continuesAfterCancellation`` is `true`.
    ///
    /// - Parameter request: The request to load.
    /// - Returns: The image with information about its source.
    /// - Throws: An ``ImageError`` if the image can't be loaded or decoded.
    public func response(for request: ImageRequest) async throws(ImageError) -> ImageResponse {
        let plan = pipeline.plan(request)
        let (response, known) = pipeline.hit(plan)
        if let response { return response }
        return try await pipeline.start(plan, known: known).finished()
    }

    // MARK: - Data

    /// Loads the original data for a request without decoding it.
    ///
    /// The manager checks that the header of the data describes an image within the limits. Canceling the calling Swift
    /// task cancels the request.
    ///
    /// - Parameter request: The request to load.
    /// - Returns: The encoded image as loaded.
    /// - Throws: An ``ImageError`` if the data can't be loaded. If the manager has reached its
    ///   ``ImageManager/Configuration/maxInFlightRequests``, this method immediately throws an
    ///   ``ImageError/LimitFailure`` of the kind overloaded.
    public func data(for request: ImageRequest) async throws(ImageError) -> Data {
        let plan = pipeline.plan(request)
        return try await pipeline.perform(plan, as: .data) { [pipeline] (task) async throws(ImageError) in
            let original = try await pipeline.original(plan, task)
            return (original.data, original.result)
        }
    }

    /// Loads the original data at a URL with the default options, without decoding it.
    ///
    /// - Parameter url: The URL of the image.
    /// - Returns: The encoded image as loaded.
    /// - Throws: An ``ImageError`` if the data can't be loaded. See ``data(for:)-(ImageRequest)``.
    public func data(for url: URL) async throws(ImageError) -> Data { try await data(for: ImageRequest(url: url)) }

    // MARK: - Caches

    /// Returns the key of the original data of a request in the disk cache and in custom tiers.
    ///
    /// The key depends on the URL or the application's key and on the header fields, network options, and partition that
    /// select the data. The key of a file includes its version, which is the one that the manager read last. This method
    /// is synchronous and reads no files.
    public func cacheKey(for request: ImageRequest) -> CacheKey { pipeline.plan(request).keys.data }

    /// Returns the image for a request from the memory cache, regardless of its age, or `nil` on a cache miss.
    ///
    /// The result is also `nil` if ``ImageRequest/CachingOptions/readFrom`` excludes memory or if the cache policy is
    /// ``CachePolicy/reload``. This method is synchronous and fast.
    public func cachedImage(for request: ImageRequest) -> DecodedImage? {
        pipeline.interceptors.preparesNothing
            ? imageInMemory(for: request) : imageInMemory(for: pipeline.interceptors.prepared(request))
    }

    /// Returns the image at a URL with the default options from the memory cache, regardless of its age, or `nil` on a
    /// cache miss. This method is synchronous and fast.
    public func cachedImage(for url: URL) -> DecodedImage? { cachedImage(for: ImageRequest(url: url)) }

    private func imageInMemory(for request: ImageRequest) -> DecodedImage? {
        guard !request.hasLowerQualities else {
            for quality in request.qualities {
                if let image = imageInMemory(for: quality) { return image }
            }
            return nil
        }
        guard request.caching.readFrom.contains(.memory),
            (request.cachePolicy ?? pipeline.defaults.configuration.cachePolicy).usesCache
        else { return nil }
        let defaults = pipeline.defaults
        let image = (request.caching.cache ?? cache).imageInMemory(
            for: defaults.digest(of: request), RequestPlan(request, defaults).keys.final)
        guard let image else {
            guard request.frames == .first else { return nil }
            return pipeline.memory.firstFrame(RequestPlan(request, defaults))
        }
        guard let originalInfo = image.originalInfo, originalInfo.isNegotiated else { return image }
        return RequestPlan(request, defaults).http.selects(image) ? image : nil
    }

    /// Returns a placeholder from the memory cache: the same image in another size, or `nil` if there's none.
    ///
    /// The placeholder shows the same region in the same proportions after the same transformers, regardless of its
    /// age. If the cache has several sizes, this method returns the largest. It's synchronous and fast.
    public func cachedPlaceholder(for request: ImageRequest) -> DecodedImage? {
        pipeline.memory.placeholder(pipeline.plan(request))
    }

    /// Removes everything that is cached for a request.
    ///
    /// This method removes the images of every size from memory and from entries of their own, the data from all tiers,
    /// encodings made of it, its negative cache entry, and the resume data of its URL. Encodings in a tier that can't
    /// list its keys are no longer returned and expire there.
    ///
    /// The removal applies to running requests too. They finish with their images but store nothing, and later requests
    /// don't join their work.
    ///
    /// - Parameter request: The request. The header fields, network options, cookies, and credentials that are part of
    ///   its key decide which entries are removed.
    public func removeCachedImage(for request: ImageRequest) async {
        for plan in pipeline.plans(request) { await removeCachedImage(for: await plan.verified()) }
    }

    private func removeCachedImage(for plan: RequestPlan) async {
        failures.remove(plan.keys.data)
        downloader.removePartialDownloads(of: plan.request.url)
        await plan.removeCached()
    }

    /// Empties the caches of the manager, and removes all failures and all resume data.
    ///
    /// The removal applies to running requests too. They finish with their images but store nothing. Requests that start
    /// during the removal don't find the cached images.
    public func removeAllCachedImages() async {
        failures.removeAll()
        await cache.removeAll()
        await configuration.originalCache?.removeAll()
        await downloader.removeAllPartialDownloads()
    }

    /// Removes all failures that the manager remembers, so that later requests contact their sources again.
    ///
    /// This method never blocks.
    public func removeRememberedFailures() {
        failures.removeAll()
        pipeline.unresponsive.removeAll()
    }

    /// Removes the failures that the manager remembers for the data of a request, so that later requests contact its
    /// source again. This method never blocks.
    ///
    /// The failures of all requests for the same data are removed, regardless of their sizes and transformers. Cached
    /// images remain.
    public func removeRememberedFailures(for request: ImageRequest) {
        failures.remove(pipeline.plan(request).keys.data)
    }

    /// The failures that the manager remembers (its negative cache).
    ///
    /// An entry applies only to requests that would be sent, accepted, and decoded in the same way as the request that
    /// failed. Until it expires, such requests fail with the same error without contacting the server. Its
    /// ``ImageError/rememberedUntil`` is the date at which the entry expires.
    package var failures: FailureCache { pipeline.failures.memory }

    /// Stops the network thread and finishes pending disk writes. Running requests fail.
    ///
    /// When this method returns, the resume data of interrupted downloads that belongs in files is stored, unless the
    /// network thread needs more than two seconds to end its transfers.
    public func shutdown() async {
        downloader.shutdown()
        async let parts: Void = downloader.partialDownloadsStored()
        await diskCache?.close()
        await parts
        pipeline.workers.close()
    }

    /// The number of jobs that run at any stage.
    ///
    /// The value is 0 if the manager is idle.
    package var runningJobs: Int { pipeline.runningJobs }
}

extension ImageManager {
    /// Connects the memory cache and the worker threads to the pressure source for the lifetime of the result.
    static func observePressure(
        _ source: MemoryPressureMonitor, _ cache: ImageCache, _ workers: WorkerPool
    ) -> MemoryPressureObservation {
        let (memory, tracked) = (cache.memory, cache.trackedMemory)
        memory?.whenFilled { [weak source] in source?.startReading() }
        tracked?.whenFilled { [weak source] in source?.startReading() }
        let holdsMemory = { @Sendable [weak memory, weak tracked] in
            (memory?.statistics.count ?? 0) + (tracked?.keyCount ?? 0) > 0
        }
        return source.observe(holdsMemory: holdsMemory) { [weak memory, weak tracked, weak workers] event in
            workers?.limit(toThreads: event.level.decodeLimit)
            if event.sheds { shed(event.level, memory, tracked) }
        }
    }

    private static func shed(_ level: MemoryPressureLevel, _ memory: MemoryCache?, _ tracked: TrackedMemoryTier?) {
        if level.dropsLookAhead { memory?.removeUnusedAhead() }
        // Visible images remain available through weak references, even if the cache no longer retains them.
        if let fraction = level.cacheFraction { memory?.trim(toFraction: fraction) }
        tracked?.tier.releaseMemory(at: level)
        PixelPool.shared.trim()
        // This takes milliseconds if much memory is free, and the thread that reported the level may be drawing.
        if level.returnsMemory { DispatchQueue.global(qos: .utility).async { SystemMemory.trimHeap() } }
    }
}

/// Statistics and activity.
extension ImageManager {
    /// The statistics since the creation of the manager. Reading them is cheap. The counters are read one after the
    /// other, so they can be from slightly different times.
    public var statistics: ImageManager.Statistics {
        var statistics = pipeline.statistics
        statistics.bodyBytesInFlight = downloader.bodyBytesInFlight
        statistics.pausedDownloads = downloader.pausedCount
        return statistics
    }

    /// The number of downloads that run or wait for a connection, for network activity indicators.
    ///
    /// Files and `data:` URLs don't count.
    public var activeDownloadCount: Int { pipeline.activity.count }

    /// The current ``activeDownloadCount``, and the count after every change, in the order of the changes.
    ///
    /// Each access creates an independent stream. A slow subscriber receives only the most recent count. The stream
    /// doesn't end on its own.
    public var activeDownloadCounts: AsyncStream<Int> { pipeline.activity.counts }

    /// Sets a closure that receives the pixels of every new image, preview, and frame before any subscriber receives
    /// them.
    ///
    /// The closure runs on a background thread and must be fast. It can attach its results to the pixels with
    /// ``PixelBuffer/attachment(make:)``. A new closure replaces the previous one.
    ///
    /// - Parameter action: The closure, which receives the pixels and ``DecodedImage/displayedCodePoints``.
    package func preparePixels(_ action: @escaping @Sendable (PixelBuffer, ColorCodePoints?) -> Void) {
        pipeline.postprocessor.set(action)
    }
}

extension ImageManager {
    /// Decodes a frame of an animation on a worker thread, and prepares its pixels for the toolkit. Animation players
    /// use this method.
    ///
    /// - Parameters:
    ///   - index: The index of the frame.
    ///   - animation: The animation.
    ///   - cost: The size of the decoded pixels, in bytes.
    /// - Throws: An ``ImageError`` if the frame can't be decoded, if the calling Swift task is canceled, or if too much
    ///   work is waiting.
    package func decodeFrame(
        at index: Int, of animation: ImageAnimation, cost: Int
    ) async throws(ImageError) -> PixelBuffer {
        let postprocessor = pipeline.postprocessor
        return try await pipeline.workers.run(
            cost: cost, priority: SharedPriority(.high), remote: animation.remoteWork, limits: configuration.limits
        ) { (_) throws(ImageError) in
            let pixels = try animation.frame(at: index)
            postprocessor(pixels)
            return pixels
        }
    }
}
