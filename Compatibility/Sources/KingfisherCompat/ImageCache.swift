// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import Synchronization
import WebImage

/// The result of a lookup.
public enum ImageCacheResult: Sendable {
    /// The disk cache served the image.
    case disk(KFCrossPlatformImage)
    /// The memory cache served the image.
    case memory(KFCrossPlatformImage)
    /// The caches don’t contain the image.
    case none

    /// The image.
    public var image: KFCrossPlatformImage? {
        switch self {
        case .disk(let image), .memory(let image): image
        case .none: nil
        }
    }

    /// The tier that served the image.
    public var cacheType: CacheType {
        switch self {
        case .disk: .disk
        case .memory: .memory
        case .none: .none
        }
    }
}

/// The memory cache, as the name space of its settings.
public enum MemoryStorage {
    /// The settings of a memory cache.
    public struct Config: Sendable {
        var memory: MemoryCache.Configuration

        /// The maximum total size of the images, in bytes of pixels.
        public var totalCostLimit: Int {
            get { memory.costLimit }
            set { memory.costLimit = newValue }
        }
        /// The maximum number of images.
        public var countLimit: Int {
            get { memory.countLimit }
            set { memory.countLimit = newValue }
        }
        /// The lifetime of images since their last use.
        public var expiration: StorageExpiration {
            get { memory.timeToLive.map { .seconds($0.interval) } ?? .never }
            set {
                memory.timeToLive = if case .never = newValue { nil } else { newValue.duration }
                memory.expiration = .sinceLastUse
            }
        }
    }

    /// A memory cache.
    public final class Backend: Sendable {
        private let cache: @Sendable () -> WebImage.ImageCache

        init(_ cache: @escaping @Sendable () -> WebImage.ImageCache) { self.cache = cache }

        /// The settings. Changes have an immediate effect.
        public var config: Config {
            get { Config(memory: cache().memory?.configuration ?? MemoryCache.Configuration()) }
            set { cache().memory?.configuration = newValue.memory }
        }
    }
}

/// The disk cache, as the name space of its settings.
public enum DiskStorage {
    /// The settings of a disk cache.
    public struct Config: Sendable {
        var limits: DiskCache.Limits

        /// The maximum size, in bytes. 0 means no limit.
        public var sizeLimit: UInt {
            get { UInt(limits.sizeLimit) }
            set { limits.sizeLimit = newValue == 0 ? .max : Int(clamping: newValue) }
        }
        /// The lifetime of entries.
        public var expiration: StorageExpiration {
            get { .seconds(limits.maxAge.interval) }
            set { limits.maxAge = newValue.duration }
        }
    }

    /// A disk cache.
    public final class Backend: Sendable {
        private let cache: @Sendable () -> WebImage.ImageCache

        init(_ cache: @escaping @Sendable () -> WebImage.ImageCache) { self.cache = cache }

        /// The settings. Changes have an immediate effect.
        public var config: Config {
            get { Config(limits: cache().disk?.limits ?? DiskCache.Limits()) }
            set { cache().disk?.limits = newValue.limits }
        }
    }
}

/// A cache in memory and on disk. The default cache is that of `ImageManager.shared`.
public final class ImageCache: Sendable {
    /// The cache of `ImageManager.shared`.
    public static let `default` = ImageCache(nil)

    /// The cache of WebImage, or `nil` for the cache of `ImageManager.shared`.
    let cache: WebImage.ImageCache?
    /// The memory cache.
    public let memoryStorage: MemoryStorage.Backend
    /// The disk cache.
    public let diskStorage: DiskStorage.Backend

    private init(_ cache: WebImage.ImageCache?) {
        self.cache = cache
        memoryStorage = MemoryStorage.Backend { cache ?? ImageManager.shared.cache }
        diskStorage = DiskStorage.Backend { cache ?? ImageManager.shared.cache }
    }

    /// Creates a cache with its own directory.
    public convenience init(name: String) {
        self.init(Self.make(name, DiskCache.Configuration.defaultDirectory(for: "com.onevcat.Kingfisher")))
    }

    /// Creates a cache in a subdirectory of `cacheDirectoryURL`.
    public convenience init(name: String, cacheDirectoryURL: URL?) throws {
        let parent = cacheDirectoryURL ?? DiskCache.Configuration.defaultDirectory(for: "com.onevcat.Kingfisher")
        self.init(Self.make(name, parent))
    }

    private static func make(_ name: String, _ parent: URL) -> WebImage.ImageCache {
        .named(MemoryCache.Configuration(), directory: parent.appending(path: name)) {
            $0.maxAge = .seconds(7 * 86_400)
            $0.expiration = .sinceLastUse
        }
    }

    private var current: WebImage.ImageCache { cache ?? ImageManager.shared.cache }

    func apply(to request: inout ImageRequest) { request.caching.cache = cache }

    private func request(_ key: String, processor: String = "", options: KingfisherOptionsInfo? = nil) -> ImageRequest {
        var request = KingfisherParsedOptionsInfo(options).request(for: .network(KF.ImageResource(cacheKey: key)))
        apply(to: &request)
        request.cachePolicy = .cacheOnly
        if !processor.isEmpty { UnknownProcessor(identifier: processor).apply(to: &request) }
        return request
    }
}

extension ImageCache {
    /// Stores an image. `completionHandler` is called after it was stored.
    public func store(
        _ image: KFCrossPlatformImage, original: Data? = nil, forKey key: String,
        processorIdentifier identifier: String = "",
        toDisk: Bool = true, completionHandler: (@MainActor @Sendable () -> Void)? = nil
    ) {
        var request = request(key, processor: identifier)
        request.caching.waitsUntilStored = true
        // The disk cache stores processed images only in an encoding.
        if toDisk, !identifier.isEmpty, original == nil { request.caching.processedEncoding = .automatic }
        Task { [request] in
            try? await ImageManager.shared.store(
                image.decoded, data: original, for: request, in: toDisk ? .all : .memory)
            await completionHandler?()
        }
    }

    /// Stores data on disk.
    public func storeToDisk(
        _ data: Data, forKey key: String, completionHandler: (@MainActor @Sendable () -> Void)? = nil
    ) {
        let request = request(key)
        Task {
            try? await ImageManager.shared.store(data, for: request, in: [.disk, .custom])
            await completionHandler?()
        }
    }

    /// Removes an image.
    public func removeImage(
        forKey key: String, processorIdentifier identifier: String = "", fromMemory: Bool = true, fromDisk: Bool = true,
        completionHandler: (@MainActor @Sendable () -> Void)? = nil
    ) {
        let request = request(key, processor: identifier)
        var tiers: WebImage.ImageCache.Tiers = fromMemory ? .memory : []
        if fromDisk { tiers.formUnion([.disk, .custom]) }
        Task { [tiers] in
            await ImageManager.shared.removeCachedImage(for: request, from: tiers)
            await completionHandler?()
        }
    }

    /// Looks up an image.
    public func retrieveImage(
        forKey key: String, options: KingfisherOptionsInfo? = nil,
        completionHandler: (@MainActor @Sendable (Result<ImageCacheResult, KingfisherError>) -> Void)?
    ) {
        ImageManager.shared.load(request(key, options: options)).deliver { event in
            guard case .finished(let result) = event else { return }
            completionHandler?(Self.result(result, key))
        }
    }

    /// Looks up an image.
    public func retrieveImage(forKey key: String, options: KingfisherOptionsInfo? = nil) async throws
        -> ImageCacheResult
    {
        let task = ImageManager.shared.load(request(key, options: options))
        let result: Result<ImageResponse, ImageError>
        do { result = .success(try await task.response) } catch { result = .failure(error) }
        return try Self.result(result, key).get()
    }

    private static func result(
        _ result: Result<ImageResponse, ImageError>, _ key: String
    ) -> Result<ImageCacheResult, KingfisherError> {
        switch result {
        case .success(let response):
            let image = UIImage(decoded: response.image)
            return .success(response.source == .memoryCache ? .memory(image) : .disk(image))
        case .failure(.cache(.notInCache)): return .success(.none)
        case .failure(let error): return .failure(KingfisherError(error, .network(KF.ImageResource(cacheKey: key))))
        }
    }

    /// Returns an image from memory.
    public func retrieveImageInMemoryCache(
        forKey key: String, options: KingfisherOptionsInfo? = nil
    ) -> KFCrossPlatformImage? {
        ImageManager.shared.cachedImage(for: request(key, options: options)).map { UIImage(decoded: $0) }
    }

    /// Looks up an image on disk.
    public func retrieveImageInDiskCache(
        forKey key: String, options: KingfisherOptionsInfo? = nil
    ) async throws -> KFCrossPlatformImage? {
        var request = request(key, options: options)
        request.caching.readFrom.remove(.memory)
        return try? UIImage(decoded: await ImageManager.shared.image(for: request))
    }

    /// Returns the tier that contains an image. If it isn’t in memory, this method blocks while it reads the disk.
    public func imageCachedType(forKey key: String, processorIdentifier identifier: String = "") -> CacheType {
        let request = request(key, processor: identifier)
        if ImageManager.shared.cachedImage(for: request) != nil { return .memory }
        // The processor isn’t known, but the disk cache contains the original data.
        var original = self.request(key)
        original.caching.writeTo = []
        let image = ImageManager.shared.loadCachedImageSynchronously(for: original, from: [.disk, .custom])
        return image == nil ? .none : .disk
    }

    /// Returns whether the caches contain an image. If it isn’t in memory, this method blocks while it reads the disk.
    public func isCached(forKey key: String, processorIdentifier identifier: String = "") -> Bool {
        imageCachedType(forKey: key, processorIdentifier: identifier).cached
    }

    /// Removes all images.
    public func clearCache(completion: (@MainActor @Sendable () -> Void)? = nil) {
        clearMemoryCache()
        clearDiskCache(completion: completion)
    }

    /// Removes all images from memory.
    public func clearMemoryCache() { current.memory?.removeAll() }

    /// Removes all images from disk.
    public func clearDiskCache(completion: (@MainActor @Sendable () -> Void)? = nil) {
        Task {
            await clearDiskCache()
            await completion?()
        }
    }

    /// Removes all images from disk.
    public func clearDiskCache() async { await current.removeAll(from: [.disk, .custom]) }

    /// Has no effect, because lookups ignore expired images and the cache removes them.
    public func cleanExpiredMemoryCache() {}

    /// Removes expired entries from disk.
    public func cleanExpiredDiskCache(completion: (@MainActor @Sendable () -> Void)? = nil) {
        let disk = current.disk
        Task {
            if let disk { await disk.trim(maxAge: disk.limits.maxAge) }
            await completion?()
        }
    }

    /// Removes expired entries from the caches.
    public func cleanExpiredCache(completion: (@MainActor @Sendable () -> Void)? = nil) {
        cleanExpiredMemoryCache()
        cleanExpiredDiskCache(completion: completion)
    }

    /// Not available.
    @available(*, unavailable, message: "The cache removes expired entries automatically. Remove this call.")
    public func backgroundCleanExpiredDiskCache() {}

    /// Reports the size of the disk cache, in bytes.
    public func calculateDiskStorageSize(
        completion: @escaping @MainActor @Sendable (Result<UInt, KingfisherError>) -> Void
    ) {
        Task { await completion(.success(await diskStorageSize)) }
    }

    /// The size of the disk cache, in bytes.
    public var diskStorageSize: UInt { get async { await UInt(current.disk?.info().size ?? 0) } }

    /// Not available.
    @available(
        *, unavailable, message: "The format of the disk cache is private. Use ImageManager.data(for:) of WebImage."
    )
    public func cachePath(forKey key: String) -> String { "" }

    /// Not available.
    @available(*, unavailable, message: "The format of the disk cache is private. Use ImageManager.cacheKeys(for:).")
    public func hash(forKey key: String) -> String { "" }
}
