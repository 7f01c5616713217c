// SPDX-License-Identifier: MIT

@_exported import AppleNames
import Foundation
import WebImage
import WebImageUI

/// The image of a platform.
public typealias KFCrossPlatformImage = UIImage
/// The color of a platform.
public typealias KFCrossPlatformColor = UIColor
/// The options of a load.
public typealias KingfisherOptionsInfo = [KingfisherOptionsInfoItem]
/// A closure with the numbers of received and expected bytes.
public typealias DownloadProgressBlock = @MainActor @Sendable (_ receivedSize: Int64, _ totalSize: Int64) -> Void

/// An option of a load.
public enum KingfisherOptionsInfoItem: Sendable {
    /// The cache.
    case targetCache(ImageCache)
    /// The cache for original data.
    case originalCache(ImageCache)
    /// The downloader.
    case downloader(ImageDownloader)
    /// The transition to loaded images.
    case transition(ImageTransition)
    /// The priority of the download, from 0 to 1.
    case downloadPriority(Float)
    /// Loads the image without looking in the caches.
    case forceRefresh
    /// Looks only in memory before it loads the image.
    case fromMemoryCacheOrRefresh
    /// Runs the transition for images in memory, too.
    case forceTransition
    /// Stores the image only in memory.
    case cacheMemoryOnly
    /// Completes after the image is stored.
    case waitForCache
    /// Never loads the image from its source.
    case onlyFromCache
    /// Has no effect, because worker threads always decode.
    case backgroundDecode
    /// The scale of the image.
    case scaleFactor(CGFloat)
    /// Has no effect. Players decode frames in advance.
    case preloadAllAnimationData
    /// A value that changes the request.
    case requestModifier(any AsyncImageDownloadRequestModifier)
    /// The processor.
    case processor(any ImageProcessor)
    /// Changes the image after the load. The result isn’t cached.
    case imageModifier(any ImageModifier)
    /// Keeps the current image of the view during the load.
    case keepCurrentImageWhileLoading
    /// Decodes only the first frame.
    case onlyLoadFirstFrame
    /// Has no effect, because the disk cache always stores the original data.
    case cacheOriginalImage
    /// The image that the view shows after a failure.
    case onFailureImage(KFCrossPlatformImage?)
    /// Decodes prefetched images and stores them in memory.
    case alsoPrefetchToMemory
    /// Reads the disk cache before the view’s method returns.
    case loadDiskFileSynchronously
    /// The expiration of the image in the caches.
    case memoryCacheExpiration(StorageExpiration)
    /// The expiration of the image in the caches.
    case diskCacheExpiration(StorageExpiration)
    /// The strategy that decides about retries.
    case retryStrategy(any RetryStrategy)
    /// The sources that are tried after a failure.
    case alternativeSources([Source])
    /// The source that is used on metered networks.
    case lowDataMode(Source?)
    /// Delivers previews of the download.
    case progressiveJPEG(ImageProgressive)

    /// Has no effect, because closures always run on the main actor.
    case callbackQueue(CallbackQueue)
    /// The serializer, which determines the encoding of processed images on disk.
    case cacheSerializer(any CacheSerializer)

    /// Not available.
    @available(
        *, unavailable, message: "Worker threads always process. Use ImageManager.Configuration.workerThreadCount."
    )
    case processingQueue(CallbackQueue)
    /// Not available.
    @available(*, unavailable, message: "Use ImageDownloader.Configuration.redirectHandler of WebImage.")
    case redirectHandler(any ImageDownloadRedirectHandler)
    /// Not available.
    @available(*, unavailable, message: "The format of the disk cache is private. Remove this option.")
    case diskStoreWriteOptions(Data.WritingOptions)
    /// Not available.
    @available(*, unavailable, message: "The format of the disk cache is private. Remove this option.")
    case forcedCacheFileExtension(String?)
    /// Not available.
    @available(*, unavailable, message: "An access doesn’t extend the lifetime. Use memoryCacheExpiration(_:).")
    case memoryCacheAccessExtendingExpiration(ExpirationExtending)
    /// Not available.
    @available(*, unavailable, message: "An access doesn’t extend the lifetime. Use diskCacheExpiration(_:).")
    case diskCacheAccessExtendingExpiration(ExpirationExtending)
    /// Not available.
    @available(*, unavailable, message: "Views look up the memory cache before they return. Remove this option.")
    case asyncCacheTypeCheck
}

/// Not available.
@available(*, unavailable, message: "An access doesn’t extend the lifetime. Use StorageExpiration.")
public enum ExpirationExtending: Sendable {
    /// The lifetime doesn’t change.
    case none
    /// The lifetime begins again.
    case cacheTime
    /// Another lifetime.
    case expirationTime(StorageExpiration)
}

/// The queue of a closure.
public enum CallbackQueue: Sendable {
    /// The main queue.
    case mainAsync
    /// The main queue, immediately if the caller runs on it.
    case mainCurrentOrAsync

    /// Not available.
    @available(*, unavailable, message: "Closures run on the main actor. Use Task { … } in the closure.")
    case untouch
    /// Not available.
    @available(*, unavailable, message: "Closures run on the main actor. Use DispatchQueue.async in the closure.")
    case dispatch(DispatchQueue)
}

/// A type that determines the encoding of processed images on disk.
public protocol CacheSerializer: Sendable {
    /// The encoding, or `nil` if the disk cache contains only the original data.
    var processedEncoding: ImageEncoding? { get }
}

/// The serializer that stores only the original data.
public struct DefaultCacheSerializer: CacheSerializer {
    /// The serializer.
    public static let `default` = DefaultCacheSerializer()

    /// Creates a serializer.
    public init() {}

    /// The value `nil`.
    public var processedEncoding: ImageEncoding? { nil }
}

/// A serializer that also stores processed images.
public struct FormatIndicatedCacheSerializer: CacheSerializer {
    /// Stores processed images as PNG.
    public static let png = FormatIndicatedCacheSerializer(processedEncoding: .png)
    /// Stores processed images as JPEG.
    public static let jpeg = FormatIndicatedCacheSerializer(processedEncoding: .jpeg)
    /// Stores processed images as GIF.
    public static let gif = FormatIndicatedCacheSerializer(processedEncoding: .gif)

    /// The encoding.
    public let processedEncoding: ImageEncoding?
}

/// The lifetime of a cached image.
public enum StorageExpiration: Sendable {
    /// The image never expires.
    case never
    /// A number of seconds.
    case seconds(TimeInterval)
    /// A number of days.
    case days(Int)
    /// A date.
    case date(Date)
    /// The image is expired immediately.
    case expired

    var duration: Duration {
        switch self {
        case .never: Duration(interval: -1)
        case .seconds(let seconds): Duration(interval: seconds)
        case .days(let days): .seconds(86_400 * days)
        case .date(let date): Duration(interval: max(0, date.timeIntervalSinceNow))
        case .expired: .zero
        }
    }
}

/// The settings of previews.
public struct ImageProgressive: Sendable {
    let interval: TimeInterval
    let isBlur: Bool

    /// The default settings, with blurred previews.
    public static let `default` = ImageProgressive(isBlur: true, isFastestScan: true, scanInterval: 0)

    /// Creates settings. The interval is in seconds.
    public init(isBlur: Bool, isFastestScan: Bool, scanInterval: TimeInterval) {
        self.isBlur = isBlur
        interval = scanInterval
    }

    var policy: PreviewPolicy {
        guard interval > 0 else { return isBlur ? .blurred : .progressive }
        return isBlur ? .blurred(interval: .seconds(interval)) : .progressive(interval: .seconds(interval))
    }
}

/// A type that changes requests before they’re sent, possibly asynchronously.
public protocol AsyncImageDownloadRequestModifier: Sendable {
    /// Returns the changed request, or `nil` to fail the load.
    func modified(for request: URLRequest) async -> URLRequest?
}

/// A type that changes requests before they’re sent.
public protocol ImageDownloadRequestModifier: AsyncImageDownloadRequestModifier {
    /// Returns the changed request, or `nil` to fail the load.
    func modified(for request: URLRequest) -> URLRequest?
}

extension ImageDownloadRequestModifier {
    /// Calls the synchronous method.
    public func modified(for request: URLRequest) async -> URLRequest? {
        let change: (URLRequest) -> URLRequest? = modified(for:)
        return change(request)
    }
}

/// A modifier with a closure.
public struct AnyModifier: ImageDownloadRequestModifier {
    private let block: @Sendable (URLRequest) -> URLRequest?

    /// Creates a modifier.
    public init(modify: @escaping @Sendable (URLRequest) -> URLRequest?) { block = modify }

    /// Calls the closure.
    public func modified(for request: URLRequest) -> URLRequest? { block(request) }
}

/// A type that changes images after a load.
public protocol ImageModifier: Sendable {
    /// Returns the changed image.
    func modify(_ image: KFCrossPlatformImage) -> KFCrossPlatformImage
}

/// An image modifier with a closure.
public struct AnyImageModifier: ImageModifier {
    private let block: @Sendable (KFCrossPlatformImage) -> KFCrossPlatformImage

    /// Creates a modifier.
    public init(modify: @escaping @Sendable (KFCrossPlatformImage) -> KFCrossPlatformImage) { block = modify }

    /// Calls the closure.
    public func modify(_ image: KFCrossPlatformImage) -> KFCrossPlatformImage { block(image) }
}

/// A type that decides about retries.
public protocol RetryStrategy: Sendable {
    /// The maximum number of retries.
    var maxRetryCount: Int { get }
    /// The delay before the first retry, in seconds.
    var firstDelay: TimeInterval { get }
}

/// A strategy with delays. Only transient failures are retried.
public struct DelayRetryStrategy: RetryStrategy {
    /// The delays.
    public enum Interval: Sendable {
        /// A delay, in seconds.
        case seconds(TimeInterval)
        /// A delay that grows with each retry, in seconds.
        case accumulated(TimeInterval)
    }

    /// The maximum number of retries.
    public let maxRetryCount: Int
    private let interval: Interval

    /// Creates a strategy.
    public init(maxRetryCount: Int, retryInterval: Interval = .seconds(3)) {
        self.maxRetryCount = maxRetryCount
        interval = retryInterval
    }

    /// The delay before the first retry, in seconds.
    public var firstDelay: TimeInterval {
        switch interval {
        case .seconds(let seconds), .accumulated(let seconds): seconds
        }
    }
}

/// The source of an image.
public enum Source: Sendable, Hashable {
    /// A URL.
    case network(any Resource)
    /// A provider of data.
    case provider(any ImageDataProvider)

    /// The cache key.
    public var cacheKey: String {
        switch self {
        case .network(let resource): resource.cacheKey
        case .provider(let provider): provider.cacheKey
        }
    }

    /// The URL, if there is one.
    public var url: URL? {
        switch self {
        case .network(let resource): resource.downloadURL
        case .provider(let provider): provider.contentURL
        }
    }

    /// Returns whether the cache keys are equal.
    public static func == (left: Source, right: Source) -> Bool { left.cacheKey == right.cacheKey }

    /// Hashes the cache key.
    public func hash(into hasher: inout Hasher) { hasher.combine(cacheKey) }

    var request: ImageRequest {
        switch self {
        case .network(let resource): return ImageRequest(key: resource.cacheKey, url: resource.downloadURL)
        case .provider(let provider):
            return ImageRequest(cacheKey: provider.cacheKey) { try await provider.loadData() }
        }
    }
}

/// A URL with a cache key.
public protocol Resource: Sendable {
    /// The cache key.
    var cacheKey: String { get }
    /// The URL.
    var downloadURL: URL { get }
}

extension Resource {
    /// Returns the source, which is a provider for file URLs.
    public func convertToSource(overrideCacheKey: String? = nil) -> Source {
        overrideCacheKey.map { .network(KF.ImageResource(downloadURL: downloadURL, cacheKey: $0)) } ?? .network(self)
    }
}

extension URL: Resource {
    /// The URL as a string.
    public var cacheKey: String { absoluteString }
    /// The URL.
    public var downloadURL: URL { self }
}

/// A type that provides the data of an image.
public protocol ImageDataProvider: Sendable {
    /// The cache key.
    var cacheKey: String { get }
    /// The URL of the data, if there is one.
    var contentURL: URL? { get }
    /// Delivers the data.
    func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void)
}

extension ImageDataProvider {
    /// The value `nil`.
    public var contentURL: URL? { nil }

    /// Returns the source.
    public func convertToSource() -> Source { .provider(self) }

    func loadData() async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in data { continuation.resume(with: $0) } }
    }
}

/// A provider of data in memory.
public struct RawImageDataProvider: ImageDataProvider {
    /// The cache key.
    public let cacheKey: String
    private let data: Data

    /// Creates a provider.
    public init(data: Data, cacheKey: String) {
        self.data = data
        self.cacheKey = cacheKey
    }

    /// Delivers the data.
    public func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) { handler(.success(data)) }
}

/// A provider of data in base64.
public struct Base64ImageDataProvider: ImageDataProvider {
    /// The cache key.
    public let cacheKey: String
    private let string: String

    /// Creates a provider.
    public init(base64String: String, cacheKey: String) {
        string = base64String
        self.cacheKey = cacheKey
    }

    /// Delivers the data, or no data if the string isn’t valid.
    public func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        handler(.success(Data(base64Encoded: string) ?? Data()))
    }
}

/// A provider of a file.
public struct LocalFileImageDataProvider: ImageDataProvider {
    /// The cache key.
    public let cacheKey: String
    /// The URL of the file.
    public let fileURL: URL

    /// Creates a provider.
    public init(fileURL: URL, cacheKey: String? = nil) {
        self.fileURL = fileURL
        self.cacheKey = cacheKey ?? fileURL.absoluteString
    }

    /// The URL of the file.
    public var contentURL: URL? { fileURL }

    /// Delivers the data of the file, which is read on a global queue.
    public func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        DispatchQueue.global().async { [fileURL] in handler(Result { try Data(contentsOf: fileURL) }) }
    }
}

/// Parsed options.
public struct KingfisherParsedOptionsInfo: Sendable {
    var items: KingfisherOptionsInfo

    /// Parses options.
    public init(_ info: KingfisherOptionsInfo?) { items = info ?? [] }

    var modifier: (any ImageModifier)? { last { if case .imageModifier(let value) = $0 { value } else { nil } } }
    var requestModifier: (any AsyncImageDownloadRequestModifier)? {
        last { if case .requestModifier(let value) = $0 { value } else { nil } }
    }
    var processor: any ImageProcessor {
        last { if case .processor(let value) = $0 { value } else { nil } } ?? DefaultImageProcessor.default
    }
    var prefetchesToMemory: Bool { items.contains { if case .alsoPrefetchToMemory = $0 { true } else { false } } }

    func last<Value>(_ select: (KingfisherOptionsInfoItem) -> Value?) -> Value? {
        items.reversed().lazy.compactMap(select).first
    }

    /// Returns the request of WebImage.
    func request(for source: Source) -> ImageRequest {
        var request = source.request
        // Kingfisher never revalidates a cached image.
        request.cachePolicy = .cacheFirst
        request.usesDefaultTransformers = false
        KingfisherManager.shared.downloader.apply(to: &request)
        KingfisherManager.shared.cache.apply(to: &request)
        for item in items { apply(item, to: &request) }
        return request
    }

    private func apply(_ item: KingfisherOptionsInfoItem, to request: inout ImageRequest) {
        switch item {
        case .targetCache(let cache): cache.apply(to: &request)
        case .originalCache(let cache): request.caching.originalCache = cache.cache
        case .downloader(let downloader): downloader.apply(to: &request)
        case .downloadPriority(let value):
            request.priority = value < 0.25 ? .veryLow : value < 0.5 ? .low : value > 0.5 ? .high : .normal
        case .forceRefresh: request.cachePolicy = .reload
        case .fromMemoryCacheOrRefresh: request.caching.originalReadFrom = .memory
        case .cacheMemoryOnly:
            request.caching.writeTo = .memory
            request.caching.originalWriteTo = .memory
        case .waitForCache: request.caching.waitsUntilStored = true
        case .onlyFromCache: request.cachePolicy = .cacheOnly
        case .scaleFactor(let factor): request.scale = Double(factor)
        case .processor(let processor): processor.apply(to: &request)
        case .onlyLoadFirstFrame: request.frames = .first
        case .memoryCacheExpiration(let expiration), .diskCacheExpiration(let expiration):
            request.caching.timeToLive = expiration.duration
        case .retryStrategy(let strategy):
            request.network.retry = RetryPolicy(
                maxAttempts: strategy.maxRetryCount + 1, baseDelay: .seconds(strategy.firstDelay))
        case .alternativeSources(let sources): request.network.alternativeURLs = sources.compactMap(\.url)
        case .lowDataMode(let source): request.lowerQuality.urls = (source?.url).map { [$0] } ?? []
        case .progressiveJPEG(let progressive): request.previews = progressive.policy
        case .cacheSerializer(let serializer): request.caching.processedEncoding = serializer.processedEncoding
        // The remaining options concern views and closures.
        default: break
        }
    }
}
