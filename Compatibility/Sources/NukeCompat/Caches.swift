// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import WebImage

/// The key of an image in memory.
public struct ImageCacheKey: Hashable, Sendable {
    let key: CacheKey

    /// Creates the key of a request.
    public init(request: ImageRequest) {
        key = request.mapped.map { ImageManager.shared.cacheKeys(for: $0).image } ?? CacheKey([""])
    }

    /// Creates the key of a custom entry.
    public init(key: String) { self.key = CacheKey(["nuke", key]) }
}

/// A cache of decoded images.
public protocol ImageCaching: AnyObject, Sendable {
    /// The image with a key.
    subscript(key: ImageCacheKey) -> ImageContainer? { get set }
    /// Removes all images.
    func removeAll()
}

/// A memory cache, which contains a `MemoryCache`.
public final class ImageCache: ImageCaching {
    /// The memory cache of `ImageManager.shared`.
    public static let shared = ImageCache(nil)

    private let own: MemoryCache?

    private init(_ own: MemoryCache?) { self.own = own }

    /// Creates a cache. The cost is the number of bytes of the pixels.
    public convenience init(costLimit: Int = MemoryCache.Configuration().costLimit, countLimit: Int = .max) {
        var configuration = MemoryCache.Configuration()
        configuration.costLimit = costLimit
        configuration.countLimit = countLimit
        self.init(MemoryCache(configuration: configuration))
    }

    var memory: MemoryCache { own ?? ImageManager.shared.memoryCache }

    /// The maximum total size of the images, in bytes of pixels.
    public var costLimit: Int {
        get { memory.configuration.costLimit }
        set { memory.configuration.costLimit = newValue }
    }
    /// The maximum number of images.
    public var countLimit: Int {
        get { memory.configuration.countLimit }
        set { memory.configuration.countLimit = newValue }
    }
    /// The maximum size of an image, as a fraction of ``costLimit``.
    public var entryCostLimit: Double {
        get { memory.configuration.entryCostLimit.map { Double($0) / Double(costLimit) } ?? 0.1 }
        set { memory.configuration.entryCostLimit = Int(Double(costLimit) * min(max(newValue, 0), 1)) }
    }
    /// The maximum age of an image, in seconds.
    public var ttl: TimeInterval? {
        get { memory.configuration.timeToLive?.interval }
        set { memory.configuration.timeToLive = newValue.map { Duration(interval: $0) } }
    }
    /// The total size of the images, in bytes of pixels.
    public var totalCost: Int { memory.statistics.cost }
    /// The number of images.
    public var totalCount: Int { memory.statistics.count }

    /// The image with a key.
    public subscript(key: ImageCacheKey) -> ImageContainer? {
        get { memory.image(for: key.key).map { ImageResponse($0, "").container } }
        set {
            if let newValue { memory.store(newValue.image.decoded, for: key.key) } else { memory.remove(key.key) }
        }
    }

    /// The image of a request.
    public subscript(request: ImageRequest) -> ImageContainer? {
        get { self[ImageCacheKey(request: request)] }
        set { self[ImageCacheKey(request: request)] = newValue }
    }

    /// Removes all images.
    public func removeAll() { memory.removeAll() }
    /// Removes images until the total size is at most `limit`.
    public func trim(toCost limit: Int) { memory.trim(toCost: limit) }
    /// Removes images until their number is at most `limit`.
    public func trim(toCount limit: Int) { memory.trim(toCount: limit) }
}

/// A disk cache, which contains a `DiskCache`.
public final class DataCache: Sendable {
    /// The directory.
    public let path: URL
    let disk: DiskCache

    /// Creates a cache in a directory of the user’s cache directory.
    public convenience init(name: String) throws {
        try self.init(path: DiskCache.Configuration.defaultDirectory(for: name))
    }

    /// Creates a cache in a directory. The size limit is 150 MB.
    public init(path: URL) throws {
        var configuration = DiskCache.Configuration(directory: path)
        configuration.sizeLimit = 150 << 20
        self.path = path
        disk = try DiskCache(configuration: configuration)
    }

    /// The maximum size, in bytes.
    public var sizeLimit: Int {
        get { disk.limits.sizeLimit }
        set { disk.limits.sizeLimit = newValue }
    }

    /// Stores data for a key, which is usually a URL.
    public func storeData(_ data: Data, for key: String) { disk.store(CacheEntry(key: Self.key(key), data: data)) }

    /// Removes the data for a key.
    public func removeData(for key: String) { disk.remove(Self.key(key)) }

    /// Returns the data for a key.
    public func data(for key: String) async -> Data? { await disk.entry(for: Self.key(key))?.data }

    /// Returns whether the cache contains data for a key. The result can be `true` for a few keys without data.
    public func containsData(for key: String) -> Bool { disk.mayContain(Self.key(key)) }

    /// Removes all data.
    public func removeAll() { Task { [disk] in await disk.removeAll() } }

    /// Waits until all data is written.
    public func flush() async { await disk.flush() }

    /// Removes the least valuable entries until the size limit is met.
    public func sweep() async { await disk.trim(toSize: sizeLimit) }

    /// Not available.
    @available(*, unavailable, message: "Use await data(for:), which doesn’t block the thread.")
    public func cachedData(for key: String) -> Data? { nil }

    /// Not available.
    @available(*, unavailable, message: "Use await data(for:), storeData(_:for:), and removeData(for:).")
    public subscript(key: String) -> Data? { nil }

    /// Not available.
    @available(*, unavailable, message: "Use DiskCache.info() of WebImage.")
    public var totalSize: Int { 0 }

    /// Not available.
    @available(*, unavailable, message: "Use DiskCache.info() of WebImage.")
    public var totalCount: Int { 0 }

    private static func key(_ key: String) -> CacheKey {
        ImageManager.shared.cacheKeys(for: WebImage.ImageRequest(key: key)).original
    }
}
