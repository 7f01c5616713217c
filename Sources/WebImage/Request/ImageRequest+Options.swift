// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageStore

extension ImageRequest {
    /// The URLs of an image in lower qualities, and the conditions under which one of them is loaded.
    public struct LowerQuality: Sendable, Hashable {
        /// The URLs of the image in qualities lower than that of ``ImageRequest/url``, from the highest to the lowest
        /// quality. The default is empty.
        public var urls: [URL]
        /// A Boolean value that indicates whether the request loads the lowest quality on a metered network. The
        /// default is `true`.
        public var isUsedOnMeteredNetworks = true
        /// The range of the throughput in which the request selects a quality in between, in bytes per second, or `nil`
        /// to ignore the throughput.
        ///
        /// A request loads the lowest quality if the ``NetworkConditions/throughput`` is at most the lower bound, and
        /// the highest quality if it's at least the upper bound. Between the bounds, the other qualities divide the range
        /// evenly. Of only two qualities, the request loads the nearer one. If no throughput is measured, it loads the
        /// highest quality. The default is 50,000 to 500,000 bytes per second, as in PINRemoteImage.
        public var throughputRange: ClosedRange<Int>? = 50_000...500_000

        /// Creates options with URLs, from the highest to the lowest quality.
        public init(urls: [URL] = []) { self.urls = urls }

        /// Returns the position of the quality to load. Position 0 is the URL of the request, and position `n` is the
        /// element `n - 1` of ``urls``.
        ///
        /// The rule for the throughput is the one of `PINSpeedRecorder` in PINRemoteImage.
        func position(isMetered: Bool, throughput: Double?) -> Int {
            let lowest = urls.count
            if isMetered, isUsedOnMeteredNetworks { return lowest }
            guard let range = throughputRange, let throughput, !throughput.isNaN, lowest > 0 else { return 0 }
            let (low, high) = (Double(range.lowerBound), Double(range.upperBound))
            if throughput >= high { return 0 }
            if throughput <= low { return lowest }
            let fraction = (throughput - low) / (high - low)
            guard lowest > 1 else { return fraction >= 0.5 ? 0 : lowest }
            // Ranks begin with the lowest quality. Here, neither the lowest nor the highest quality is selected.
            let rank = Int((fraction * Double(lowest - 1)).rounded(.up))
            return lowest - min(max(rank, 1), lowest - 1)
        }
    }
}

extension ImageRequest {
    /// The options that control how a request uses the caches.
    public struct CachingOptions: Sendable {
        /// The identity of the data if it differs from the URL, for example because the URL contains a signature that
        /// changes hourly. The default is `nil`, which means the URL.
        public var key: String?
        /// The user that the image depends on.
        ///
        /// Set this property if the image depends on the user, but neither ``ImageRequest/headers`` nor
        /// ``ImageRequest/network`` show it. The images of different users have different entries. The key contains a
        /// hash of the value. The default is `nil`.
        public var partition: String?
        /// The names of the header fields in ``ImageRequest/headers`` that select other data.
        ///
        /// Their values are part of the key, as hashes. The default is `nil`, which means all header fields except
        /// those that don't select data, such as `User-Agent` and `Cache-Control`. So an image that was loaded with an
        /// API key of the application is never returned to a request without it.
        public var keyHeaders: Set<String>?
        /// The cache tiers that can serve the final image. The default is all tiers.
        public var readFrom: ImageCache.Tiers = .all
        /// The cache tiers that store the final image. The disk stores it only if ``processedEncoding`` is set. The
        /// default is all tiers.
        public var writeTo: ImageCache.Tiers = .all
        /// The cache tiers that can serve the original data. ``ImageCache/Tiers/memory`` means data that another request
        /// is still using. The default is all tiers.
        public var originalReadFrom: ImageCache.Tiers = .all
        /// The cache tiers that store the original data. The default is all tiers.
        public var originalWriteTo: ImageCache.Tiers = .all
        /// The encoding in which the final image, decoded and transformed, is stored on disk as a separate entry.
        ///
        /// The encodings `.webp.lossless` and `.png` preserve every pixel. The default is `nil`, which stores
        /// only the original data. The original data serves requests of every size.
        public var processedEncoding: ImageEncoding?
        /// A Boolean value that indicates whether a larger image in memory can serve the request.
        ///
        /// The larger image must be decoded from the same data, show the same region in the same proportions, and have
        /// at least as many pixels. There's no upper limit. The property affects only requests without transformers.
        /// Set it for views that scale images. The default is `false`.
        public var allowsLargerImages = false
        /// A Boolean value that indicates whether the caches serve and store the images of requests with a method other
        /// than `GET` or with a body.
        ///
        /// Set it if the same method, URL, and body always select the same image, for example because a server renders
        /// the image that the body describes. The manager then caches the response like a response to a `GET` request.
        /// When the response is stale, the manager sends the complete request again instead of revalidating. The default
        /// is `false`, which means that every request contacts the server.
        public var storesAnyMethod = false
        /// A Boolean value that indicates whether the manager contacts the source even if it remembers a recent
        /// failure.
        ///
        /// The policies ``CachePolicy/refresh`` and ``CachePolicy/reload`` always contact the source. The default is
        /// `false`.
        public var bypassesFailureCache = false
        /// A Boolean value that indicates whether the request waits for its cache writes before it finishes.
        ///
        /// A request that joins another one waits for the same writes. The default is `false`, so the writes continue
        /// in the background and ``ImageTask/waitUntilStored()`` returns after they finish.
        public var waitsUntilStored = false
        /// The cache for images, which replaces the manager's cache. The default is `nil`, which means the manager's
        /// cache.
        public var cache: ImageCache?
        /// The cache for original data. The default is `nil`, which means ``cache``, or the cache of the configuration
        /// if ``cache`` is `nil` too.
        public var originalCache: ImageCache?
        /// The tags of the entries that the request stores on disk. You can list and remove entries by tag. The default
        /// is empty.
        public var tags: Set<String> = []
        /// The time for which the caches keep the image and its data after they were stored or revalidated.
        ///
        /// In memory, it replaces the ``MemoryCache/Configuration/timeToLive`` of the cache. On disk, the shorter one of
        /// this time and ``DiskCache/Configuration/maxAge`` applies. ``MemoryCache/Configuration/expiration`` and
        /// ``DiskCache/Configuration/expiration`` decide whether each use restarts the time. In a custom memory tier,
        /// the time begins when the image is stored. HTTP freshness rules apply in addition. The time isn't part of the
        /// key: requests that differ only in it share an entry, which has the time of the request that stored it. The
        /// default is `nil`, which means the times of the caches.
        public var timeToLive: Duration?

        /// Creates options with the default values.
        public init() {}
    }
}

/// The policy that decides which cached responses serve a request and when the manager contacts the server.
public enum CachePolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// A policy that follows RFC 9111.
    ///
    /// A fresh cached response serves the request. A stale one is delivered immediately as
    /// ``ImageTask/Event/cached(_:)`` while the manager revalidates it. A response that says nothing about its freshness
    /// serves requests for ``ImageManager/Configuration/revalidationInterval``, and a prefetched one serves its first
    /// request. This is the default.
    case http
    /// A policy that uses any cached response, regardless of its age, and contacts the server only on a cache miss.
    case cacheFirst = "cache-first"
    /// A policy that treats every cached response as stale. The manager delivers it first and then revalidates it.
    case refresh
    /// A policy that ignores cached responses and replaces them with the response of the server.
    case reload
    /// A policy that uses only cached responses. A cache miss causes the error ``ImageError/CacheFailure/notInCache``.
    case cacheOnly = "cache-only"

    /// Whether cached responses and results may serve the request, possibly after revalidation.
    package var usesCache: Bool {
        switch self {
        case .http, .cacheFirst, .refresh, .cacheOnly: true
        case .reload: false
        }
    }

    /// Whether cached results may serve the request before the server has confirmed them.
    package var usesUnconfirmed: Bool {
        switch self {
        case .http, .cacheFirst, .cacheOnly: true
        case .refresh, .reload: false
        }
    }

    /// Whether the request may contact the server.
    package var mayContactServer: Bool { self != .cacheOnly }
}

/// The policy that decides whether a request delivers previews of a running download, and in which style.
public struct PreviewPolicy: Sendable, Hashable {
    /// The style of previews.
    package enum Style: Sendable, Hashable {
        /// Delivers no previews.
        case none
        /// Delivers the data received so far: the upper rows, or the whole image in coarse steps, depending on the
        /// file.
        case progressive
        /// Delivers the whole image with decreasing blur.
        ///
        /// This style requires a file that contains a coarse version of the whole image at its beginning, such as JPEG
        /// with several scans or interlaced PNG. Other files have no previews.
        case blurred
    }

    /// The style of the previews.
    package let style: Style
    /// The minimum time between two previews of a download, in seconds.
    package let minimumInterval: Double

    private init(_ style: Style, _ seconds: Double) {
        self.style = style
        minimumInterval = max(0, seconds)
    }

    /// A policy without previews. This is the default.
    public static let disabled = PreviewPolicy(.none, 0)
    /// A policy that shows the data received so far, at most every 0.2 seconds.
    public static let progressive = PreviewPolicy(.progressive, 0.2)
    /// A policy that shows the whole image with decreasing blur, at most every 0.4 seconds.
    public static let blurred = PreviewPolicy(.blurred, 0.4)

    /// Returns a policy that shows the data received so far, at most once per `interval`.
    public static func progressive(interval: Duration) -> PreviewPolicy {
        PreviewPolicy(.progressive, interval / .seconds(1))
    }
    /// Returns a policy that shows the whole image with decreasing blur, at most once per `interval`.
    public static func blurred(interval: Duration) -> PreviewPolicy { PreviewPolicy(.blurred, interval / .seconds(1)) }
}
