// SPDX-License-Identifier: MIT

// A program for SDWebImage. On Apple's platforms, the next line is `import SDWebImage` and `import UIKit`.
import SDWebImageCompat

/// An album that loads, caches, and edits photos.
@MainActor
final class PhotoAlbum {
    private let baseURL: URL
    private let manager: SDWebImageManager
    private let cache: SDImageCache
    private var operations: [SDWebImageCombinedOperation] = []
    private(set) var progress: [(received: Int, expected: Int)] = []

    init(baseURL: URL, cacheDirectory: String) {
        self.baseURL = baseURL
        let config = SDImageCacheConfig()
        config.maxDiskAge = 3600 * 24
        config.maxMemoryCost = 32 * 1024 * 1024
        config.maxDiskSize = 16 * 1024 * 1024
        cache = SDImageCache(namespace: "album", diskCacheDirectory: cacheDirectory, config: config)
        let downloader = SDWebImageDownloader(config: SDWebImageDownloaderConfig())
        downloader.config.downloadTimeout = 10
        downloader.config.maxConcurrentDownloads = 4
        downloader.setValue("album", forHTTPHeaderField: "X-Client")
        manager = SDWebImageManager(cache: cache, loader: downloader)
        manager.cacheKeyFilter = SDWebImageCacheKeyFilter { url in
            var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
            components?.query = nil
            return components?.url?.absoluteString
        }
    }

    func url(_ path: String) -> URL { baseURL.appendingPathComponent(path) }

    // MARK: - Loading

    struct Photo: Sendable {
        let image: UIImage
        let data: Data?
        let cacheType: SDImageCacheType
    }

    /// Loads a photo and reports its progress.
    func photo(
        at url: URL, options: SDWebImageOptions = [], context: SDWebImageContext? = nil
    ) async throws -> Photo {
        try await withCheckedThrowingContinuation { continuation in
            let operation = manager.loadImage(
                with: url, options: options, context: context,
                progress: { received, expected, _ in
                    DispatchQueue.main.async { self.progress.append((received, expected)) }
                },
                completed: { image, data, error, cacheType, finished, _ in
                    guard finished else { return }
                    if let image {
                        continuation.resume(returning: Photo(image: image, data: data, cacheType: cacheType))
                    } else {
                        continuation.resume(throwing: error ?? SDWebImageMissing())
                    }
                })
            if let operation { operations.append(operation) }
        }
    }

    /// Loads the thumbnail of a photo, which has rounded corners.
    func thumbnail(of path: String, side: CGFloat) async throws -> UIImage {
        let corners = SDImageRoundCornerTransformer(
            radius: side / 2, corners: .allCorners, borderWidth: 0, borderColor: nil)
        let context: SDWebImageContext = [
            .imageThumbnailPixelSize: CGSize(width: side, height: side), .imageTransformer: corners,
        ]
        return try await photo(at: url(path), context: context).image
    }

    /// Loads a photo, flips it, and inverts its colors.
    func negative(of path: String) async throws -> UIImage {
        let pipeline = SDImagePipelineTransformer(transformers: [
            SDImageFlippingTransformer(horizontal: true, vertical: false), CropTransformer(inset: 2),
        ])
        return try await photo(at: url(path), context: [.imageTransformer: pipeline]).image
    }

    /// Delivers the cached photo and then the current one.
    func refresh(_ path: String, show: @escaping @MainActor @Sendable (UIImage?, SDImageCacheType) -> Void) {
        manager.loadImage(with: url(path), options: [.refreshCached, .retryFailed], progress: nil) {
            image, _, _, cacheType, _, _ in show(image, cacheType)
        }
    }

    /// Starts a load and returns the code of its error after it’s canceled.
    func cancelledLoad(of path: String, whenStarted: @escaping @Sendable () async -> Void) async -> Int? {
        await withCheckedContinuation { continuation in
            let operation = manager.loadImage(with: url(path), options: [], progress: nil) { _, _, error, _, _, _ in
                continuation.resume(returning: (error as? SDWebImageError)?.code.rawValue)
            }
            Task {
                await whenStarted()
                operation?.cancel()
            }
        }
    }

    func cancelAll() { manager.cancelAll() }
    var isLoading: Bool { manager.isRunning }

    // MARK: - Cache

    /// The tier that contains a photo.
    func cachedType(of path: String) async -> SDImageCacheType {
        await withCheckedContinuation { continuation in
            cache.containsImage(forKey: manager.cacheKey(for: url(path)), cacheType: .all) {
                continuation.resume(returning: $0)
            }
        }
    }

    func photoInMemory(_ path: String) -> UIImage? {
        cache.imageFromMemoryCache(forKey: manager.cacheKey(for: url(path)))
    }

    func photoOnDisk(_ path: String) -> UIImage? {
        cache.imageFromDiskCache(forKey: manager.cacheKey(for: url(path)))
    }

    /// Stores a drawing under a name and looks it up again.
    func saveDrawing(_ image: UIImage, name: String) async -> UIImage? {
        await withCheckedContinuation { continuation in
            cache.store(image, imageData: image.pngData(), forKey: name, toDisk: true) { continuation.resume() }
        }
        cache.clearMemory()
        return await withCheckedContinuation { continuation in
            cache.queryCacheOperation(forKey: name) { image, _, _ in continuation.resume(returning: image) }
        }
    }

    func removePhoto(_ path: String) async {
        await withCheckedContinuation { continuation in
            cache.removeImage(forKey: manager.cacheKey(for: url(path))) { continuation.resume() }
        }
    }

    func clearMemory() { cache.clearMemory() }

    func clear() async -> (count: UInt, size: UInt) {
        await withCheckedContinuation { continuation in
            cache.clear(with: .all) { [cache] in
                cache.calculateSize { count, size in continuation.resume(returning: (count, size)) }
            }
        }
    }

    // MARK: - Prefetching

    /// Prefetches photos. Returns the numbers of finished and of failed photos.
    func prefetch(_ paths: [String]) async -> (finished: UInt, skipped: UInt) {
        let prefetcher = SDWebImagePrefetcher(imageManager: manager)
        prefetcher.maxConcurrentPrefetchCount = 2
        return await withCheckedContinuation { continuation in
            prefetcher.prefetchURLs(paths.map { url($0) }, progress: nil) { finished, skipped in
                continuation.resume(returning: (finished, skipped))
            }
        }
    }

    // MARK: - Downloading

    /// Downloads an encrypted photo with a token.
    func secretPhoto(_ path: String, token: String) async throws -> UIImage {
        let downloader = SDWebImageDownloader(config: nil)
        downloader.requestModifier = SDWebImageDownloaderRequestModifier(headers: ["Authorization": "Bearer \(token)"])
        downloader.decryptor = .base64
        return try await withCheckedThrowingContinuation { continuation in
            downloader.downloadImage(with: url(path), options: .highPriority, progress: nil) {
                image, _, error, finished in
                guard finished else { return }
                if let image {
                    continuation.resume(returning: image)
                } else {
                    continuation.resume(throwing: error ?? SDWebImageMissing())
                }
            }
        }
    }

    // MARK: - Formats

    /// Decodes an animation and returns the durations of its frames.
    func frameDurations(of data: Data) -> [TimeInterval] {
        guard NSData.sd_imageFormat(forImageData: data) == .GIF, let image = SDAnimatedImage(data: data) else {
            return []
        }
        return (0..<image.animatedImageFrameCount).map { image.animatedImageDuration(at: $0) }
    }

    /// Converts an image to JPEG.
    func jpeg(_ image: UIImage) -> Data? {
        image.sd_imageData(as: .JPEG, compressionQuality: 0.8)
    }

    func registerCoder() {
        SDImageCodersManager.shared.addCoder(SDImageWebPCoder.shared)
        SDImageCodersManager.shared.addCoder(TextCoder())
    }
}

struct SDWebImageMissing: Error {}

/// Removes the edges of images.
struct CropTransformer: SDImageTransformer {
    let inset: CGFloat

    var transformerKey: String { "CropTransformer(\(inset))" }

    func transformedImage(with image: UIImage, forKey key: String) -> UIImage? {
        image.sd_croppedImage(with: CGRect(origin: .zero, size: image.size).insetBy(dx: inset, dy: inset))
    }
}

/// A coder for a format of this program: the word “gray” and a level.
struct TextCoder: SDImageCoder {
    func canDecode(from data: Data?) -> Bool { data?.prefix(5) == Data("gray ".utf8) }

    func decodedImage(with data: Data?, options: SDImageCoderOptions?) -> UIImage? {
        guard let data, let level = Int(String(decoding: data.dropFirst(5), as: UTF8.self)) else { return nil }
        let pixel = Data([
            0x42, 0x4D, 58, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24, 0,
        ])
        let color = UInt8(clamping: level)
        return UIImage(data: pixel + Data(repeating: 0, count: 24) + Data([color, color, color, 0]))
    }

    func canEncode(to format: SDImageFormat) -> Bool { false }

    func encodedData(with image: UIImage?, format: SDImageFormat, options: SDImageCoderOptions?) -> Data? { nil }
}
