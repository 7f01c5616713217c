// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import Synchronization
import WebImage

/// The settings of a cache. Changes of the limits of a running cache have an immediate effect.
public final class SDImageCacheConfig: Sendable {
    private struct State {
        var memory = MemoryCache.Configuration()
        var disk = DiskCache.Limits()
        var usesMemory = true
        weak var cache: SDImageCache?
    }

    private let state = Mutex(State())

    /// The settings that apply to caches that are created without settings.
    public static let `default` = SDImageCacheConfig()

    /// Creates settings with the limits of WebImage, except for the age, which is one week since the last use.
    public init() { maxDiskAge = 7 * 86_400 }

    /// The maximum total size of the images in memory, in bytes of pixels.
    public var maxMemoryCost: UInt {
        get { UInt(state.withLock { $0.memory.costLimit }) }
        set { change { $0.memory.costLimit = newValue == 0 ? .max : Int(clamping: newValue) } }
    }

    /// The maximum number of images in memory.
    public var maxMemoryCount: UInt {
        get { UInt(state.withLock { $0.memory.countLimit }) }
        set { change { $0.memory.countLimit = newValue == 0 ? .max : Int(clamping: newValue) } }
    }

    /// The maximum size of the disk cache, in bytes. 0 means no limit.
    public var maxDiskSize: UInt {
        get { UInt(state.withLock { $0.disk.sizeLimit }) }
        set { change { $0.disk.sizeLimit = newValue == 0 ? .max : Int(clamping: newValue) } }
    }

    /// The maximum age of entries on disk, in seconds. A negative value means no limit.
    public var maxDiskAge: TimeInterval {
        get { state.withLock { $0.disk.maxAge.interval } }
        set { change { $0.disk.maxAge = Duration(interval: newValue) } }
    }

    /// A Boolean value that indicates whether images are cached in memory. The default is `true`.
    public var shouldCacheImagesInMemory: Bool {
        get { state.withLock { $0.usesMemory } }
        set { change { $0.usesMemory = newValue } }
    }

    /// Not available.
    @available(*, unavailable, message: "Remove this line. Images that views display stay in memory.")
    public var shouldUseWeakMemoryCache: Bool { false }

    /// Not available.
    @available(*, unavailable, message: "Use DiskCache.Configuration.expiration of WebImage.")
    public var diskCacheExpireType: Int { 0 }

    var memory: MemoryCache.Configuration { state.withLock { $0.memory } }
    var disk: DiskCache.Limits { state.withLock { $0.disk } }

    func attach(_ cache: SDImageCache) { state.withLock { $0.cache = cache } }

    private func change(_ body: (inout State) -> Void) {
        let cache = state.withLock { state in
            body(&state)
            return state.cache
        }
        cache?.applyLimits()
    }
}

/// A cache in memory and on disk with strings as keys. The shared cache is that of `ImageManager.shared`.
public final class SDImageCache: Sendable {
    /// The cache of `ImageManager.shared`. Its limits are those of that manager unless ``config`` changes them.
    public static let shared = SDImageCache(cache: nil, directory: nil, config: SDImageCacheConfig())

    /// The settings.
    public let config: SDImageCacheConfig
    /// The cache of WebImage, or `nil` for the cache of `ImageManager.shared`.
    let cache: WebImage.ImageCache?
    private let directory: URL?

    private init(cache: WebImage.ImageCache?, directory: URL?, config: SDImageCacheConfig) {
        self.cache = cache
        self.directory = directory
        self.config = config
        config.attach(self)
    }

    /// Creates a cache with its own directory.
    ///
    /// - Parameters:
    ///   - namespace: The name of the directory.
    ///   - diskCacheDirectory: The parent directory. The default is the cache directory of the user.
    ///   - config: The settings. The default is ``SDImageCacheConfig/default``.
    public convenience init(
        namespace: String, diskCacheDirectory: String? = nil, config: SDImageCacheConfig? = nil
    ) {
        let config = config ?? .default
        let parent = URL(filePath: diskCacheDirectory ?? Self.defaultDiskCacheDirectory)
        let directory = parent.appending(path: namespace)
        let cache = WebImage.ImageCache.named(config.memory, directory: directory) {
            $0.maxAge = config.disk.maxAge
            $0.sizeLimit = config.disk.sizeLimit
            $0.expiration = .sinceLastUse
        }
        self.init(cache: cache, directory: directory, config: config)
    }

    /// The parent of the directories of new caches.
    public static var defaultDiskCacheDirectory: String {
        DiskCache.Configuration.defaultDirectory(for: "com.hackemist.SDImageCache").path(percentEncoded: false)
    }

    /// The directory of the cache, or an empty string if there’s none.
    public var diskCachePath: String {
        let shared = cache == nil ? ImageManager.shared.configuration.diskCache?.directory : nil
        return (directory ?? shared)?.path(percentEncoded: false) ?? ""
    }

    private var current: WebImage.ImageCache { cache ?? ImageManager.shared.cache }

    func applyLimits() {
        current.memory?.configuration = config.memory
        current.disk?.limits = config.disk
    }

    func apply(to request: inout ImageRequest) {
        request.caching.cache = cache
        if !config.shouldCacheImagesInMemory {
            request.caching.readFrom.remove(.memory)
            request.caching.writeTo.remove(.memory)
        }
    }

    private func request(_ key: String, options: SDWebImageOptions = [], context: SDWebImageContext? = nil)
        -> ImageRequest
    {
        var request = ImageRequest(key: key)
        apply(to: &request)
        request.apply(options.union(.fromCacheOnly), context ?? [:])
        return request
    }
}

extension SDImageCache {
    /// Stores an image. `completion` is called after the data was stored.
    public func store(
        _ image: UIImage?, imageData: Data? = nil, forKey key: String?, toDisk: Bool = true,
        completion: SDWebImageNoParamsBlock? = nil
    ) {
        store(image, imageData: imageData, forKey: key, cacheType: toDisk ? .all : .memory, completion: completion)
    }

    /// Stores an image in the tiers of `cacheType`.
    public func store(
        _ image: UIImage?, imageData: Data?, forKey key: String?, cacheType: SDImageCacheType,
        completion: SDWebImageNoParamsBlock? = nil
    ) {
        guard let key else { return onMain { completion?() } }
        var request = request(key)
        request.caching.waitsUntilStored = true
        Task { [request] in
            if let image {
                try? await ImageManager.shared.store(image.decoded, data: imageData, for: request, in: cacheType.tiers)
            } else if let imageData {
                try? await ImageManager.shared.store(imageData, for: request, in: cacheType.tiers)
            }
            await completion?()
        }
    }

    /// Stores an image in memory.
    public func storeImage(toMemory image: UIImage?, forKey key: String?) {
        guard let image, let key else { return }
        current.memory?.store(image.decoded, for: ImageManager.shared.cacheKeys(for: request(key)).image)
    }

    /// Stores data on disk.
    public func storeImageData(toDisk imageData: Data?, forKey key: String?) {
        store(nil, imageData: imageData, forKey: key, cacheType: .disk)
    }

    /// Returns the image for a key from memory.
    public func imageFromMemoryCache(forKey key: String?) -> UIImage? { image(key, [], nil, .memory) }

    /// Returns the image for a key from disk. This method blocks while it reads and decodes the image.
    public func imageFromDiskCache(
        forKey key: String?, options: SDWebImageOptions = [], context: SDWebImageContext? = nil
    ) -> UIImage? {
        image(key, options, context, [.disk, .custom])
    }

    /// Returns the image for a key. This method blocks while it reads and decodes the image.
    public func imageFromCache(
        forKey key: String?, options: SDWebImageOptions = [], context: SDWebImageContext? = nil
    ) -> UIImage? {
        image(key, options, context, .all)
    }

    private func image(
        _ key: String?, _ options: SDWebImageOptions, _ context: SDWebImageContext?, _ tiers: WebImage.ImageCache.Tiers
    ) -> UIImage? {
        guard let key else { return nil }
        var request = request(key, options: options, context: context)
        request.caching.readFrom.formIntersection(tiers)
        request.caching.originalReadFrom.formIntersection(tiers)
        if tiers == .memory { return ImageManager.shared.cachedImage(for: request).map { UIImage(decoded: $0) } }
        let decoded = ImageManager.shared.loadCachedImageSynchronously(for: request, from: tiers)
        return decoded.map { UIImage(decoded: $0) }
    }

    /// Looks up an image.
    @discardableResult
    public func queryCacheOperation(
        forKey key: String?, done: @escaping SDImageCacheQueryCompletionBlock
    ) -> (any SDWebImageOperation)? {
        queryImage(forKey: key, options: [], context: nil, cacheType: .all, completion: done)
    }

    /// Looks up the image that a load with these options and this context stores.
    @discardableResult
    public func queryImage(
        forKey key: String?, options: SDWebImageOptions, context: SDWebImageContext?,
        cacheType: SDImageCacheType = .all, completion: @escaping SDImageCacheQueryCompletionBlock
    ) -> (any SDWebImageOperation)? {
        guard let key else {
            onMain { completion(nil, nil, .none) }
            return nil
        }
        var request = request(key, options: options, context: context)
        request.caching.readFrom.formIntersection(cacheType.tiers)
        request.caching.originalReadFrom.formIntersection(cacheType.tiers)
        let task = ImageManager.shared.load(request)
        task.deliver { event in
            guard case .finished(let result) = event else { return }
            guard let response = try? result.get() else { return completion(nil, nil, .none) }
            completion(UIImage(decoded: response.image), response.originalData, SDImageCacheType(response.source))
        }
        return SDWebImageCombinedOperation(task)
    }

    /// Returns whether the disk cache contains data for a key. This method blocks while it reads the image.
    public func diskImageDataExists(withKey key: String?) -> Bool { imageFromDiskCache(forKey: key) != nil }

    /// Reports whether the disk cache contains data for a key.
    public func diskImageExists(withKey key: String?, completion: (@MainActor @Sendable (Bool) -> Void)? = nil) {
        containsImage(forKey: key, cacheType: .disk) { type in completion?(type == .disk) }
    }

    /// Reports the tier that contains the image for a key.
    public func containsImage(
        forKey key: String?, cacheType: SDImageCacheType,
        completion: (@MainActor @Sendable (SDImageCacheType) -> Void)? = nil
    ) {
        guard let key else { return onMain { completion?(.none) } }
        let request = request(key)
        Task {
            let found = await ImageManager.shared.cachedTiers(for: request).intersection(cacheType.tiers)
            await completion?(found.contains(.memory) ? .memory : found.isEmpty ? .none : .disk)
        }
    }

    /// Delivers the data for a key, or `nil` if the disk cache doesn’t contain it.
    public func diskImageDataQuery(forKey key: String?, completion: @escaping @MainActor @Sendable (Data?) -> Void) {
        guard let key else { return onMain { completion(nil) } }
        let request = request(key)
        Task { await completion(try? ImageManager.shared.data(for: request)) }
    }

    /// Removes an image.
    public func removeImage(
        forKey key: String?, fromDisk: Bool = true, withCompletion completion: SDWebImageNoParamsBlock? = nil
    ) {
        removeImage(forKey: key, cacheType: fromDisk ? .all : .memory, completion: completion)
    }

    /// Removes an image from the tiers of `cacheType`.
    public func removeImage(
        forKey key: String?, cacheType: SDImageCacheType, completion: SDWebImageNoParamsBlock? = nil
    ) {
        guard let key else { return onMain { completion?() } }
        let request = request(key)
        Task {
            await ImageManager.shared.removeCachedImage(for: request, from: cacheType.tiers)
            await completion?()
        }
    }

    /// Removes the image for a key from memory.
    public func removeImageFromMemory(forKey key: String?) {
        guard let key else { return }
        current.memory?.remove(ImageManager.shared.cacheKeys(for: request(key)).image)
    }

    /// Removes the image for a key from disk.
    public func removeImageFromDisk(forKey key: String?) { removeImage(forKey: key, cacheType: .disk) }

    /// Removes all images from memory.
    public func clearMemory() { current.memory?.removeAll() }

    /// Removes all images from disk.
    public func clearDisk(onCompletion completion: SDWebImageNoParamsBlock? = nil) {
        clear(with: .disk, completion: completion)
    }

    /// Removes all images from the tiers of `cacheType`.
    public func clear(with cacheType: SDImageCacheType, completion: SDWebImageNoParamsBlock? = nil) {
        let cache = current
        Task {
            await cache.removeAll(from: cacheType.tiers)
            await completion?()
        }
    }

    /// Removes entries that are older than ``SDImageCacheConfig/maxDiskAge`` from disk.
    public func deleteOldFiles(completionBlock: SDWebImageNoParamsBlock? = nil) {
        let (disk, age) = (current.disk, config.disk.maxAge)
        Task {
            await disk?.trim(maxAge: age)
            await completionBlock?()
        }
    }

    /// Reports the number of entries on disk and their total size, in bytes.
    public func calculateSize(
        completionBlock: (@MainActor @Sendable (_ fileCount: UInt, _ totalSize: UInt) -> Void)? = nil
    ) {
        let disk = current.disk
        Task {
            let info = await disk?.info()
            await completionBlock?(UInt(info?.entryCount ?? 0), UInt(info?.size ?? 0))
        }
    }

    /// Not available.
    @available(
        *, unavailable, message: "The format of the disk cache is private. Use diskImageDataQuery(forKey:completion:)."
    )
    public func cachePath(forKey key: String?) -> String? { nil }

    /// Not available.
    @available(*, unavailable, message: "Use diskImageDataQuery(forKey:completion:).")
    public func diskImageData(forKey key: String?) -> Data? { nil }

    /// Not available.
    @available(*, unavailable, message: "Use CacheTier of WebImage, and ImageManager.Configuration.cacheTiers.")
    public func addReadOnlyCachePath(_ path: String) {}

    /// Not available.
    @available(*, unavailable, message: "Use CacheTier of WebImage, and ImageManager.Configuration.cacheTiers.")
    public var additionalCachePathBlock: ((String) -> String?)? { nil }

    /// Not available.
    @available(*, unavailable, message: "Use calculateSize(completionBlock:).")
    public func totalDiskSize() -> UInt { 0 }

    /// Not available.
    @available(*, unavailable, message: "Use calculateSize(completionBlock:).")
    public func totalDiskCount() -> UInt { 0 }
}

/// Not available.
@available(*, unavailable, message: "Use ImageManager.Configuration.cacheTiers of WebImage.")
public enum SDImageCachesManager {}
