// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import Synchronization
import WebImage

/// The name space of the builder of loads.
@MainActor
public enum KF {
    /// A URL with a cache key.
    public struct ImageResource: Resource {
        /// The URL.
        public let downloadURL: URL
        /// The cache key. The default is the URL.
        public let cacheKey: String

        /// Creates a resource.
        public init(downloadURL: URL, cacheKey: String? = nil) {
            self.downloadURL = downloadURL
            self.cacheKey = cacheKey ?? downloadURL.absoluteString
        }

        init(cacheKey: String) {
            self.init(downloadURL: ImageRequest(key: cacheKey).url, cacheKey: cacheKey)
        }
    }

    /// Returns a builder for a URL.
    public static func url(_ url: URL?, cacheKey: String? = nil) -> KF.Builder {
        source(url.map { .network(ImageResource(downloadURL: $0, cacheKey: cacheKey)) })
    }

    /// Returns a builder for a resource.
    public static func resource(_ resource: (any Resource)?) -> KF.Builder { source(resource?.convertToSource()) }

    /// Returns a builder for a data provider.
    public static func dataProvider(_ provider: (any ImageDataProvider)?) -> KF.Builder {
        source(provider?.convertToSource())
    }

    /// Returns a builder for data.
    public static func data(_ data: Data?, cacheKey: String) -> KF.Builder {
        dataProvider(data.map { RawImageDataProvider(data: $0, cacheKey: cacheKey) })
    }

    /// Returns a builder for a source.
    public static func source(_ source: Source?) -> KF.Builder { KF.Builder(source: source) }

    /// A builder of a load, which collects options.
    @MainActor
    public final class Builder {
        let source: Source?
        var options: KingfisherOptionsInfo = []
        var placeholder: KFCrossPlatformImage?
        var success: (@MainActor @Sendable (RetrieveImageResult) -> Void)?
        var failure: (@MainActor @Sendable (KingfisherError) -> Void)?
        var progress: DownloadProgressBlock?

        init(source: Source?) { self.source = source }

        func adding(_ option: KingfisherOptionsInfoItem, _ isEnabled: Bool = true) -> KF.Builder {
            if isEnabled { options.append(option) }
            return self
        }
    }
}

extension KF.Builder {
    /// Sets the image that is shown during the load.
    public func placeholder(_ image: KFCrossPlatformImage?) -> KF.Builder {
        placeholder = image
        return self
    }

    /// Sets a closure that’s called with the image.
    public func onSuccess(_ block: (@MainActor @Sendable (RetrieveImageResult) -> Void)?) -> KF.Builder {
        success = block
        return self
    }

    /// Sets a closure that’s called with the error.
    public func onFailure(_ block: (@MainActor @Sendable (KingfisherError) -> Void)?) -> KF.Builder {
        failure = block
        return self
    }

    /// Sets a closure that’s called during the download.
    public func onProgress(_ block: DownloadProgressBlock?) -> KF.Builder {
        progress = block
        return self
    }

    /// Sets the image that is shown after a failure.
    public func onFailureImage(_ image: KFCrossPlatformImage?) -> KF.Builder { adding(.onFailureImage(image)) }
    /// Sets the cache.
    public func targetCache(_ cache: ImageCache) -> KF.Builder { adding(.targetCache(cache)) }
    /// Sets the cache for original data.
    public func originalCache(_ cache: ImageCache) -> KF.Builder { adding(.originalCache(cache)) }
    /// Sets the downloader.
    public func downloader(_ downloader: ImageDownloader) -> KF.Builder { adding(.downloader(downloader)) }
    /// Sets the priority, from 0 to 1.
    public func downloadPriority(_ priority: Float) -> KF.Builder { adding(.downloadPriority(priority)) }
    /// Loads the image without looking in the caches.
    public func forceRefresh(_ enabled: Bool = true) -> KF.Builder { adding(.forceRefresh, enabled) }
    /// Looks only in memory before it loads the image.
    public func fromMemoryCacheOrRefresh(_ enabled: Bool = true) -> KF.Builder {
        adding(.fromMemoryCacheOrRefresh, enabled)
    }
    /// Stores the image only in memory.
    public func cacheMemoryOnly(_ enabled: Bool = true) -> KF.Builder { adding(.cacheMemoryOnly, enabled) }
    /// Completes after the image is stored.
    public func waitForCache(_ enabled: Bool = true) -> KF.Builder { adding(.waitForCache, enabled) }
    /// Never loads the image from its source.
    public func onlyFromCache(_ enabled: Bool = true) -> KF.Builder { adding(.onlyFromCache, enabled) }
    /// Has no effect, because worker threads always decode.
    public func backgroundDecode(_ enabled: Bool = true) -> KF.Builder { adding(.backgroundDecode, enabled) }
    /// Has no effect, because the disk cache always stores the original data.
    public func cacheOriginalImage(_ enabled: Bool = true) -> KF.Builder { adding(.cacheOriginalImage, enabled) }
    /// Reads the disk cache before the view’s method returns.
    public func loadDiskFileSynchronously(_ enabled: Bool = true) -> KF.Builder {
        adding(.loadDiskFileSynchronously, enabled)
    }
    /// Decodes only the first frame.
    public func onlyLoadFirstFrame(_ enabled: Bool = true) -> KF.Builder { adding(.onlyLoadFirstFrame, enabled) }
    /// Keeps the current image of the view during the load.
    public func keepCurrentImageWhileLoading(_ enabled: Bool = true) -> KF.Builder {
        adding(.keepCurrentImageWhileLoading, enabled)
    }
    /// Sets the scale of the image.
    public func scaleFactor(_ factor: CGFloat) -> KF.Builder { adding(.scaleFactor(factor)) }
    /// Sets a value that changes the request.
    public func requestModifier(_ modifier: any AsyncImageDownloadRequestModifier) -> KF.Builder {
        adding(.requestModifier(modifier))
    }
    /// Sets a value that changes the image after the load.
    public func imageModifier(_ modifier: (any ImageModifier)?) -> KF.Builder {
        modifier.map { adding(.imageModifier($0)) } ?? self
    }
    /// Sets the strategy that decides about retries.
    public func retry(_ strategy: (any RetryStrategy)?) -> KF.Builder {
        strategy.map { adding(.retryStrategy($0)) } ?? self
    }
    /// Sets the number of retries and their delay.
    public func retry(maxCount: Int, interval: DelayRetryStrategy.Interval = .seconds(3)) -> KF.Builder {
        retry(DelayRetryStrategy(maxRetryCount: maxCount, retryInterval: interval))
    }
    /// Sets the sources that are tried after a failure.
    public func alternativeSources(_ sources: [Source]?) -> KF.Builder { adding(.alternativeSources(sources ?? [])) }
    /// Sets the source that is used on metered networks.
    public func lowDataModeSource(_ source: Source?) -> KF.Builder { adding(.lowDataMode(source)) }
    /// Sets the expiration of the image.
    public func memoryCacheExpiration(_ expiration: StorageExpiration?) -> KF.Builder {
        expiration.map { adding(.memoryCacheExpiration($0)) } ?? self
    }
    /// Sets the expiration of the image.
    public func diskCacheExpiration(_ expiration: StorageExpiration?) -> KF.Builder {
        expiration.map { adding(.diskCacheExpiration($0)) } ?? self
    }
    /// Delivers previews of the download to views.
    public func progressiveJPEG(_ progressive: ImageProgressive? = .default) -> KF.Builder {
        progressive.map { adding(.progressiveJPEG($0)) } ?? self
    }
    /// Sets the serializer.
    public func serialize(by serializer: any CacheSerializer) -> KF.Builder { adding(.cacheSerializer(serializer)) }
    /// Has no effect, because closures always run on the main actor.
    public func callbackQueue(_ queue: CallbackQueue) -> KF.Builder { adding(.callbackQueue(queue)) }
    /// Has no effect. Players decode frames in advance.
    public func preloadAllAnimationData(_ enabled: Bool = true) -> KF.Builder {
        adding(.preloadAllAnimationData, enabled)
    }

    /// Not available.
    @available(
        *, unavailable, message: "Worker threads always process. Use ImageManager.Configuration.workerThreadCount."
    )
    public func processingQueue(_ queue: CallbackQueue?) -> KF.Builder { self }
    /// Not available.
    @available(*, unavailable, message: "Use ImageDownloader.Configuration.redirectHandler of WebImage.")
    public func redirectHandler(_ handler: any ImageDownloadRedirectHandler) -> KF.Builder { self }
    /// Not available.
    @available(*, unavailable, message: "The format of the disk cache is private. Remove this call.")
    public func diskStoreWriteOptions(_ options: Data.WritingOptions) -> KF.Builder { self }
    /// Not available.
    @available(*, unavailable, message: "An access doesn’t extend the lifetime. Use memoryCacheExpiration(_:).")
    public func memoryCacheAccessExtending(_ extending: ExpirationExtending) -> KF.Builder { self }
    /// Not available.
    @available(*, unavailable, message: "An access doesn’t extend the lifetime. Use diskCacheExpiration(_:).")
    public func diskCacheAccessExtending(_ extending: ExpirationExtending) -> KF.Builder { self }

    /// Sets the processor.
    public func setProcessor(_ processor: any ImageProcessor) -> KF.Builder { adding(.processor(processor)) }
    /// Sets several processors.
    public func setProcessors(_ processors: [any ImageProcessor]) -> KF.Builder {
        processors.dropFirst().reduce(processors.first) { $0?.append(another: $1) }.map { setProcessor($0) } ?? self
    }
    /// Adds a processor.
    public func appendProcessor(_ processor: any ImageProcessor) -> KF.Builder {
        let current = KingfisherParsedOptionsInfo(options).processor
        return setProcessor(current is DefaultImageProcessor ? processor : current.append(another: processor))
    }
    /// Adds a processor that rounds corners.
    public func roundCorner(
        radius: Radius, targetSize: CGSize? = nil, roundingCorners corners: RectCorner = .all,
        backgroundColor: KFCrossPlatformColor? = nil
    ) -> KF.Builder {
        appendProcessor(
            RoundCornerImageProcessor(
                radius: radius, targetSize: targetSize, roundingCorners: corners, backgroundColor: backgroundColor))
    }
    /// Adds a processor that blurs.
    public func blur(radius: CGFloat) -> KF.Builder { appendProcessor(BlurImageProcessor(blurRadius: radius)) }
    /// Adds a processor that draws a color over the image.
    public func overlay(color: KFCrossPlatformColor, fraction: CGFloat = 0.5) -> KF.Builder {
        appendProcessor(OverlayImageProcessor(overlay: color, fraction: fraction))
    }
    /// Adds a processor that replaces the color.
    public func tint(color: KFCrossPlatformColor) -> KF.Builder { appendProcessor(TintImageProcessor(tint: color)) }
    /// Adds a processor that removes the colors.
    public func blackWhite() -> KF.Builder { appendProcessor(BlackWhiteProcessor()) }
    /// Adds a processor that crops.
    public func cropping(size: CGSize, anchor: CGPoint = CGPoint(x: 0.5, y: 0.5)) -> KF.Builder {
        appendProcessor(CroppingImageProcessor(size: size, anchor: anchor))
    }
    /// Adds a processor that resizes.
    public func resizing(referenceSize: CGSize, mode: ContentMode = .none) -> KF.Builder {
        appendProcessor(ResizingImageProcessor(referenceSize: referenceSize, mode: mode))
    }
    /// Sets the processor that decodes to a size.
    public func downsampling(size: CGSize) -> KF.Builder { setProcessor(DownsamplingImageProcessor(size: size)) }
}

/// A URL with a cache key.
public typealias ImageResource = KF.ImageResource

/// A prefetcher of a list of images, which contains an `ImagePrefetcher` of WebImage.
public final class ImagePrefetcher: Sendable {
    /// A closure with the resources that were skipped because they’re cached, that failed, and that were loaded.
    public typealias PrefetcherCompletionHandler =
        @MainActor @Sendable (
            _ skippedResources: [any Resource], _ failedResources: [any Resource], _ completedResources: [any Resource]
        ) -> Void
    /// A closure with the resources so far, in the order of ``PrefetcherCompletionHandler``.
    public typealias PrefetcherProgressBlock = PrefetcherCompletionHandler

    private let resources: [any Resource]
    private let parsed: KingfisherParsedOptionsInfo
    private let progressBlock: PrefetcherProgressBlock?
    private let completionHandler: PrefetcherCompletionHandler?
    private let state = Mutex<(maxConcurrent: Int, tasks: [PrefetchTask])>((5, []))

    /// Creates a prefetcher for URLs.
    public convenience init(
        urls: [URL], options: KingfisherOptionsInfo? = nil, progressBlock: PrefetcherProgressBlock? = nil,
        completionHandler: PrefetcherCompletionHandler? = nil
    ) {
        self.init(
            resources: urls, options: options, progressBlock: progressBlock, completionHandler: completionHandler)
    }

    /// Creates a prefetcher for resources.
    public init(
        resources: [any Resource], options: KingfisherOptionsInfo? = nil, progressBlock: PrefetcherProgressBlock? = nil,
        completionHandler: PrefetcherCompletionHandler? = nil
    ) {
        self.resources = resources
        parsed = KingfisherParsedOptionsInfo(options)
        self.progressBlock = progressBlock
        self.completionHandler = completionHandler
    }

    /// The maximum number of simultaneous downloads. The default is 5.
    public var maxConcurrentDownloads: Int {
        get { state.withLock { $0.maxConcurrent } }
        set { state.withLock { $0.maxConcurrent = newValue } }
    }

    /// Starts the downloads.
    public func start() {
        var configuration = WebImage.ImagePrefetcher.Configuration()
        configuration.maxConcurrentRequests = max(1, maxConcurrentDownloads)
        let prefetcher = WebImage.ImagePrefetcher(manager: .shared, configuration: configuration)
        let destination: WebImage.ImagePrefetcher.Destination = parsed.prefetchesToMemory ? .memoryCache : .diskCache
        // Each resource has its own list, because the progress contains the resources.
        let tasks = resources.map { resource in
            prefetcher.prefetch([parsed.request(for: .network(resource))], to: destination)
        }
        state.withLock { $0.tasks = tasks }
        Task { @MainActor [resources, progressBlock, completionHandler] in
            var (skipped, failed, completed): ([any Resource], [any Resource], [any Resource]) = ([], [], [])
            for (resource, task) in zip(resources, tasks) {
                let result = await task.result
                if result.skippedCount > 0 {
                    skipped.append(resource)
                } else if result.loadedCount > 0 {
                    completed.append(resource)
                } else {
                    failed.append(resource)
                }
                progressBlock?(skipped, failed, completed)
            }
            completionHandler?(skipped, failed, completed)
        }
    }

    /// Cancels the downloads, which count as failed.
    public func stop() { for task in state.withLock({ $0.tasks }) { task.cancel() } }
}
