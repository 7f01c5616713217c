// SPDX-License-Identifier: MIT

// A program for Nuke. On Apple's platforms, the next line is `import Nuke`, `import NukeUI`, and `import UIKit`.
import NukeCompat

/// A feed of photos.
@MainActor
final class Feed {
    private let baseURL: URL
    let pipeline: ImagePipeline
    private let imageCache = ImageCache(costLimit: 32 * 1024 * 1024, countLimit: 100)
    let dataCache: DataCache
    private let prefetcher: ImagePrefetcher
    private(set) var progress: [ImageTask.Progress] = []

    init(baseURL: URL, cacheDirectory: URL) throws {
        self.baseURL = baseURL
        let dataCache = try DataCache(path: cacheDirectory)
        dataCache.sizeLimit = 16 * 1024 * 1024
        self.dataCache = dataCache
        imageCache.ttl = 600
        pipeline = ImagePipeline { [imageCache] in
            $0.imageCache = imageCache
            $0.dataCache = dataCache
            $0.dataCachePolicy = .storeOriginalData
            $0.isProgressiveDecodingEnabled = true
            $0.isRateLimiterEnabled = false
        }
        prefetcher = ImagePrefetcher(pipeline: pipeline, destination: .memoryCache, maxConcurrentRequestCount: 2)
    }

    func url(_ path: String) -> URL { baseURL.appendingPathComponent(path) }

    // MARK: - Loading

    func photo(_ path: String) async throws -> UIImage { try await pipeline.image(for: url(path)) }

    /// Loads a photo and returns the tier that served it.
    func response(_ path: String, options: ImageRequest.Options = []) async throws -> ImageResponse {
        let request = ImageRequest(url: url(path), priority: .high, options: options)
        return try await pipeline.imageTask(with: request).response
    }

    /// Loads the avatar of an author.
    func avatar(_ path: String, side: CGFloat) async throws -> UIImage {
        let request = ImageRequest(
            url: url(path),
            processors: [
                .resize(size: CGSize(width: side, height: side), unit: .pixels, crop: true),
                .circle(border: ImageProcessingOptions.Border(color: .black, width: 2, unit: .pixels)),
            ])
        return try await pipeline.image(for: request)
    }

    /// Loads a photo that covers a square without cropping.
    func covering(_ path: String, side: CGFloat) async throws -> UIImage {
        try await pipeline.image(
            for: ImageRequest(
                url: url(path),
                processors: [ImageProcessors.Resize(size: CGSize(width: side, height: side), unit: .pixels)]))
    }

    /// Loads a photo with the processor of this program.
    func duotone(_ path: String) async throws -> UIImage {
        let gray = ImageProcessors.Anonymous(id: "com.example.half") { image in
            ImageProcessors.Resize(width: image.size.width / 2, unit: .points).process(image)
        }
        let composition = ImageProcessors.Composition([gray, Watermark(side: 4)])
        return try await pipeline.image(for: ImageRequest(url: url(path), processors: [composition]))
    }

    /// Loads a thumbnail, which is decoded at its size.
    func thumbnail(_ path: String, maxPixelSize: Float) async throws -> UIImage {
        var request = ImageRequest(url: url(path))
        request.thumbnail = ImageRequest.ThumbnailOptions(maxPixelSize: maxPixelSize)
        return try await pipeline.image(for: request)
    }

    /// Loads a photo with closures, as older code does.
    func photo(_ path: String, completion: @escaping @MainActor @Sendable (Result<UIImage, any Error>) -> Void)
        -> ImageTask
    {
        pipeline.loadImage(
            with: ImageRequest(url: url(path), userInfo: [.scaleKey: 2.0]),
            progress: { [weak self] _, completed, total in
                self?.progress.append(ImageTask.Progress(completed: completed, total: total))
            },
            completion: { result in completion(result.map(\.image).mapError { $0 }) })
    }

    /// Loads a generated image.
    func chart(_ id: String, data: Data) async throws -> UIImage {
        try await pipeline.image(for: ImageRequest(id: id, data: { data }))
    }

    func data(_ path: String) async throws -> Data {
        let (data, _) = try await pipeline.data(for: ImageRequest(url: url(path)))
        return data
    }

    /// Loads a photo of a signed-in user.
    func privatePhoto(_ path: String, token: String) async throws -> UIImage {
        var urlRequest = URLRequest(url: url(path))
        urlRequest.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        return try await pipeline.image(for: ImageRequest(urlRequest: urlRequest))
    }

    /// Starts a request, cancels it, and returns whether its error is a cancellation.
    func cancelledLoad(_ path: String, whenStarted: @Sendable () async -> Void) async -> Bool {
        let task = pipeline.imageTask(with: ImageRequest(url: url(path), priority: .low))
        task.priority = .veryHigh
        await whenStarted()
        task.cancel()
        do {
            _ = try await task.image
            return false
        } catch {
            guard case ImagePipeline.Error.cancelled = error else { return false }
            return task.isCancelled && task.priority == .veryHigh
        }
    }

    /// Shows the previews of a photo and then the photo.
    func showPreviews(of path: String, show: (UIImage) -> Void) async throws -> UIImage {
        let task = pipeline.imageTask(with: url(path))
        for await preview in task.previews where preview.isPreview { show(preview.image) }
        return try await task.image
    }

    // MARK: - Caches

    func photoInMemory(_ path: String) -> UIImage? { pipeline.cache[url(path)]?.image }

    func isOnDisk(_ path: String) -> Bool { pipeline.cache.containsData(for: ImageRequest(url: url(path))) }

    func savePreview(_ image: UIImage, for path: String) {
        pipeline.cache[url(path)] = ImageContainer(image: image)
    }

    func remove(_ path: String) {
        pipeline.cache.removeCachedImage(for: ImageRequest(url: url(path)), caches: .memory)
    }

    func clearMemory() { imageCache.removeAll() }

    var memoryUse: (count: Int, cost: Int) { (imageCache.totalCount, imageCache.totalCost) }

    // MARK: - Prefetching

    func prefetch(_ paths: [String]) async {
        await withCheckedContinuation { continuation in
            prefetcher.didComplete = { continuation.resume() }
            prefetcher.startPrefetching(with: paths.map { url($0) })
        }
    }

    func stopPrefetching(_ paths: [String]) { prefetcher.stopPrefetching(with: paths.map { url($0) }) }

    func pausePrefetching(_ isPaused: Bool) { prefetcher.isPaused = isPaused }
}

/// Crops images to their top left corner.
struct Watermark: ImageProcessing, Hashable {
    let side: CGFloat

    var identifier: String { "com.example.watermark?side=\(side)" }
    var hashableIdentifier: AnyHashable { self }

    func process(_ image: PlatformImage) -> PlatformImage? {
        ImageProcessors.Resize(
            size: CGSize(width: side, height: side), unit: .pixels, contentMode: .aspectFill, crop: true
        ).process(image)
    }
}

/// The model of a photo on a screen.
@MainActor
final class PhotoModel {
    private let image = FetchImage()
    private(set) var states: [String] = []

    init(pipeline: ImagePipeline) {
        image.pipeline = pipeline
        image.processors = [.resize(width: 20, unit: .pixels)]
        image.priority = .high
        image.onStart = { [weak self] _ in self?.states.append("start") }
    }

    func load(_ url: URL?) async -> UIImage? {
        await withCheckedContinuation { continuation in
            image.onCompletion = { [weak self] result in
                self?.states.append((try? result.get()) == nil ? "failure" : "success")
                continuation.resume()
            }
            image.load(url)
        }
        return image.image
    }

    var isLoading: Bool { image.isLoading }

    func reset() { image.reset() }

    var isEmpty: Bool { image.image == nil && image.result == nil }
}
