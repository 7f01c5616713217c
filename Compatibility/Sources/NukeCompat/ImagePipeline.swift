// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import Synchronization
import WebImage

/// A pipeline, which contains an `ImageManager` and, if it has its own caches, an `ImageCache` of WebImage.
public final class ImagePipeline: Sendable {
    /// The settings of a pipeline.
    public struct Configuration: Sendable {
        /// The data that the disk cache stores.
        public enum DataCachePolicy: Sendable {
            /// The encoded processed image if there are processors, and otherwise the original data.
            case automatic
            /// The original data.
            case storeOriginalData
            /// The encoded processed image.
            case storeEncodedImages
            /// Both.
            case storeAll
        }

        /// The memory cache. `nil` means none.
        public var imageCache: ImageCache? = .shared
        /// The disk cache. The default is `nil`, which means the HTTP cache of `ImageManager.shared`.
        public var dataCache: DataCache?
        /// The data that the disk cache stores. The original data is always stored in addition.
        public var dataCachePolicy = DataCachePolicy.storeOriginalData
        /// A Boolean value that indicates whether requests deliver previews. The default is `false`.
        public var isProgressiveDecodingEnabled = false
        /// A Boolean value that indicates whether the number of started downloads per second is limited. The default is
        /// `true`.
        public var isRateLimiterEnabled = true
        /// A Boolean value that indicates whether interrupted downloads resume. The default is `true`.
        public var isResumableDataEnabled = true
        /// A closure that changes the settings of the manager that the pipeline creates.
        public var configureManager: (@Sendable (inout ImageManager.Configuration) -> Void)?

        fileprivate var usesSharedManager = false

        /// Creates settings with the default values.
        public init() {}

        /// The settings with the HTTP cache of `ImageManager.shared`.
        public static var withURLCache: Configuration { Configuration() }

        /// The settings with a disk cache of 150 MB.
        public static var withDataCache: Configuration { withDataCache() }

        /// The settings with a disk cache.
        public static func withDataCache(name: String = "com.github.kean.Nuke.DataCache", sizeLimit: Int? = nil)
            -> Configuration
        {
            var configuration = Configuration()
            configuration.dataCache = try? DataCache(name: name)
            if let sizeLimit { configuration.dataCache?.sizeLimit = sizeLimit }
            return configuration
        }

        /// Not available.
        @available(*, unavailable, message: "Use configureManager and ImageManager.Configuration.loaders of WebImage.")
        public var dataLoader: Any? { nil }
        /// Not available.
        @available(*, unavailable, message: "Use configureManager and ImageManager.Configuration.coders of WebImage.")
        public var makeImageDecoder: Any? { nil }
        /// Not available.
        @available(*, unavailable, message: "Use configureManager and ImageManager.Configuration.coders of WebImage.")
        public var makeImageEncoder: Any? { nil }
        /// Not available.
        @available(*, unavailable, message: "Remove this line. Work is always coalesced.")
        public var isTaskCoalescingEnabled: Bool { true }
        /// Not available.
        @available(*, unavailable, message: "Remove this line. Decoding always produces pixels.")
        public var isDecompressionEnabled: Bool { true }
        /// Not available.
        @available(*, unavailable, message: "Remove this line. The caches never store previews.")
        public var isStoringPreviewsInMemoryCache: Bool { false }
        /// Not available.
        @available(*, unavailable, message: "Completion closures run on the main actor.")
        public var callbackQueue: DispatchQueue { .main }
        /// Not available.
        @available(
            *, unavailable,
            message: "Use configureManager and ImageDownloader.Configuration.maxConnections of WebImage."
        )
        public var dataLoadingQueue: Any? { nil }
        /// Not available.
        @available(
            *, unavailable,
            message: "Use configureManager and ImageManager.Configuration.workerThreadCount of WebImage."
        )
        public var imageProcessingQueue: Any? { nil }
        /// Not available.
        @available(
            *, unavailable,
            message: "Use configureManager and ImageManager.Configuration.workerThreadCount of WebImage."
        )
        public var imageDecodingQueue: Any? { nil }
        /// Not available.
        @available(
            *, unavailable,
            message: "Use configureManager and ImageManager.Configuration.workerThreadCount of WebImage."
        )
        public var imageEncodingQueue: Any? { nil }
        /// Not available.
        @available(*, unavailable, message: "Remove this line. Decoding always produces pixels.")
        public var imageDecompressingQueue: Any? { nil }
        /// Not available.
        @available(*, unavailable, message: "Use configureManager and ImageLimits.maxEncodedBytes of WebImage.")
        public var maximumResponseDataSize: Int? { nil }
        /// Not available.
        @available(*, unavailable, message: "Use PreviewPolicy.progressive(interval:) of WebImage.")
        public var progressiveDecodingInterval: TimeInterval { 0 }
        /// Not available.
        @available(*, unavailable, message: "Use configureManager and ImageManager.Configuration.loaders of WebImage.")
        public var makeDataLoader: Any? { nil }
    }

    /// An error of a pipeline.
    public enum Error: Swift.Error, LocalizedError, CustomStringConvertible, Sendable {
        /// The caches don’t contain the image of a request with `returnCacheDataDontLoad`.
        case dataMissingInCache
        /// The data couldn’t be loaded.
        case dataLoadingFailed(error: any Swift.Error)
        /// The response has no data.
        case dataIsEmpty
        /// The data couldn’t be decoded. Limits count as decoding.
        case decodingFailed(error: any Swift.Error)
        /// A processor failed.
        case processingFailed(error: any Swift.Error)
        /// The request has no URL.
        case imageRequestMissing
        /// The pipeline was invalidated.
        case pipelineInvalidated
        /// The request was canceled.
        case cancelled

        init(_ error: ImageError) {
            switch error {
            case .cancelled: self = .cancelled
            case .cache(.notInCache): self = .dataMissingInCache
            case .network(let failure) where failure.reason == .emptyBody: self = .dataIsEmpty
            case .decoding(let failure):
                if case .noData = failure.reason { self = .dataIsEmpty } else { self = .decodingFailed(error: error) }
            case .limitExceeded: self = .decodingFailed(error: error)
            case .processing: self = .processingFailed(error: error)
            case .request(.managerShutDown): self = .pipelineInvalidated
            default: self = .dataLoadingFailed(error: error)
            }
        }

        /// The error of the stage that failed.
        public var dataLoadingError: (any Swift.Error)? {
            guard case .dataLoadingFailed(let error) = self else { return nil }
            return error
        }

        /// A description of the failure.
        public var description: String {
            switch self {
            case .dataMissingInCache: "The caches don’t contain the image."
            case .dataIsEmpty: "The response has no data."
            case .imageRequestMissing: "The request has no URL."
            case .pipelineInvalidated: "The pipeline was invalidated."
            case .cancelled: "The request was canceled."
            case .dataLoadingFailed(let error), .decodingFailed(let error), .processingFailed(let error): "\(error)"
            }
        }

        /// The ``description``.
        public var errorDescription: String? { description }
    }

    private static let sharedPipeline = Mutex<ImagePipeline?>(nil)

    /// The shared pipeline. The default uses `ImageManager.shared` and its caches.
    public static var shared: ImagePipeline {
        get {
            sharedPipeline.withLock { current in
                if let current { return current }
                let pipeline = ImagePipeline()
                current = pipeline
                return pipeline
            }
        }
        set { sharedPipeline.withLock { $0 = newValue } }
    }

    /// The settings.
    public let configuration: Configuration
    private let own: ImageManager?
    /// The caches of the pipeline, or `nil` for those of the manager.
    private let caches: WebImage.ImageCache?

    /// Creates a pipeline.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        let isDefault =
            configuration.imageCache === ImageCache.shared && configuration.dataCache == nil
            && configuration.isRateLimiterEnabled && configuration.isResumableDataEnabled
            && configuration.configureManager == nil
        guard !isDefault else {
            (own, caches) = (nil, nil)
            return
        }
        own = ImageManager {
            if configuration.dataCache != nil { $0.diskCache = nil }
            if !configuration.isRateLimiterEnabled { $0.downloader.maxStartsPerSecond = nil }
            if !configuration.isResumableDataEnabled { $0.downloader.resume = nil }
            configuration.configureManager?(&$0)
        }
        caches = WebImage.ImageCache(
            memory: configuration.imageCache?.memory, disk: configuration.dataCache?.disk ?? own?.diskCache)
    }

    /// Creates a pipeline and changes its settings.
    public convenience init(_ configure: (inout Configuration) -> Void) {
        var configuration = Configuration()
        configure(&configuration)
        self.init(configuration: configuration)
    }

    var manager: ImageManager { own ?? .shared }

    /// Cancels all requests. A pipeline with its own manager then fails all requests.
    public func invalidate() {
        guard let own else { return manager.cancelAll() }
        Task { await own.shutdown() }
    }

    /// The caches.
    public var cache: Cache { Cache(pipeline: self) }

    /// Returns the request of WebImage, or `nil` if there’s no URL.
    func request(_ request: ImageRequest) -> WebImage.ImageRequest? {
        guard var mapped = request.mapped else { return nil }
        mapped.caching.cache = caches
        // The disk cache of Nuke ignores the caching header fields, but its HTTP cache doesn’t.
        if configuration.dataCache != nil, mapped.cachePolicy == nil { mapped.cachePolicy = .cacheFirst }
        if configuration.isProgressiveDecodingEnabled { mapped.previews = .progressive }
        switch configuration.dataCachePolicy {
        case .storeOriginalData: break
        case .automatic: if !request.processors.isEmpty { mapped.caching.processedEncoding = .automatic }
        case .storeEncodedImages, .storeAll: mapped.caching.processedEncoding = .automatic
        }
        return mapped
    }

    // MARK: - Loading images

    /// Starts a request and returns its handle.
    public func imageTask(with url: URL) -> ImageTask { imageTask(with: ImageRequest(url: url)) }

    /// Starts a request and returns its handle.
    public func imageTask(with request: ImageRequest) -> ImageTask {
        ImageTask(request, self.request(request).map { manager.load($0) })
    }

    /// Loads an image.
    public func image(for url: URL) async throws -> PlatformImage { try await imageTask(with: url).image }

    /// Loads an image.
    public func image(for request: ImageRequest) async throws -> PlatformImage {
        try await imageTask(with: request).image
    }

    /// Loads data without decoding it. The response is always `nil`.
    public func data(for request: ImageRequest) async throws -> (Data, URLResponse?) {
        guard let request = self.request(request) else { throw Error.imageRequestMissing }
        do {
            return (try await manager.data(for: request), nil)
        } catch {
            throw Error(error)
        }
    }

    /// Loads an image. `completion` is called on the main actor, before this method returns if the image is in memory and
    /// the caller runs on the main thread.
    @discardableResult
    public func loadImage(
        with url: URL, completion: @escaping @MainActor @Sendable (_ result: Result<ImageResponse, Error>) -> Void
    ) -> ImageTask {
        loadImage(with: ImageRequest(url: url), progress: nil, completion: completion)
    }

    /// Loads an image.
    @discardableResult
    public func loadImage(
        with request: ImageRequest,
        completion: @escaping @MainActor @Sendable (_ result: Result<ImageResponse, Error>) -> Void
    ) -> ImageTask {
        loadImage(with: request, progress: nil, completion: completion)
    }

    /// Loads an image, with its previews and its progress, in bytes. An unknown total is 0.
    @discardableResult
    public func loadImage(
        with request: ImageRequest,
        progress: (@MainActor @Sendable (_ response: ImageResponse?, _ completed: Int64, _ total: Int64) -> Void)?,
        completion: @escaping @MainActor @Sendable (_ result: Result<ImageResponse, Error>) -> Void
    ) -> ImageTask {
        let task = imageTask(with: request)
        task.deliver { event in
            switch event {
            case .progress(let value): progress?(nil, value.completed, value.total)
            case .preview(let response):
                let value = task.currentProgress
                progress?(response, value.completed, value.total)
            case .finished(let result): completion(result)
            }
        }
        return task
    }

    /// Loads data without decoding it. The response is always `nil`.
    @discardableResult
    public func loadData(
        with request: ImageRequest,
        completion:
            @escaping @MainActor @Sendable (
                _ result: Result<(data: Data, response: URLResponse?), Error>
            ) -> Void
    ) -> ImageTask {
        let loading = Task { () -> Result<(data: Data, response: URLResponse?), Error> in
            do {
                let (data, response) = try await data(for: request)
                return .success((data: data, response: response))
            } catch {
                return .failure(error as? Error ?? .dataLoadingFailed(error: error))
            }
        }
        Task { @MainActor in completion(await loading.value) }
        return ImageTask(request, cancel: { loading.cancel() })
    }
}

/// Not available.
@available(
    *, unavailable, message: "Use ImageRequestInterceptor, DownloadInterceptor, and ImageManagerObserver of WebImage."
)
public protocol ImagePipelineDelegate {}

extension ImagePipeline {
    /// The caches of a pipeline.
    public struct Cache: Sendable {
        let pipeline: ImagePipeline

        /// The tiers of a pipeline.
        public struct Caches: OptionSet, Sendable {
            /// The bits of the tiers.
            public let rawValue: Int

            /// Creates tiers from their bits.
            public init(rawValue: Int) { self.rawValue = rawValue }

            /// The memory cache.
            public static let memory = Caches(rawValue: 1)
            /// The disk cache.
            public static let disk = Caches(rawValue: 2)
            /// Both caches.
            public static let all: Caches = [.memory, .disk]

            var tiers: WebImage.ImageCache.Tiers {
                var tiers: WebImage.ImageCache.Tiers = []
                if contains(.memory) { tiers.insert(.memory) }
                if contains(.disk) { tiers.formUnion([.disk, .custom]) }
                return tiers
            }
        }

        /// The image in memory.
        public subscript(url: URL) -> ImageContainer? {
            get { self[ImageRequest(url: url)] }
            nonmutating set { self[ImageRequest(url: url)] = newValue }
        }

        /// The image in memory.
        public subscript(request: ImageRequest) -> ImageContainer? {
            get { cachedImage(for: request, caches: .memory) }
            nonmutating set {
                if let newValue {
                    storeCachedImage(newValue, for: request, caches: .memory)
                } else {
                    removeCachedImage(for: request, caches: .memory)
                }
            }
        }

        /// Returns an image. If `caches` contains the disk cache, this method blocks while it reads and decodes the image.
        public func cachedImage(for request: ImageRequest, caches: Caches = .all) -> ImageContainer? {
            guard let mapped = pipeline.request(request) else { return nil }
            let memory = caches.contains(.memory) ? pipeline.manager.cachedImage(for: mapped) : nil
            let image =
                memory
                ?? (caches.contains(.disk)
                    ? pipeline.manager.loadCachedImageSynchronously(for: mapped, from: caches.tiers) : nil)
            return image.map { ImageResponse($0, request).container }
        }

        /// Stores an image. It’s in memory when this method returns.
        public func storeCachedImage(_ image: ImageContainer, for request: ImageRequest, caches: Caches = .all) {
            guard let mapped = pipeline.request(request) else { return }
            if caches.contains(.memory) {
                let memory = mapped.caching.cache?.memory ?? pipeline.manager.memoryCache
                memory.store(image.image.decoded, for: pipeline.manager.cacheKeys(for: mapped).image)
            }
            guard caches.contains(.disk) else { return }
            let manager = pipeline.manager
            Task { try? await manager.store(image.image.decoded, data: image.data, for: mapped, in: [.disk, .custom]) }
        }

        /// Removes an image. It’s removed from memory when this method returns.
        public func removeCachedImage(for request: ImageRequest, caches: Caches = .all) {
            guard let mapped = pipeline.request(request) else { return }
            let manager = pipeline.manager
            if caches.contains(.memory) {
                (mapped.caching.cache?.memory ?? manager.memoryCache).remove(manager.cacheKeys(for: mapped).image)
            }
            guard caches.contains(.disk) else { return }
            Task { await manager.removeCachedImage(for: mapped, from: caches.tiers) }
        }

        /// Returns whether the caches contain an image. This method blocks while it reads the disk cache.
        public func containsCachedImage(for request: ImageRequest, caches: Caches = .all) -> Bool {
            cachedImage(for: request, caches: caches) != nil
        }

        /// Returns whether the disk cache contains the data of a request.
        public func containsData(for request: ImageRequest) -> Bool {
            containsCachedImage(for: request, caches: .disk)
        }

        /// Stores the data of a request.
        public func storeCachedData(_ data: Data, for request: ImageRequest) {
            guard let mapped = pipeline.request(request) else { return }
            Task { [manager = pipeline.manager] in try? await manager.store(data, for: mapped, in: [.disk, .custom]) }
        }

        /// Removes the data of a request.
        public func removeCachedData(for request: ImageRequest) { removeCachedImage(for: request, caches: .disk) }

        /// Removes all images. Memory is empty when this method returns.
        public func removeAll(caches: Caches = .all) {
            let cache = pipeline.request("https://localhost")?.caching.cache ?? pipeline.manager.cache
            if caches.contains(.memory) { cache.memory?.removeAll() }
            if caches.contains(.disk) { Task { await cache.removeAll(from: caches.tiers) } }
        }

        /// Returns the key of an image in memory.
        public func makeImageCacheKey(for request: ImageRequest) -> ImageCacheKey { ImageCacheKey(request: request) }

        /// Not available.
        @available(
            *, unavailable, message: "Use await ImagePipeline.data(for:) with the option returnCacheDataDontLoad."
        )
        public func cachedData(for request: ImageRequest) -> Data? { nil }

        /// Not available.
        @available(*, unavailable, message: "Use ImageManager.cacheKeys(for:) of WebImage.")
        public func makeDataCacheKey(for request: ImageRequest) -> String { "" }
    }
}
