// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageStore

/// The cache entries of a request.
///
/// The URL or key, the header fields, the network options, the partition, the size, and the transformers of the request
/// decide which entries these methods use. The tiers that the request selects in ``ImageRequest/caching`` have no effect
/// on them.
extension ImageManager {
    /// The keys of a request in the caches.
    public struct CacheKeys: Sendable, Hashable {
        /// The key of the original data in the disk cache and in custom tiers. ``ImageManager/cacheKey(for:)`` returns
        /// it too.
        public let original: CacheKey
        /// The key of the final image, decoded and transformed, in the memory cache.
        public let image: CacheKey
        /// The key of the final image in the disk cache and in custom tiers, or `nil` if
        /// ``ImageRequest/CachingOptions/processedEncoding`` is `nil`.
        public let processed: CacheKey?
    }

    /// Returns the keys of a request in the caches.
    ///
    /// The keys of a file include its version, which is the one that the manager read last. This method is synchronous
    /// and reads no files.
    public func cacheKeys(for request: ImageRequest) -> CacheKeys {
        let plan = pipeline.plan(request)
        return CacheKeys(
            original: plan.keys.data, image: plan.keys.final,
            processed: plan.request.caching.processedEncoding == nil ? nil : plan.processedKey)
    }

    // MARK: - Storing

    /// Stores an image for a request.
    ///
    /// - Memory stores the image. Later requests receive it unchanged, so it must already have the size and the
    ///   transformers of the request.
    /// - The disk cache and custom tiers store `data` without a change as the original data. It serves requests of every
    ///   size. If the request has a ``ImageRequest/CachingOptions/processedEncoding``, they also store the image in this
    ///   encoding.
    /// - If `data` is `nil` and the request has no `processedEncoding`, these tiers store the image in the format that
    ///   ``ImageEncoding/automatic`` chooses. This can be a lossy format.
    ///
    /// Stored data replaces the earlier data of the request. Images that were made from the earlier data are removed from
    /// memory and from the tiers that can list their keys. Data without an HTTP response doesn't become stale. The
    /// manager doesn't store data of files, `data:` URLs, and images in memory. It doesn't call
    /// ``ImageManager/Configuration/cacheSerializer``.
    ///
    /// This method returns when later requests can find the image. The files may be written afterward, unless
    /// ``ImageRequest/CachingOptions/waitsUntilStored`` is `true`.
    ///
    /// ```swift
    /// let request = ImageRequest(url: url)
    /// try await manager.store(image, data: data, for: request)
    /// ```
    ///
    /// - Parameters:
    ///   - image: The image that the request delivers.
    ///   - data: The encoded original image. The default is `nil`.
    ///   - request: The request that identifies the entries.
    ///   - tiers: The tiers that store the image or its data. The default is all tiers.
    /// - Throws: An ``ImageError`` if `data` isn't an image within the limits or if the image can't be encoded. If `data`
    ///   is necessary, because the request has a size, transformers, or selected frames but no `processedEncoding`, this
    ///   method throws ``ImageError/RequestFailure/invalidOption(name:value:)``. In all these cases, nothing is stored.
    public func store(
        _ image: DecodedImage, data: Data? = nil, for request: ImageRequest, in tiers: ImageCache.Tiers = .all
    ) async throws(ImageError) {
        try await pipeline.insert(image, data: data, await pipeline.plans(request)[0].verified(), in: tiers)
    }

    /// Stores original data for a request without decoding it.
    ///
    /// The data replaces the earlier data of the request, and images that were made from the earlier data are removed.
    /// For details, see ``store(_:data:for:in:)``.
    ///
    /// - Parameters:
    ///   - data: The encoded original image, which is stored without a change.
    ///   - request: The request that identifies the entry.
    ///   - tiers: The tiers that store the data. The default is all tiers. Memory stores no data.
    /// - Throws: An ``ImageError`` if the data isn't an image within the limits. In this case, nothing is stored.
    public func store(
        _ data: Data, for request: ImageRequest, in tiers: ImageCache.Tiers = .all
    ) async throws(ImageError) {
        try await pipeline.insert(nil, data: data, await pipeline.plans(request)[0].verified(), in: tiers)
    }

    // MARK: - Finding and removing

    /// Returns the tiers that contain the image of a request, regardless of its age.
    ///
    /// Memory contains it if the final image is cached. Other tiers contain it if they have the original data, or the
    /// final image in the request's ``ImageRequest/CachingOptions/processedEncoding``. This method reads the entries
    /// completely. It doesn't decode them and doesn't contact the source.
    ///
    /// - Parameter request: The request to look up.
    /// - Returns: The tiers, which is an empty set if no tier contains the image.
    public func cachedTiers(for request: ImageRequest) async -> ImageCache.Tiers {
        let plan = await pipeline.plan(request).verified()
        var tiers: ImageCache.Tiers = []
        if let image = plan.imageInMemory, plan.http.selects(image) { tiers.insert(.memory) }
        if !plan.isLocal {
            tiers.formUnion(
                await plan.originalCache.tiers(having: plan.keys.data, matching: plan.http.selectingHeaders))
        }
        if plan.request.caching.processedEncoding != nil {
            tiers.formUnion(await plan.cache.tiers(having: plan.processedKey, matching: plan.http.selectingHeaders))
        }
        return tiers
    }

    /// Removes everything that some tiers contain for a request.
    ///
    /// From memory, this method removes the images of every size. From other tiers, it removes the data and the images
    /// and encodings that were made from it. Failures and resume data remain, unlike with ``removeCachedImage(for:)``.
    ///
    /// The removal applies to running requests too. They finish with their images but store nothing.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - tiers: The tiers from which to remove entries.
    public func removeCachedImage(for request: ImageRequest, from tiers: ImageCache.Tiers) async {
        for plan in pipeline.plans(request) { await plan.verified().removeCached(from: tiers) }
    }

    // MARK: - Custom values

    /// Returns the custom value that ``setUserData(_:for:)`` stored with the original data of a request, or `nil` if
    /// there's none.
    public func userData(for request: ImageRequest) async -> Data? {
        let plan = await pipeline.plan(request).verified()
        let found = await plan.originalCache.entry(for: plan.keys.data, matching: plan.http.selectingHeaders)
        return found?.entry.userData
    }

    /// Stores a custom value with the original data of a request, or removes it.
    ///
    /// Each tier that contains the original data stores the value with it. If no tier does, this method does nothing.
    /// The value is removed together with the data, and when new data replaces it. A revalidation doesn't change it.
    /// The value is independent of ``ImageRequest/userInfo``, which is never stored.
    ///
    /// - Parameters:
    ///   - value: The value, up to 1 MiB, or `nil` to remove it.
    ///   - request: The request that identifies the data.
    /// - Throws: An ``ImageError/LimitFailure`` of the kind ``ImageError/LimitFailure/Kind/userDataSize`` if the value
    ///   is too large. In this case, the tiers keep their values.
    public func setUserData(_ value: Data?, for request: ImageRequest) async throws(ImageError) {
        let plan = await pipeline.plan(request).verified()
        try await plan.originalCache.setUserData(value, for: plan.keys.data, matching: plan.http.selectingHeaders)
    }
}
