// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageStore

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
        /// ``HTTPHeaderFields/namesWithoutEffectOnData``. So an image that was loaded with an API key of the
        /// application is never returned to a request without it.
        public var keyHeaders: Set<String>?
        /// The cache tiers that can serve the final image. The default is all tiers.
        public var readFrom: ImageCache.Tiers = .all
        /// The cache tiers that store the final image. The disk stores it only if ``processedEncoding`` is set. The
        /// default is all tiers.
        public var writeTo: ImageCache.Tiers = .all
        /// The cache tiers that can serve the original data. The default is all tiers.
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

        /// Creates options with the default values.
        public init() {}
    }
}
