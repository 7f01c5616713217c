// SPDX-License-Identifier: MIT

import Foundation
import WebImageCodecs
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// All settings of a manager, in one value.
public struct ImageManagerConfiguration: Sendable {
    /// Settings of the stores.
    public struct Cache: Sendable {
        /// Limits of the memory cache.
        public var memory = Memory()
        /// Place and limits of the disk cache; the place is by default that of
        /// ``DiskCacheConfiguration/defaultDirectory(application:environment:)`` for the process's name.
        public var disk = DiskCacheConfiguration(
            directory: DiskCacheConfiguration.defaultDirectory(application: ProcessInfo.processInfo.processName))
        /// Whether there is a disk cache. Default true.
        public var usesDisk = true
        /// Whether ``ImageManager/data(for:encodedAs:)`` keeps what it encodes in the tiers that ``ImageRequest/stores``
        /// names, memory left out. Default true.
        public var storesEncodings = true
        /// Tiers of encoded bytes behind the disk, the nearest first. Default none.
        public var tiers: [any CacheTier] = []
        /// How the tiers work together.
        public var policies = ImageCache.Policies()
        /// What is done where HTTP leaves a private cache the choice (RFC 9111): guessed lifetimes, stale answers.
        /// Default ``HTTPCachePolicy/standard``.
        public var http = HTTPCachePolicy.standard
    }

    /// Limits of the memory cache.
    public struct Memory: Sendable {
        /// Bytes of pixels. Default an eighth of the memory this process may use, at most 512 MiB.
        public var costLimit = MemoryCache.defaultCostLimit
        /// Pictures. Default unlimited.
        public var countLimit = Int.max
        /// Bytes of pixels of one picture; a dearer one is delivered but not kept. Default nil: a tenth of `costLimit`.
        public var entryLimit: Int?
        /// Seconds that a picture may be given out after it was stored. Default nil: unlimited; whether the picture is
        /// still fresh is decided by HTTP.
        public var timeToLive: Double?
        /// Where times to live are read. Default the system's clock.
        package var clock = TimeSource.system
    }

    /// Settings of previews; requests say whether they want any (``ImageRequest/preview``).
    public struct Previews: Sendable {
        /// Part of a download, 0 to 1, after which no preview is begun: the picture itself is about to come. Default 0.99,
        /// as in YYWebImage.
        public var latest = 0.99
        /// Bytes of pixels that the decoders of all running downloads may hold; where there is no room left, a download
        /// gives no previews. Default 256 MiB.
        public var memoryBudget = 256 << 20
        /// Where intervals are read. Default the system's clock.
        package var clock = TimeSource.system
    }

    /// Settings of the stores.
    public var cache = Cache()
    /// Settings of previews.
    public var previews = Previews()
    /// Whether downloads that are slower than a decoder are decoded while they run, so that the picture is there soon after
    /// the last byte: stills of JPEG, PNG, WebP and BMP whose pixels are the same that way. Decoders of running downloads hold
    /// pixels within ``Previews/memoryBudget``. Default true.
    public var decodesWhileLoading = true
    /// Where original bytes are looked up and kept, instead of in the manager's own cache. Default nil.
    public var originalCache: ImageCache?
    /// Gives the bytes that are stored for a downloaded picture, instead of the bytes as they came; nil stores none. Gets
    /// the picture where one was made. Runs on a worker thread. Default nil: what came is stored.
    public var serialize: (@Sendable (_ image: Image?, _ data: Data, _ request: ImageRequest) -> Data?)?
    /// The URL schemes that may be loaded, for redirects and alternatives too. Requests for other schemes fail with
    /// ``RequestError/unsupportedScheme(_:)``, without a look at what is behind the URL.
    ///
    /// Requests with a loader of their own and those that make their image themselves are not affected. The default is `nil`,
    /// which means every scheme that a loader takes. If ``DownloaderConfiguration/addressPolicy`` allows public addresses only,
    /// `nil` means `https` and `http`.
    public var allowedSchemes: Set<String>?
    /// Connections, time limits, redirects, proxy, TLS.
    public var downloader = DownloaderConfiguration()
    /// An app's own loaders; the last is asked first, before the built-in ones.
    public var loaders: [any ImageLoader] = []
    /// Stand before everything that is asked of the manager, the first one outermost. Default none.
    public var interceptors: [any RequestInterceptor] = []
    /// Hear of everything the manager does. Default none: then nothing is spent on it.
    public var observers: [any ImageEventsObserver] = []
    /// Formats. Default: all that the package was built with.
    public var coders = CoderRegistry.standard
    /// What a picture may cost. Default ``Limits/desktop``.
    public var limits = Limits.desktop
    /// Policy of requests that name none. Default ``CachePolicy/http``.
    public var cachePolicy = CachePolicy.http
    /// Transformers of requests that name none. Default none.
    public var transformers: [any ImageTransformer] = []
    /// Gives the identity of the bytes behind a URL where it is not the URL itself; nil keeps the URL.
    public var key: (@Sendable (URL) -> String?)?
    /// Threads for decoding, transforming and encoding. Default one per active core.
    public var workerThreads = ProcessInfo.processInfo.activeProcessorCount
    /// Decoded bytes that all running decodes may hold together. Default 512 MiB.
    public var decodeBudget = 512 << 20
    /// Pieces of work that may wait for a thread; one more is refused with a ``LimitError`` of kind overloaded.
    /// Default 100,000.
    public var waitingLimit = 100_000
    /// Different requests that may be under way at once; one more that memory cannot answer ends at once with a
    /// ``LimitError`` of kind overloaded, instead of waiting and growing the heap. Who asks for what is under way already is
    /// always let in. Nil sets no limit. Default 256 where ``limits`` are ``Limits/server``, else nil.
    public var queueLimit: Int? {
        get { chosenQueueLimit ?? (limits == .server ? 256 : nil) }
        set { chosenQueueLimit = .some(newValue) }
    }
    private var chosenQueueLimit: Int??
    /// Tells when memory is short. Default the process's; `MemoryPressureSource(readsSystem: false)` for one that knows
    /// only what it is told.
    public var memoryPressure = MemoryPressureSource.shared
    /// What is remembered of failures, and how long. Default ``FailurePolicy/standard``.
    public var failures = FailurePolicy.standard
    /// Failures remembered at most. Default 1,024.
    public var failureLimit = FailureMemory.defaultLimit
    /// The clock by which freshness is judged. Default the system's.
    public var now: @Sendable () -> Date = { Date() }
    /// One time source for everything that the manager does, in place of the clocks of the single settings; `nil` for
    /// those. For tests.
    package var time: TimeSource?

    /// The defaults.
    public init() {}

    /// The settings for servers that load images from anyone.
    ///
    /// They allow `https` and `http` only, public addresses only, ``Limits/server``, and 256 different requests at the same
    /// time. Everything else is as by default.
    ///
    /// ```swift
    /// let manager = ImageManager {
    ///     $0 = .server
    ///     $0.cache.disk.sizeLimit = .gigabytes(1)
    /// }
    /// ```
    public static var server: ImageManagerConfiguration {
        var configuration = ImageManagerConfiguration()
        configuration.limits = .server
        configuration.downloader.addressPolicy = .publicOnly
        configuration.allowedSchemes = ["https", "http"]
        return configuration
    }
}

extension ImageManagerConfiguration {
    /// ``allowedSchemes`` with its default; nil for all.
    private var schemes: Set<String>? {
        allowedSchemes ?? (downloader.addressPolicy == .publicOnly ? ["https", "http"] : nil)
    }

    /// Whether the request may be loaded. What an application brings itself has a URL for a name only.
    private func allows(_ request: ImageRequest) -> Bool {
        request.loader != nil || request.maker != nil || request.url.hasScheme(in: schemes)
    }

    /// Whether `url` may be loaded in place of another one.
    func allowsScheme(of url: URL) -> Bool { url.hasScheme(in: schemes) }

    /// - Throws: ``RequestError/unsupportedScheme(_:)``.
    func checkScheme(of request: ImageRequest) throws(ImageError) {
        guard !allows(request) else { return }
        throw .request(.unsupportedScheme(request.url.scheme?.lowercased() ?? ""))
    }

    /// The downloader's settings with the schemes that both allow.
    var restrictedDownloader: DownloaderConfiguration {
        var downloader = downloader
        guard let schemes else { return downloader }
        let both = Set(schemes.map { $0.lowercased() })
        downloader.allowedSchemes =
            downloader.allowedSchemes.map { both.intersection($0.map { $0.lowercased() }) } ?? both
        return downloader
    }

    /// The configuration with `time` in all settings that have a clock.
    func withOneTime() -> ImageManagerConfiguration {
        guard let time else { return self }
        var copy = self
        copy.now = time.now
        copy.cache.memory.clock = time
        copy.cache.disk.clock = time
        copy.previews.clock = time
        copy.downloader.retryClock = time.clock
        copy.downloader.resume?.now = time.now
        return copy
    }
}

extension Int {
    /// `count` × 2^20 bytes.
    public static func megabytes(_ count: Int) -> Int { count << 20 }
    /// `count` × 2^30 bytes.
    public static func gigabytes(_ count: Int) -> Int { count << 30 }
}
