// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import Synchronization
import WebImage

/// The result of a download.
public struct ImageLoadingResult: Sendable {
    /// The image.
    public let image: KFCrossPlatformImage
    /// The URL.
    public let url: URL?
    /// The data.
    public let originalData: Data
}

/// A downloader, which contains an `ImageDownloader` of WebImage. The default one is that of `ImageManager.shared`.
public final class ImageDownloader: Sendable {
    private struct State {
        var timeout: TimeInterval = 15
        var trustedHosts: Set<String>?
    }

    /// The downloader of `ImageManager.shared`.
    public static let `default` = ImageDownloader(own: nil)

    private let own: WebImage.ImageDownloader?
    private let state = Mutex(State())

    private init(own: WebImage.ImageDownloader?) { self.own = own }

    /// Creates a downloader.
    public convenience init(name: String) {
        var configuration = WebImage.ImageDownloader.Configuration()
        // Kingfisher doesn't retry without a strategy.
        configuration.retry = .never
        configuration.acceptableStatusCodes = Set(200..<400)
        self.init(own: WebImage.ImageDownloader(configuration: configuration))
    }

    /// The maximum duration of a download, in seconds. The default is 15.
    public var downloadTimeout: TimeInterval {
        get { state.withLock { $0.timeout } }
        set { state.withLock { $0.timeout = newValue } }
    }

    /// The hosts whose certificates aren’t verified.
    public var trustedHosts: Set<String>? {
        get { state.withLock { $0.trustedHosts } }
        set { state.withLock { $0.trustedHosts = newValue } }
    }

    /// Not available.
    @available(*, unavailable, message: "Use ImageDownloader.Configuration of WebImage.")
    public var sessionConfiguration: URLSessionConfiguration? { nil }

    /// Not available.
    @available(*, unavailable, message: "Use DownloadInterceptor and ResponseBodyModifier of WebImage.")
    public var delegate: Any? { nil }

    /// Not available.
    @available(*, unavailable, message: "Use NetworkOptions.credentials and NetworkOptions.tls of WebImage.")
    public var authenticationChallengeResponder: Any? { nil }

    func apply(to request: inout ImageRequest) {
        let state = state.withLock { $0 }
        // The request of a data provider has its own loader, and local files need that of the manager.
        if let own, own.canLoad(request.url) { request.loader = own }
        request.network.timeout = .seconds(state.timeout > 0 ? state.timeout : 15)
        if let hosts = state.trustedHosts { request.network.tls = .insecure(hosts: hosts) }
    }

    /// Downloads an image without using the caches.
    @discardableResult
    public func downloadImage(
        with url: URL, options: KingfisherOptionsInfo? = nil, progressBlock: DownloadProgressBlock? = nil,
        completionHandler: (@MainActor @Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void)?
    ) -> DownloadTask {
        let source = Source.network(url)
        let parsed = KingfisherParsedOptionsInfo(options)
        var request = parsed.request(for: source).withoutCaches
        apply(to: &request)
        request.includesOriginalData = true
        let task = ImageManager.shared.load(request)
        task.deliver { event in
            switch event {
            case .progress(let progress):
                guard let total = progress.expectedByteCount else { break }
                progressBlock?(Int64(progress.receivedByteCount), Int64(total))
            case .finished(.success(let response)):
                let image = UIImage(decoded: response.image)
                let result = ImageLoadingResult(image: image, url: url, originalData: response.originalData ?? Data())
                completionHandler?(.success(result))
            case .finished(.failure(let error)): completionHandler?(.failure(KingfisherError(error, source)))
            case .started, .waiting, .preview, .cached: break
            }
        }
        return DownloadTask(task)
    }

    /// Downloads an image without using the caches.
    public func downloadImage(with url: URL, options: KingfisherOptionsInfo? = nil) async throws -> ImageLoadingResult {
        try await withCheckedThrowingContinuation { continuation in
            downloadImage(with: url, options: options, completionHandler: { continuation.resume(with: $0) })
        }
    }

    /// Cancels all downloads.
    public func cancelAll() { (own ?? ImageManager.shared.downloader).cancelAll() }

    /// Cancels the downloads of a URL.
    public func cancel(url: URL) { (own ?? ImageManager.shared.downloader).cancelAll { $0.url == url } }
}
