// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageNet
import WebImageStore

/// The front door: memory and disk cache, loaders, coders, and the jobs that connect them. Thread-safe; a process
/// usually has one, ``shared``.
public final class ImageManager: Sendable {
    /// A manager with the default configuration, made when it is first used.
    public static let shared = ImageManager()

    /// The settings this manager was made with.
    public let configuration: ImageManagerConfiguration
    /// Memory, disk and further tiers as one.
    public let cache: ImageCache
    /// Decoded pictures.
    public let memoryCache: MemoryCache
    /// Original bytes; nil when switched off or when its folder cannot be used.
    public let diskCache: DiskCache?
    /// Why there is no disk cache although one was configured.
    public let diskCacheError: ImageError?
    /// The HTTP loader.
    public let downloader: ImageDownloader
    let pipeline: ImagePipeline
    private let pressure: MemoryPressureObservation

    /// Makes a manager; `configure` changes the default settings.
    ///
    /// A disk cache that cannot be opened is no obstacle: the manager works without, and ``diskCacheError`` says why.
    public init(_ configure: (inout ImageManagerConfiguration) -> Void = { _ in }) {
        var configuration = ImageManagerConfiguration()
        configure(&configuration)
        configuration = configuration.withOneTime()
        self.configuration = configuration
        let memory = configuration.cache.memory
        memoryCache = MemoryCache(
            costLimit: memory.costLimit, countLimit: memory.countLimit, entryLimit: memory.entryLimit,
            timeToLive: memory.timeToLive, clock: memory.clock)
        (diskCache, diskCacheError) = Self.openDisk(configuration.cache)
        let disk = diskCache.map { VariantStore($0, now: configuration.now) }
        cache = ImageCache(
            memory: memoryCache, tiers: (disk.map { [$0] } ?? []) + configuration.cache.tiers,
            policies: configuration.cache.policies)
        downloader = ImageDownloader(Self.keepingParts(configuration, hasDisk: diskCache != nil))
        pipeline = ImagePipeline(
            configuration: configuration, cache: cache,
            loaders: [DataURLLoader(), FileLoader(), downloader] + configuration.loaders)
        pressure = Self.observePressure(configuration.memoryPressure, memoryCache, pipeline.workers)
    }

    /// Parts of lost downloads lie beside the cache, so that they are continued after a restart too.
    private static func keepingParts(
        _ configuration: ImageManagerConfiguration, hasDisk: Bool
    ) -> DownloaderConfiguration {
        var downloader = configuration.restrictedDownloader
        if hasDisk, downloader.resume != nil, downloader.resume?.directory == nil {
            downloader.resume?.directory = "\(configuration.cache.disk.directory)/partial"
        }
        // Requests of a manager share loads above the downloader.
        downloader.sharesTransfers = false
        return downloader
    }

    private static func openDisk(_ cache: ImageManagerConfiguration.Cache) -> (DiskCache?, ImageError?) {
        guard cache.usesDisk else { return (nil, nil) }
        do throws(ImageError) {
            return (try DiskCache(configuration: cache.disk), nil)
        } catch {
            return (nil, error)
        }
    }

    // MARK: - Loading

    /// Starts a request and returns its handle at once. A picture in memory that answers is delivered without
    /// anything being started: the task is finished when this returns.
    @discardableResult
    public func load(_ request: ImageRequest) -> ImageTask {
        let plan = pipeline.plan(request)
        let (response, known) = pipeline.hit(plan)
        guard let response else { return pipeline.start(plan, known: known) }
        return ImageTask(plan.request, finished: .success(response))
    }

    /// Starts a request for the picture at `url`, as it is.
    @discardableResult
    public func load(_ url: URL) -> ImageTask { load(ImageRequest(url)) }

    /// The picture for `request`. A picture in memory is returned without suspending. Cancelling the calling Swift
    /// task cancels the request.
    ///
    /// - Throws: why there is none.
    public func image(for request: ImageRequest) async throws(ImageError) -> Image {
        try await response(for: request).image
    }

    /// The picture at `url`, as it is.
    ///
    /// - Throws: why there is none.
    public func image(from url: URL) async throws(ImageError) -> Image { try await image(for: ImageRequest(url)) }

    /// The answer to `request`. Cancelling the calling Swift task cancels the request.
    ///
    /// - Throws: why there is none.
    public func response(for request: ImageRequest) async throws(ImageError) -> ImageResponse {
        let plan = pipeline.plan(request)
        let (response, known) = pipeline.hit(plan)
        if let response { return response }
        return try await pipeline.start(plan, known: known).finished()
    }

    // MARK: - Bytes

    /// The original bytes for `request`, once their header was found to be that of a picture within the limits.
    /// Nothing is decoded. Cancelling the calling Swift task cancels the request.
    ///
    /// - Throws: why there are none; a ``LimitError`` of kind overloaded at once where ``ImageManagerConfiguration/queueLimit``
    ///   is reached.
    public func data(for request: ImageRequest) async throws(ImageError) -> Data {
        let plan = pipeline.plan(request)
        let span = plan.trace?.begin(.request, key: plan.keys.data)
        do throws(ImageError) {
            let place = try pipeline.admit(plan)
            defer { pipeline.release(place) }
            let data = try await pipeline.bytes(plan, ImageTask(plan.request))
            span?.end { $0.bytes = data.count }
            return data
        } catch {
            span?.end { $0.error = error }
            throw error
        }
    }

    // MARK: - Caches

    /// The picture that memory holds for `request`, whatever its age. Synchronous and quick.
    public func cachedImage(for request: ImageRequest) -> Image? {
        let request = pipeline.interceptors.prepared(request)
        guard let memory = (request.cache ?? cache).memory,
            let image = memory.image(for: pipeline.defaults.digest(of: request))
        else { return nil }
        guard let resource = image.resource, resource.isNegotiated else { return image }
        return RequestPlan(request, pipeline.defaults).selects(image) ? image : nil
    }

    /// A picture of the same bytes that memory holds in another size, to be shown until the right one is there: the same
    /// part in the same proportions through the same transformers, the largest there is. Whatever its age. Synchronous
    /// and quick.
    public func cachedPlaceholder(for request: ImageRequest) -> Image? {
        pipeline.memory.placeholder(pipeline.plan(request))
    }

    /// Removes everything that is cached for a request.
    ///
    /// This method removes the images of every size from memory and from entries of their own, the data from all tiers,
    /// encodings made of it, its remembered failure, and the resume data of its URL. Encodings in a tier that can't
    /// list its keys are no longer returned and expire there.
    ///
    /// The removal applies to running requests too. They finish with their images but store nothing, and later requests
    /// don't join their work.
    ///
    /// - Parameter request: The request. The header fields, network options, cookies, and credentials that are part of
    ///   its key decide which entries are removed.
    public func removeCached(_ request: ImageRequest) async {
        let plan = await pipeline.plan(request).verified()
        // First, so that requests that run store nothing of what is removed.
        plan.cache.noteRemoval(of: plan.keys.data)
        plan.cache.memory?.remove(plan.keys.final)
        plan.cache.memory?.removeAll(of: plan.keys.data)
        failures.forget(plan.keys.data)
        downloader.forgetParts(of: plan.request.url)
        await plan.originalCache.remove(plan.keys.data)
        if case .encoded = plan.request.storeFinal { await plan.cache.remove(plan.processedKey) }
        await plan.cache.removeDerived(from: plan.keys.allPictures)
    }

    /// Empties the caches of the manager, and removes all failures and all resume data.
    ///
    /// The removal applies to running requests too. They finish with their images but store nothing.
    public func removeAllCached() async {
        failures.removeAll()
        await cache.removeAll()
        await configuration.originalCache?.removeAll()
        await downloader.forgetAllParts()
    }

    /// The failures that the manager remembers (its negative cache).
    ///
    /// A remembered failure answers only requests that would be sent, accepted, and decoded in the same way as the
    /// request that failed. Until it expires, such requests fail with ``CacheError/remembered(cause:since:until:)``
    /// without contacting the server.
    public var failures: FailureMemory { pipeline.failures.memory }

    /// Ends the network thread and writes what waits for the disk. Running requests end with an error.
    public func close() async {
        downloader.close()
        await diskCache?.close()
        pipeline.workers.close()
    }

    /// The number of jobs that run at any stage.
    ///
    /// The value is 0 if the manager is idle.
    public var runningJobs: Int { pipeline.runningJobs }
}
