// SPDX-License-Identifier: MIT

import Foundation
import WebImageCodecs
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

extension ImageManager {
    /// The configuration of a manager.
    public struct Configuration: Sendable {
        /// The limits of the memory cache.
        public var memoryCache = MemoryCache.Configuration()
        /// The memory tier that replaces the built-in memory cache. The default is `nil`, which means the built-in
        /// cache with the limits of ``memoryCache``.
        public var customMemoryCache: (any MemoryCacheTier)?
        /// The directory and the limits of the disk cache, or `nil` for no disk cache.
        ///
        /// The default directory is ``DiskCache/Configuration/defaultDirectory(for:)`` for the name of the process.
        public var diskCache: DiskCache.Configuration? = DiskCache.Configuration()
        /// The tiers for encoded data that the manager tries after the disk cache, in this order. The default is empty.
        public var cacheTiers: [any CacheTier] = []
        /// The policy that controls how the tiers work together.
        public var tierPolicy = ImageCache.TierPolicy()
        /// The choices that HTTP leaves to a private cache, such as heuristic freshness and stale responses (RFC 9111).
        public var httpCachePolicy = HTTPCachePolicy()
        /// The time for which the manager uses a response that says nothing about its freshness, counted from its
        /// download or its last revalidation by this manager.
        ///
        /// Without this setting, an image whose server sends no caching header fields would be revalidated each time
        /// it's displayed. Web browsers, too, display an available image again without contacting the server. The rule
        /// has the following limits:
        ///
        /// - The response decides if it has an explicit lifetime (`max-age`, `Expires`), including a lifetime of zero,
        ///   or if it has `no-store`, `no-cache`, `must-revalidate`, `Vary: *`, or `Pragma: no-cache`. A temporary
        ///   redirect without a lifetime of its own is sent again, too.
        /// - The request decides if it has `no-cache`, `no-store`, `min-fresh`, or a `max-age` that the response
        ///   exceeds.
        /// - For entries that another manager stored on disk, also before a restart, the rule applies only to responses
        ///   without a validator (`ETag` or `Last-Modified`). They would have to be downloaded again completely, and the
        ///   interval begins at the time of the stored response. This manager revalidates the other ones first.
        /// - It applies only to the policy ``CachePolicy/http``.
        ///
        /// Zero revalidates such a response before each use. A prefetched image serves its first request in any case.
        /// The default is 5 minutes. The default of ``server`` is zero, because the processes that a server serves have
        /// caches too, and the intervals would add up.
        public var revalidationInterval = Duration.seconds(300)
        /// A Boolean value that indicates whether ``ImageManager/encodedImage(for:as:)`` stores its results.
        ///
        /// The results are stored in the tiers of ``ImageRequest/CachingOptions/writeTo`` except memory. The default is
        /// `true`.
        public var storesEncodedImages = true
        /// The completed fraction of a download, from 0 to 1, after which no further preview starts because the image is
        /// nearly complete. The default is 0.99, as in YYWebImage.
        ///
        /// Requests enable previews with ``ImageRequest/previews``.
        public var previewStopFraction = 0.99
        /// The memory budget for the decoders of all running downloads, in bytes of pixel data. If it's used up, further
        /// downloads deliver no previews and are decoded after their last byte. The default is 256 MiB.
        public var progressiveMemoryLimit = 256 << 20
        /// The time source for preview intervals. The default is the system clock.
        package var previewClock = TimeSource.system
        /// A Boolean value that indicates whether the manager decodes images while their downloads run.
        ///
        /// This makes an image available soon after its last byte if the download is slower than the decoder. It
        /// applies to still JPEG, PNG, WebP, and BMP images that decode to the same pixels in this way. The decoders
        /// share ``progressiveMemoryLimit``. The default is `true`.
        public var decodesWhileDownloading = true
        /// The cache for original data, which replaces the manager's cache. The default is `nil`, which means the
        /// manager's cache.
        public var originalCache: ImageCache?
        /// A closure that returns the data to store for a downloaded image, or `nil` to store nothing.
        ///
        /// The closure receives the image if there is one. There's none if only the data was requested, or if a
        /// transformer failed or the image exceeds a limit of the request. It runs on a worker thread. The default is
        /// `nil`, which means that the manager stores the downloaded data unchanged.
        public var cacheSerializer:
            (@Sendable (_ image: DecodedImage?, _ data: Data, _ request: ImageRequest) -> Data?)?
        /// The URL schemes that the manager may load, also for redirects and alternatives.
        ///
        /// Requests for other schemes fail with ``ImageError/RequestFailure/unsupportedScheme(_:)`` before anything is
        /// opened. The setting doesn't affect requests with a custom loader and images that the application makes.
        ///
        /// The default is `nil`, which means every scheme that a loader supports. If
        /// ``ImageDownloader/Configuration/addressPolicy`` isn't
        /// ``ImageDownloader/Configuration/AddressPolicy/any``, `nil` means `https` and `http`.
        public var allowedSchemes: Set<String>?
        /// The maximum size of the data in a `data:` URL, in bytes. ``ImageLimits/maxEncodedBytes`` applies in addition.
        ///
        /// Larger data fails with an ``ImageError/LimitFailure`` of the kind
        /// ``ImageError/LimitFailure/Kind/encodedSize``. The default is 1 MiB.
        public var maxDataURLBytes = DataURLLoader.defaultLimit
        /// The settings of the downloader, such as connections, timeouts, redirects, proxies, and TLS.
        public var downloader = ImageDownloader.Configuration()
        /// The network conditions, which select the quality of requests with ``ImageRequest/lowerQuality`` and pause the
        /// prefetchers of the manager. The manager adds its downloads to the measured throughput. The default is
        /// ``NetworkConditions/shared``.
        public var networkConditions = NetworkConditions.shared
        /// The custom loaders. The manager tries the last one first, and it tries custom loaders before the built-in
        /// ones.
        public var loaders: [any ImageLoader] = []
        /// A closure that changes every request before anything else, for example depending on its host.
        ///
        /// The manager calls it for each request, including lookups in memory, and before all interceptors. It runs on
        /// the caller's thread and must not block. The default is `nil`, which leaves requests unchanged.
        public var requestModifier: (@Sendable (inout ImageRequest) -> Void)?
        /// The interceptors, which wrap every operation of the manager. The first one is the outermost. The default is
        /// empty.
        public var interceptors: [any ImageRequestInterceptor] = []
        /// The observers, which receive an event for each piece of work. The default is empty, in which case
        /// observation costs nothing.
        public var observers: [any ImageManagerObserver] = []
        /// The coders for the supported formats. The default is all coders that the package was built with.
        public var coders = ImageCoderRegistry.standard
        /// The isolation of the coders in helper processes. By default, SVG, PDF, AVIF, HEIF, JPEG XL, TIFF, and JPEG
        /// 2000 images are decoded in helper processes if the helper is installed.
        public var decoding = Decoding()
        /// The limits for the size and the cost of images. The default is ``ImageLimits/desktop``.
        public var limits = ImageLimits.desktop
        /// The cache policy of requests without one. The default is ``CachePolicy/http``.
        public var cachePolicy = CachePolicy.http
        /// The transformers of requests without any. The default is empty.
        public var transformers: [any ImageTransformer] = []
        /// A closure that returns the identity of the data at a URL, or `nil` if the URL identifies the data. The
        /// default is `nil`, which means the URL for all data.
        ///
        /// If it returns the same identity for several qualities of a request (``ImageRequest/lowerQuality``), each lower
        /// quality has a key derived from it.
        public var makeCacheKey: (@Sendable (URL) -> String?)?
        /// The number of threads for decoding, transforming, and encoding. The default is one per active processor
        /// core.
        public var workerThreadCount = ProcessInfo.processInfo.activeProcessorCount
        /// The maximum number of threads that decode one image. The default is one per active processor core.
        ///
        /// A large AVIF, HEIF, JPEG XL, or PNG image is decoded on several threads if worker threads are idle when its
        /// decode begins. The value 1 disables it. Further requests don't wait for these threads, whose memory is charged
        /// to ``decodingMemoryLimit``.
        public var maxThreadsPerDecode = ProcessInfo.processInfo.activeProcessorCount
        /// The budget for the pixels of all running decodes, in bytes. The default is 512 MiB.
        ///
        /// The process also retains memory of released pixels for later decodes: at most a quarter of the highest budget
        /// of its managers, and at most 128 MiB.
        public var decodingMemoryLimit = 512 << 20
        /// The maximum number of jobs that wait for a worker thread. Further jobs fail with an
        /// ``ImageError/LimitFailure`` of the kind overloaded. The default is 100,000.
        public var maxQueuedWorkItems = 100_000
        /// The maximum number of different requests in flight.
        ///
        /// When the limit is reached, further requests that aren't in the memory cache fail immediately with a
        /// ``ImageError/LimitFailure`` of the kind overloaded, so they don't use memory while they wait. Requests that
        /// can join one in flight are always accepted. `nil` means no limit. The default is `nil`, and 256 in ``server``.
        public var maxInFlightRequests: Int?
        /// The source of memory pressure events. The default is the shared source of the process. For a source that
        /// only reports what the application passes to it, use `MemoryPressureMonitor(observesSystem: false)`.
        public var memoryPressureMonitor = MemoryPressureMonitor.shared
        /// A closure that returns for how long the manager remembers a failure, or `nil` if it doesn't remember it.
        ///
        /// Until then, the manager fails requests for the same source without contacting it. The default
        /// remembers 404 and 410 for 10 minutes, corrupt images for 1 hour, other client errors for 1 minute, and an
        /// unknown host for 10 seconds. The freshness that a response states takes precedence. A successful response
        /// that isn't an image, such as the page of a captive portal, is remembered for 1 minute, or for a shorter
        /// freshness lifetime of the response, and not at all if its `Cache-Control` contains `no-store`. A limit that
        /// ends a download is remembered for as long as the response is fresh. Failures that can pass on their own, such
        /// as timeouts and server errors, aren't remembered.
        public var failureLifetime: @Sendable (ImageError) -> Duration? = { error in
            FailurePolicy.standard.lifetime(error).map { .seconds(saturating: $0) }
        }
        /// The maximum number of negative cache entries. The default is 1,024.
        public var maxRememberedFailures = FailureCache.defaultLimit
        /// The clock for freshness calculations. The default is the system clock.
        package var now: @Sendable () -> Date = { Date() }
        /// A time source for all operations of the manager, which replaces the clocks of the individual settings. `nil`
        /// means that each setting uses its own clock. It's intended for tests.
        package var time: TimeSource?

        /// Creates a configuration with the default values.
        public init() {}

        /// The configuration for servers that load images from URLs of unknown clients.
        ///
        /// It allows `https` and `http` only, ``ImageLimits/server``, and up to 256 different requests at the same time.
        /// Images of all formats are decoded in helper processes if the helper is installed. ``revalidationInterval`` is
        /// zero, and ``downloader`` is ``ImageDownloader/Configuration/server``. All other settings have their defaults.
        ///
        /// ```swift
        /// var configuration = ImageManager.Configuration.server
        /// configuration.diskCache?.sizeLimit = 1 << 30
        /// let manager = ImageManager(configuration: configuration)
        /// ```
        public static var server: ImageManager.Configuration {
            var configuration = ImageManager.Configuration()
            configuration.limits = .server
            configuration.decoding.isolatesAllFormats = true
            configuration.maxInFlightRequests = 256
            configuration.revalidationInterval = .zero
            configuration.downloader = .server
            configuration.allowedSchemes = ["https", "http"]
            return configuration
        }
    }
}

extension ImageManager.Configuration {
    /// The effective ``allowedSchemes``, or `nil` if all schemes are allowed.
    var schemes: Set<String>? {
        allowedSchemes ?? (downloader.addressPolicy == .any ? nil : ["https", "http"])
    }

    /// The settings of the downloader, restricted to the schemes that both configurations allow.
    var restrictedDownloader: ImageDownloader.Configuration {
        var downloader = downloader
        guard let schemes else { return downloader }
        let both = Set(schemes.map { $0.lowercased() })
        downloader.allowedSchemes =
            downloader.allowedSchemes.map { both.intersection($0.map { $0.lowercased() }) } ?? both
        return downloader
    }

    /// Returns the configuration with `time` in all settings that have a clock.
    func withOneTime() -> ImageManager.Configuration {
        guard let time else { return self }
        var copy = self
        copy.now = time.now
        copy.memoryCache.clock = time
        copy.diskCache?.clock = time
        copy.previewClock = time
        copy.downloader.retryClock = time.clock
        copy.downloader.resume?.now = time.now
        return copy
    }
}
