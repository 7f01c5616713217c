// SPDX-License-Identifier: MIT

import WebImageCore

/// A type that stores decoded images in memory and replaces the built-in ``MemoryCache``.
///
/// The type decides how many images it keeps and which ones it evicts. It can evict any image at any time. Pass an
/// object to ``ImageCache/init(customMemory:disk:tiers:policy:)``, or to the configuration of a manager, which then
/// doesn't use its ``MemoryCache``.
///
/// ```swift
/// final class NewestImages: MemoryCacheTier {
///     private let images = Mutex<[(key: CacheKey, image: DecodedImage)]>([])
///
///     func image(for key: CacheKey) -> DecodedImage? {
///         images.withLock { $0.first { $0.key == key }?.image }
///     }
///
///     func store(_ image: DecodedImage, for key: CacheKey, cost: Int) {
///         images.withLock { images in
///             images.removeAll { $0.key == key }
///             images.append((key, image))
///             if images.count > 100 { images.removeFirst() }
///         }
///     }
///
///     func remove(_ key: CacheKey) { images.withLock { $0.removeAll { $0.key == key } } }
///
///     func removeAll() { images.withLock { $0 = [] } }
/// }
/// ```
///
/// The caches that use an object record the keys of up to 16,384 images that they stored in it. They need the keys to
/// find an image at another size and to remove all sizes of an image. If there are more keys, they remove the images
/// that were stored first. For the same reason, the first cache that uses an object removes all images that are in it.
///
/// The methods are called from any thread, some of them on the thread of the caller of a request. They must be fast and
/// thread-safe, and must not block.
public protocol MemoryCacheTier: AnyObject, Sendable {
    /// Returns the image that was stored last for a key, or `nil` if the tier has none.
    ///
    /// The caches call this method also to find an image at another size, so a call doesn't always mean that the image
    /// is displayed.
    func image(for key: CacheKey) -> DecodedImage?
    /// Stores an image and replaces the previous image for its key.
    ///
    /// A tier that doesn't keep the image, for example because it's too large, removes the previous image.
    ///
    /// - Parameters:
    ///   - image: The image, decoded and transformed.
    ///   - key: The key of the image.
    ///   - cost: The size of the image, in bytes of pixel data.
    func store(_ image: DecodedImage, for key: CacheKey, cost: Int)
    /// Removes the image for a key. Later lookups miss immediately.
    func remove(_ key: CacheKey)
    /// Removes all images.
    func removeAll()
    /// Releases memory because of memory pressure.
    ///
    /// The manager calls this method when the level rises, and every ten seconds while it persists. The default
    /// implementation removes all images at ``MemoryPressureLevel/medium`` and above.
    ///
    /// - Parameter level: The current level, which isn't ``MemoryPressureLevel/normal``.
    func releaseMemory(at level: MemoryPressureLevel)
}

extension MemoryCacheTier {
    /// Removes all images at ``MemoryPressureLevel/medium`` and above.
    public func releaseMemory(at level: MemoryPressureLevel) {
        if level >= .medium { removeAll() }
    }
}
