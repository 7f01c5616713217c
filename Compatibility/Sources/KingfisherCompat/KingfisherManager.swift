// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import Synchronization
import WebImage

/// The tier that served an image.
public enum CacheType: Sendable {
    /// The image was loaded from its source.
    case none
    /// The memory cache.
    case memory
    /// The disk cache.
    case disk

    /// A Boolean value that indicates whether a cache served the image.
    public var cached: Bool { self != .none }

    init(_ source: ImageResponse.Source) {
        switch source {
        case .memoryCache: self = .memory
        case .diskCache, .cacheTier, .revalidated: self = .disk
        case .network, .local: self = .none
        }
    }
}

/// The result of a load.
public struct RetrieveImageResult: Sendable {
    /// The image.
    public let image: KFCrossPlatformImage
    /// The tier that served the image.
    public let cacheType: CacheType
    /// The source of the image.
    public let source: Source
    /// The source of the request, which differs from ``source`` if an alternative source was loaded.
    public let originalSource: Source
    /// Returns the encoded image, or `nil` if it can’t be encoded.
    public let data: @Sendable () -> Data?

    init(
        _ response: ImageResponse, _ source: Source, _ modifier: (any ImageModifier)?, alternatives: [URL] = []
    ) {
        let image = UIImage(decoded: response.image)
        self.image = modifier?.modify(image) ?? image
        cacheType = CacheType(response.source)
        originalSource = source
        self.source = response.finalURL.flatMap { alternatives.contains($0) ? .network($0) : nil } ?? source
        data = { [original = response.originalData, decoded = response.image] in
            original ?? (try? decoded.encoded(as: .automatic))
        }
    }
}

/// An error of a load.
public enum KingfisherError: Error, LocalizedError, CustomNSError, Sendable {
    /// The reasons of failed requests.
    public enum RequestErrorReason: Sendable {
        /// A request modifier rejected the request.
        case emptyRequest
        /// The URL isn’t valid.
        case invalidURL(request: URLRequest)
        /// The load was canceled.
        case taskCancelled
    }

    /// The reasons of failed responses.
    public enum ResponseErrorReason: Sendable {
        /// The status code isn’t acceptable.
        case invalidHTTPStatusCode(statusCode: Int)
        /// The connection failed.
        case URLSessionError(error: any Error)
    }

    /// The reasons of failed cache lookups.
    public enum CacheErrorReason: Sendable {
        /// The caches don’t contain the image.
        case imageNotExisting(key: String)
        /// The cache failed.
        case failed(error: any Error)
    }

    /// The reasons of failed processing.
    public enum ProcessorErrorReason: Sendable {
        /// The data couldn’t be decoded, or a processor failed.
        case processingFailed(error: any Error)
    }

    /// The reasons of images that a view doesn’t show.
    public enum ImageSettingErrorReason: Sendable {
        /// There’s no source.
        case emptySource
        /// Another load of the view replaced this one.
        case notCurrentSourceTask(source: Source)
        /// All alternative sources failed, too.
        case alternativeSourcesExhausted([any Error])
    }

    /// The request failed.
    case requestError(reason: RequestErrorReason)
    /// The response failed.
    case responseError(reason: ResponseErrorReason)
    /// A cache failed.
    case cacheError(reason: CacheErrorReason)
    /// The processing failed.
    case processorError(reason: ProcessorErrorReason)
    /// The image wasn’t shown.
    case imageSettingError(reason: ImageSettingErrorReason)

    init(_ error: ImageError, _ source: Source, hasAlternatives: Bool = false) {
        switch error {
        case .cancelled: self = .requestError(reason: .taskCancelled)
        case .cache(.notInCache): self = .cacheError(reason: .imageNotExisting(key: source.cacheKey))
        case .cache: self = .cacheError(reason: .failed(error: error))
        case .decoding, .limitExceeded, .processing: self = .processorError(reason: .processingFailed(error: error))
        case .request(.rejected): self = .requestError(reason: .emptyRequest)
        case .network where hasAlternatives:
            self = .imageSettingError(
                reason: .alternativeSourcesExhausted(error.attempts.map { ImageError.network($0) }))
        case .network(let failure) where failure.reason == .unacceptableStatusCode:
            self = .responseError(reason: .invalidHTTPStatusCode(statusCode: failure.statusCode ?? 0))
        default: self = .responseError(reason: .URLSessionError(error: error))
        }
    }

    /// The domain of Kingfisher.
    public static let errorDomain = "com.onevcat.Kingfisher.Error"

    /// The number of the reason.
    public var errorCode: Int {
        switch self {
        case .requestError(.emptyRequest): 1001
        case .requestError(.invalidURL): 1002
        case .requestError(.taskCancelled): 1003
        case .responseError(.invalidHTTPStatusCode): 2002
        case .responseError(.URLSessionError): 2003
        case .cacheError(.imageNotExisting): 3006
        case .cacheError(.failed): 3001
        case .processorError: 4001
        case .imageSettingError(.emptySource): 5001
        case .imageSettingError(.notCurrentSourceTask): 5002
        case .imageSettingError(.alternativeSourcesExhausted): 5004
        }
    }

    /// A description of the failure.
    public var errorDescription: String? { "\(self)" }

    /// A Boolean value that indicates whether the load was canceled.
    public var isTaskCancelled: Bool {
        if case .requestError(.taskCancelled) = self { true } else { false }
    }

    /// A Boolean value that indicates whether another load of the view replaced this one.
    public var isNotCurrentTask: Bool {
        if case .imageSettingError(.notCurrentSourceTask) = self { true } else { false }
    }

    /// Returns whether the status code of the response is `code`.
    public func isInvalidResponseStatusCode(_ code: Int) -> Bool {
        if case .responseError(.invalidHTTPStatusCode(code)) = self { true } else { false }
    }
}

/// The handle of a load.
public final class DownloadTask: Sendable {
    private struct State {
        var task: ImageTask?
        var isCancelled = false
    }

    private let state = Mutex(State())

    private let cancellation: (@Sendable () -> Void)?

    init(_ task: ImageTask? = nil) {
        cancellation = nil
        state.withLock { $0.task = task }
    }

    /// Creates the handle of a load of a view.
    init(cancel: @escaping @Sendable () -> Void) { cancellation = cancel }

    /// The task of WebImage, or `nil` while a request modifier runs.
    public var task: ImageTask? { state.withLock { $0.task } }

    /// A Boolean value that indicates whether the load was canceled.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels the load.
    public func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
        cancellation?()
    }

    func start(_ task: ImageTask) {
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }
}

/// A manager, which loads images through `ImageManager.shared`.
public final class KingfisherManager: Sendable {
    /// The shared manager.
    public static let shared = KingfisherManager()

    /// A closure with the result of a load.
    public typealias Completion = @MainActor @Sendable (Result<RetrieveImageResult, KingfisherError>) -> Void

    private struct State {
        var cache = ImageCache.default
        var downloader = ImageDownloader.default
        var defaultOptions: KingfisherOptionsInfo = []
    }

    private let state = Mutex(State())

    private init() {}

    /// The cache. The default is ``ImageCache/default``.
    public var cache: ImageCache {
        get { state.withLock { $0.cache } }
        set { state.withLock { $0.cache = newValue } }
    }

    /// The downloader. The default is ``ImageDownloader/default``.
    public var downloader: ImageDownloader {
        get { state.withLock { $0.downloader } }
        set { state.withLock { $0.downloader = newValue } }
    }

    /// The options of all loads.
    public var defaultOptions: KingfisherOptionsInfo {
        get { state.withLock { $0.defaultOptions } }
        set { state.withLock { $0.defaultOptions = newValue } }
    }

    /// Loads an image. `completionHandler` is called on the main actor, before this method returns if the image is in
    /// memory and the caller runs on the main thread.
    @discardableResult
    public func retrieveImage(
        with resource: any Resource, options: KingfisherOptionsInfo? = nil, progressBlock: DownloadProgressBlock? = nil,
        completionHandler: Completion?
    ) -> DownloadTask? {
        retrieveImage(
            with: resource.convertToSource(), options: options, progressBlock: progressBlock,
            completionHandler: completionHandler)
    }

    /// Loads an image.
    @discardableResult
    public func retrieveImage(
        with source: Source, options: KingfisherOptionsInfo? = nil, progressBlock: DownloadProgressBlock? = nil,
        completionHandler: Completion?
    ) -> DownloadTask? {
        let parsed = KingfisherParsedOptionsInfo(defaultOptions + (options ?? []))
        let handle = DownloadTask()
        let load: @Sendable (ImageRequest) -> Void = { request in
            let task = ImageManager.shared.load(request)
            handle.start(task)
            task.deliver { event in
                switch event {
                case .progress(let progress):
                    guard let total = progress.expectedByteCount else { break }
                    progressBlock?(Int64(progress.receivedByteCount), Int64(total))
                case .finished(.success(let response)):
                    let alternatives = request.network.alternativeURLs
                    let result = RetrieveImageResult(response, source, parsed.modifier, alternatives: alternatives)
                    completionHandler?(.success(result))
                case .finished(.failure(let error)):
                    let hasAlternatives = !request.network.alternativeURLs.isEmpty
                    completionHandler?(.failure(KingfisherError(error, source, hasAlternatives: hasAlternatives)))
                case .started, .waiting, .preview, .cached: break
                }
            }
        }
        let request = parsed.request(for: source)
        guard let modifier = parsed.requestModifier else {
            load(request)
            return handle
        }
        Task {
            guard let modified = await modifier.modified(for: URLRequest(url: request.url)) else {
                await completionHandler?(.failure(.requestError(reason: .emptyRequest)))
                return
            }
            var request = request
            request.apply(modified)
            load(request)
        }
        return handle
    }

    /// Loads an image. Canceling the current task cancels the load.
    public func retrieveImage(
        with resource: any Resource, options: KingfisherOptionsInfo? = nil, progressBlock: DownloadProgressBlock? = nil
    ) async throws -> RetrieveImageResult {
        try await retrieveImage(with: resource.convertToSource(), options: options, progressBlock: progressBlock)
    }

    /// Loads an image. Canceling the current task cancels the load.
    public func retrieveImage(
        with source: Source, options: KingfisherOptionsInfo? = nil, progressBlock: DownloadProgressBlock? = nil
    ) async throws -> RetrieveImageResult {
        let handle = Mutex<DownloadTask?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let task = retrieveImage(with: source, options: options, progressBlock: progressBlock) {
                    continuation.resume(with: $0)
                }
                handle.withLock { $0 = task }
                if Task.isCancelled { task?.cancel() }
            }
        } onCancel: {
            handle.withLock { $0 }?.cancel()
        }
    }
}
