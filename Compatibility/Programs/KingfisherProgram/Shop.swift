// SPDX-License-Identifier: MIT

// A program for Kingfisher. On Apple's platforms, the next line is `import Kingfisher` and `import UIKit`.
import KingfisherCompat

/// A shop with images of products.
@MainActor
final class Shop {
    private let baseURL: URL
    let cache: ImageCache
    private let manager = KingfisherManager.shared
    private(set) var progress: [(received: Int64, total: Int64)] = []

    init(baseURL: URL, cacheDirectory: URL) throws {
        self.baseURL = baseURL
        cache = try ImageCache(name: "shop", cacheDirectoryURL: cacheDirectory)
        cache.memoryStorage.config.totalCostLimit = 32 * 1024 * 1024
        cache.memoryStorage.config.countLimit = 150
        cache.memoryStorage.config.expiration = .seconds(600)
        cache.diskStorage.config.sizeLimit = 16 * 1024 * 1024
        cache.diskStorage.config.expiration = .days(3)
        manager.downloader.downloadTimeout = 10
        manager.defaultOptions = [.targetCache(cache), .backgroundDecode]
    }

    func url(_ path: String) -> URL { baseURL.appendingPathComponent(path) }

    // MARK: - Loading

    /// Loads the image of a product.
    func product(
        _ path: String, options: KingfisherOptionsInfo = []
    ) async throws -> RetrieveImageResult {
        try await manager.retrieveImage(
            with: url(path), options: options,
            progressBlock: { [weak self] received, total in self?.progress.append((received, total)) })
    }

    /// Loads the thumbnail of a product.
    func thumbnail(_ path: String, side: CGFloat) async throws -> UIImage {
        let processor =
            DownsamplingImageProcessor(size: CGSize(width: side, height: side))
            |> RoundCornerImageProcessor(cornerRadius: side / 2)
        return try await product(path, options: [.processor(processor), .scaleFactor(1), .cacheOriginalImage]).image
    }

    /// Loads the sketch of a product with the processor of this program.
    func sketch(_ path: String) async throws -> UIImage {
        try await product(path, options: [.processor(SketchProcessor()), .waitForCache]).image
    }

    /// Loads the part of an image in the middle.
    func detail(_ path: String, size: CGSize) async throws -> UIImage {
        let processor = CroppingImageProcessor(size: size, anchor: CGPoint(x: 0.5, y: 0.5))
        return try await product(path, options: [.processor(processor)]).image
    }

    /// Loads an image with the builder.
    func tinted(_ path: String, color: UIColor) async throws -> RetrieveImageResult {
        try await withCheckedThrowingContinuation { continuation in
            let view = OffscreenView()
            KF.url(url(path))
                .resizing(referenceSize: CGSize(width: 20, height: 20), mode: .aspectFit)
                .tint(color: color)
                .cacheMemoryOnly()
                .onSuccess { continuation.resume(returning: $0) }
                .onFailure { continuation.resume(throwing: $0) }
                .set(to: view)
        }
    }

    /// Loads an image of the partner, whose server sometimes fails.
    func partnerImage(_ path: String, mirror: String) async throws -> RetrieveImageResult {
        try await product(
            path,
            options: [
                .alternativeSources([.network(url(mirror))]),
                .retryStrategy(DelayRetryStrategy(maxRetryCount: 1, retryInterval: .seconds(0.01))),
            ])
    }

    /// Loads an image of a signed-in customer.
    func invoice(_ path: String, token: String) async throws -> UIImage {
        let modifier = AnyModifier { request in
            var request = request
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
            return request
        }
        return try await product(path, options: [.requestModifier(modifier)]).image
    }

    /// Decodes data with a key.
    func badge(_ data: Data, key: String) async throws -> UIImage {
        let provider = RawImageDataProvider(data: data, cacheKey: key)
        return try await manager.retrieveImage(with: .provider(provider)).image
    }

    /// Starts a load, cancels it, and returns whether its error is a cancellation.
    func cancelledLoad(_ path: String, whenStarted: @escaping @Sendable () async -> Void) async -> Bool {
        await withCheckedContinuation { continuation in
            let task = manager.retrieveImage(with: url(path)) { result in
                guard case .failure(let error) = result else { return continuation.resume(returning: false) }
                continuation.resume(returning: error.isTaskCancelled)
            }
            Task {
                await whenStarted()
                task?.cancel()
            }
        }
    }

    /// Downloads an image without the cache.
    func download(_ path: String) async throws -> Data {
        try await ImageDownloader(name: "shop").downloadImage(with: url(path)).originalData
    }

    // MARK: - Cache

    func cacheType(of path: String, processor: (any ImageProcessor)? = nil) -> CacheType {
        cache.imageCachedType(forKey: url(path).cacheKey, processorIdentifier: processor?.identifier ?? "")
    }

    func imageInMemory(_ path: String) -> UIImage? {
        cache.retrieveImageInMemoryCache(forKey: url(path).cacheKey)
    }

    func cachedImage(_ path: String) async throws -> ImageCacheResult {
        try await cache.retrieveImage(forKey: url(path).cacheKey)
    }

    func save(_ image: UIImage, key: String) async throws -> UIImage? {
        await withCheckedContinuation { continuation in
            cache.store(image, original: image.pngData(), forKey: key) { continuation.resume() }
        }
        cache.clearMemoryCache()
        return try await cache.retrieveImage(forKey: key).image
    }

    func remove(_ path: String) async {
        await withCheckedContinuation { continuation in
            cache.removeImage(forKey: url(path).cacheKey) { continuation.resume() }
        }
    }

    func clear() async -> UInt {
        cache.clearMemoryCache()
        await cache.clearDiskCache()
        return await cache.diskStorageSize
    }

    // MARK: - Prefetching

    /// Prefetches images. Returns the numbers of skipped, failed, and completed images.
    func prefetch(_ paths: [String]) async -> [Int] {
        await withCheckedContinuation { continuation in
            let prefetcher = ImagePrefetcher(
                urls: paths.map { url($0) }, options: [.targetCache(cache), .alsoPrefetchToMemory],
                completionHandler: { skipped, failed, completed in
                    continuation.resume(returning: [skipped.count, failed.count, completed.count])
                })
            prefetcher.maxConcurrentDownloads = 2
            prefetcher.start()
        }
    }
}

/// A view that shows nothing.
@MainActor
final class OffscreenView: KingfisherHasImageComponent {
    var image: UIImage?
}

/// Reduces images to a quarter and blurs them.
struct SketchProcessor: ImageProcessor {
    let identifier = "com.example.shop.sketch"

    init() {}

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        switch item {
        case .image(let image):
            let size = CGSize(width: image.size.width / 4, height: image.size.height / 4)
            let small = ResizingImageProcessor(referenceSize: size).process(item: item, options: options)
            return small.flatMap { BlurImageProcessor(blurRadius: 1).process(item: .image($0), options: options) }
        case .data:
            return (DefaultImageProcessor.default |> self).process(item: item, options: options)
        }
    }
}
