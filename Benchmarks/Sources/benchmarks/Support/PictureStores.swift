// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImage
@_spi(Benchmarks) import WebImageStore

/// A store of images for the memory suite. `step` selects the key.
protocol PictureStore: Sendable {
    func hit(_ step: Int)
    func miss(_ step: Int)
    func store(_ step: Int)
}

/// The memory cache of this package, queried with the digest of an existing key.
struct OwnStore: PictureStore {
    let cache: MemoryCache = {
        var configuration = MemoryCache.Configuration()
        configuration.costLimit = 1 << 40
        return MemoryCache(configuration: configuration)
    }()
    let keys: [CacheKey]
    let absent: [CacheKey]
    let order: [Int]
    let image: DecodedImage

    init(_ keys: [CacheKey], _ absent: [CacheKey], _ order: [Int], _ image: DecodedImage) {
        (self.keys, self.absent, self.order, self.image) = (keys, absent, order, image)
        for key in keys { cache.store(image, for: key) }
    }

    func hit(_ step: Int) { consume(cache.imageByDigest(of: keys[order[step & 65_535]])) }
    func miss(_ step: Int) { consume(cache.imageByDigest(of: absent[order[step & 65_535]])) }
    func store(_ step: Int) { cache.store(image, for: keys[order[step & 65_535]]) }
}

/// The memory cache of this package, queried with keys that are copied from an array first.
struct CopiedKeyStore: PictureStore {
    private let cache: MemoryCache
    private let keys: [CacheKey]
    private let absent: [CacheKey]
    private let order: [Int]
    private let image: DecodedImage

    init(_ own: OwnStore) {
        cache = own.cache
        (keys, absent, order, image) = (own.keys, own.absent, own.order, own.image)
    }

    func hit(_ step: Int) { consume(cache.image(for: keys[order[step & 65_535]])) }
    func miss(_ step: Int) { consume(cache.image(for: absent[order[step & 65_535]])) }
    func store(_ step: Int) { cache.store(image, for: keys[order[step & 65_535]]) }
}

/// The minimum implementation, which is a dictionary with a lock, without limits and without an eviction order.
final class DictionaryStore: PictureStore {
    private let pictures: Mutex<[CacheKey: DecodedImage]>
    private let keys: [CacheKey]
    private let absent: [CacheKey]
    private let order: [Int]
    private let image: DecodedImage

    init(_ keys: [CacheKey], _ absent: [CacheKey], _ order: [Int], _ image: DecodedImage) {
        (self.keys, self.absent, self.order, self.image) = (keys, absent, order, image)
        pictures = Mutex(Dictionary(uniqueKeysWithValues: keys.map { ($0, image) }))
    }

    func hit(_ step: Int) { consume(pictures.withLock { $0[keys[order[step & 65_535]]] }) }
    func miss(_ step: Int) { consume(pictures.withLock { $0[absent[order[step & 65_535]]] }) }
    func store(_ step: Int) { pictures.withLock { $0[keys[order[step & 65_535]]] = image } }
}

/// NSCache of Foundation.
final class FoundationStore: PictureStore, @unchecked Sendable {
    // Safe: NSCache is documented as thread-safe, and the other properties never change.
    private let cache = NSCache<NSString, DecodedImage>()
    private let keys: [NSString]
    private let absent: [NSString]
    private let order: [Int]
    private let image: DecodedImage

    init(_ keys: [CacheKey], _ absent: [CacheKey], _ order: [Int], _ image: DecodedImage) {
        self.keys = keys.map { NSString(string: $0.description) }
        self.absent = absent.map { NSString(string: $0.description) }
        (self.order, self.image) = (order, image)
        for key in self.keys { cache.setObject(image, forKey: key) }
    }

    func hit(_ step: Int) { consume(cache.object(forKey: keys[order[step & 65_535]])) }
    func miss(_ step: Int) { consume(cache.object(forKey: absent[order[step & 65_535]])) }
    func store(_ step: Int) { cache.setObject(image, forKey: keys[order[step & 65_535]]) }
}
