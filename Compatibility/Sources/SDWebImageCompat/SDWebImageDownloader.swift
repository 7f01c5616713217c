// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import Synchronization
import WebImage

/// The order in which waiting downloads start.
public enum SDWebImageDownloaderExecutionOrder: Int, Sendable {
    /// The first one starts first.
    case fifoExecutionOrder = 0
    /// The last one starts first.
    case lifoExecutionOrder = 1
}

/// The settings of a downloader. Except for the order, changes apply to later downloads.
public final class SDWebImageDownloaderConfig: Sendable {
    private struct State {
        var maxConcurrentDownloads = 6
        var timeout: TimeInterval = 15
        var interval: TimeInterval = 0
        var order = SDWebImageDownloaderExecutionOrder.fifoExecutionOrder
        var username: String?
        var password: String?
        var statusCodes: IndexSet?
        var contentTypes: Set<String>?
        weak var downloader: SDWebImageDownloader?
    }

    private let state = Mutex(State())

    /// The settings that apply to downloaders that are created without settings.
    public static let `default` = SDWebImageDownloaderConfig()

    /// Creates settings.
    public init() {}

    /// The maximum number of simultaneous downloads. The default is 6.
    public var maxConcurrentDownloads: Int {
        get { state.withLock { $0.maxConcurrentDownloads } }
        set {
            let downloader = state.withLock { state in
                state.maxConcurrentDownloads = newValue
                return state.downloader
            }
            downloader?.downloader.maxConnections = max(1, newValue)
        }
    }

    /// The maximum duration of a download, in seconds. The default is 15.
    public var downloadTimeout: TimeInterval {
        get { state.withLock { $0.timeout } }
        set { state.withLock { $0.timeout = newValue } }
    }

    /// The order of waiting downloads, which must be set before the downloader is created.
    public var executionOrder: SDWebImageDownloaderExecutionOrder {
        get { state.withLock { $0.order } }
        set { state.withLock { $0.order = newValue } }
    }

    /// The user name for HTTP authentication.
    public var username: String? {
        get { state.withLock { $0.username } }
        set { state.withLock { $0.username = newValue } }
    }

    /// The password for HTTP authentication.
    public var password: String? {
        get { state.withLock { $0.password } }
        set { state.withLock { $0.password = newValue } }
    }

    /// The acceptable status codes. The default is `nil`, which means 200 to 299.
    public var acceptableStatusCodes: IndexSet? {
        get { state.withLock { $0.statusCodes } }
        set { state.withLock { $0.statusCodes = newValue } }
    }

    /// The acceptable content types. The default is `nil`, which means those of WebImage.
    public var acceptableContentTypes: Set<String>? {
        get { state.withLock { $0.contentTypes } }
        set { state.withLock { $0.contentTypes = newValue } }
    }

    /// Not available.
    @available(*, unavailable, message: "Use ImageDownloader.Configuration.progressInterval of WebImage.")
    public var minimumProgressInterval: Double { 0 }

    /// Not available.
    @available(*, unavailable, message: "Use ImageDownloader.Configuration of WebImage.")
    public var sessionConfiguration: URLSessionConfiguration? { nil }

    /// Not available.
    @available(*, unavailable, message: "Use an ImageLoader of WebImage.")
    public var operationClass: AnyClass? { nil }

    func attach(_ downloader: SDWebImageDownloader) { state.withLock { $0.downloader = downloader } }

    func apply(to network: inout NetworkOptions, url: URL) {
        let state = state.withLock { $0 }
        network.timeout = .seconds(state.timeout > 0 ? state.timeout : 15)
        network.acceptableStatusCodes = state.statusCodes.map { Set($0) }
        network.acceptableContentTypes = state.contentTypes
        guard let user = state.username, let password = state.password else { return }
        let credentials = CredentialStore()
        credentials.setCredentials(user: user, password: password, for: url)
        network.credentials = credentials
    }
}

/// The handle of a download.
public typealias SDWebImageDownloadToken = SDWebImageCombinedOperation

/// A closure that changes the request of each download.
public final class SDWebImageDownloaderRequestModifier: Sendable {
    let modify: @Sendable (URLRequest) -> URLRequest?

    /// Creates a modifier. If the closure returns `nil`, the download fails.
    public init(block: @escaping @Sendable (_ request: URLRequest) -> URLRequest?) { modify = block }

    /// Creates a modifier that sets the method, header fields, and the body.
    public convenience init(method: String? = nil, headers: [String: String]? = nil, body: Data? = nil) {
        self.init { request in
            var request = request
            request.httpMethod = method
            for (name, value) in headers ?? [:] { request.setValue(value, forHTTPHeaderField: name) }
            request.httpBody = body
            return request
        }
    }
}

/// A closure that changes the response of each download.
public final class SDWebImageDownloaderResponseModifier: Sendable {
    let modify: @Sendable (URLResponse) -> URLResponse?

    /// Creates a modifier. If the closure returns `nil`, the download fails.
    public init(block: @escaping @Sendable (_ response: URLResponse) -> URLResponse?) { modify = block }
}

/// A closure that decrypts the data of each download.
public final class SDWebImageDownloaderDecryptor: Sendable {
    let decrypt: @Sendable (Data, URLResponse?) -> Data?

    /// Creates a decryptor. If the closure returns `nil`, the download fails.
    public init(block: @escaping @Sendable (_ data: Data, _ response: URLResponse?) -> Data?) { decrypt = block }

    /// A decryptor for data in base64.
    public static let base64 = SDWebImageDownloaderDecryptor { data, _ in
        Data(base64Encoded: data, options: .ignoreUnknownCharacters)
    }
}

/// A downloader, which contains an `ImageDownloader`. The shared downloader is that of `ImageManager.shared`.
public final class SDWebImageDownloader: Sendable {
    private struct State {
        var requestModifier: SDWebImageDownloaderRequestModifier?
        var responseModifier: SDWebImageDownloaderResponseModifier?
        var decryptor: SDWebImageDownloaderDecryptor?
    }

    /// The downloader of `ImageManager.shared`.
    public static let shared = SDWebImageDownloader(own: nil, config: SDWebImageDownloaderConfig())

    /// The settings.
    public let config: SDWebImageDownloaderConfig
    private let own: WebImage.ImageDownloader?
    private let state = Mutex(State())

    private init(own: WebImage.ImageDownloader?, config: SDWebImageDownloaderConfig) {
        self.own = own
        self.config = config
        config.attach(self)
    }

    /// Creates a downloader.
    public convenience init(config: SDWebImageDownloaderConfig? = nil) {
        let config = config ?? .default
        var configuration = WebImage.ImageDownloader.Configuration()
        configuration.maxConnections = max(1, config.maxConcurrentDownloads)
        configuration.queueOrder = config.executionOrder == .fifoExecutionOrder ? .fifo : .lifo
        // SDWebImage doesn't retry.
        configuration.retry = .never
        self.init(own: WebImage.ImageDownloader(configuration: configuration), config: config)
    }

    var downloader: WebImage.ImageDownloader { own ?? ImageManager.shared.downloader }

    /// A closure that changes requests. The default is `nil`.
    public var requestModifier: SDWebImageDownloaderRequestModifier? {
        get { state.withLock { $0.requestModifier } }
        set { state.withLock { $0.requestModifier = newValue } }
    }

    /// A closure that changes responses. The default is `nil`.
    public var responseModifier: SDWebImageDownloaderResponseModifier? {
        get { state.withLock { $0.responseModifier } }
        set { state.withLock { $0.responseModifier = newValue } }
    }

    /// A closure that decrypts data. The default is `nil`.
    public var decryptor: SDWebImageDownloaderDecryptor? {
        get { state.withLock { $0.decryptor } }
        set { state.withLock { $0.decryptor = newValue } }
    }

    /// A Boolean value that indicates whether waiting downloads don’t start.
    public var isSuspended: Bool {
        get { downloader.isSuspended }
        set { downloader.isSuspended = newValue }
    }

    /// Not available.
    @available(*, unavailable, renamed: "isSuspended")
    public var suspended: Bool { isSuspended }

    /// The number of running and waiting downloads.
    public var currentDownloadCount: UInt { UInt(downloader.runningCount + downloader.queuedCount) }

    /// Sets a header field of all downloads. `nil` removes it.
    public func setValue(_ value: String?, forHTTPHeaderField field: String) { downloader.headers[field] = value }

    /// Returns a header field of all downloads.
    public func value(forHTTPHeaderField field: String) -> String? { downloader.headers[field] }

    /// Cancels all downloads.
    public func cancelAllDownloads() { downloader.cancelAll() }

    /// Ends the downloader, which must not be the shared one. Waiting and running downloads are canceled.
    public func invalidateSessionAndCancel(_ cancelPendingOperations: Bool) { own?.shutdown() }

    /// Downloads an image without using the cache.
    @discardableResult
    public func downloadImage(
        with url: URL?, options: SDWebImageDownloaderOptions = [], context: SDWebImageContext? = nil,
        progress progressBlock: SDImageLoaderProgressBlock? = nil,
        completed completedBlock: SDWebImageDownloaderCompletedBlock?
    ) -> SDWebImageDownloadToken? {
        guard let url else {
            onMain { completedBlock?(nil, nil, SDWebImageError(.invalidURL), true) }
            return nil
        }
        var request = ImageRequest(url: url)
        request.apply(options.webImageOptions, context ?? [:])
        request = request.withoutCaches
        request.includesOriginalData = true
        guard apply(to: &request, context ?? [:]) else {
            onMain { completedBlock?(nil, nil, SDWebImageError(.invalidDownloadOperation), true) }
            return nil
        }
        let task = ImageManager.shared.load(request)
        task.deliver { event in
            switch event {
            case .progress(let progress):
                progressBlock?(progress.receivedByteCount, progress.expectedByteCount ?? 0, url)
            case .preview(let image): completedBlock?(UIImage(decoded: image), nil, nil, false)
            case .finished(.success(let response)):
                completedBlock?(UIImage(decoded: response.image), response.originalData, nil, true)
            case .finished(.failure(let error)): completedBlock?(nil, nil, SDWebImageError.mapping(error), true)
            case .started, .waiting, .cached: break
            }
        }
        return SDWebImageDownloadToken(task)
    }

    /// Applies the settings and the modifiers. Returns `false` if the request modifier rejects the request.
    func apply(to request: inout ImageRequest, _ context: SDWebImageContext) -> Bool {
        config.apply(to: &request.network, url: request.url)
        let state = state.withLock { $0 }
        let modifier =
            context[.downloadRequestModifier] as? SDWebImageDownloaderRequestModifier ?? state.requestModifier
        if let modifier {
            guard let modified = modifier.modify(URLRequest(url: request.url)) else { return false }
            request.apply(modified)
        }
        let response = context[.downloadResponseModifier] as? SDWebImageDownloaderResponseModifier
        let decryptor = context[.downloadDecryptor] as? SDWebImageDownloaderDecryptor
        let loader = ModifiedLoader(
            base: downloader, response: response ?? state.responseModifier, decryptor: decryptor ?? state.decryptor)
        if loader.isModified {
            request.loader = loader
        } else if let own, own.canLoad(request.url) {
            request.loader = own
        }
        return true
    }
}

/// The options of a downloader.
public struct SDWebImageDownloaderOptions: OptionSet, Hashable, Sendable {
    /// The bits of the options.
    public let rawValue: UInt

    /// Creates options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Downloads with a low priority.
    public static let lowPriority = SDWebImageDownloaderOptions(rawValue: 1 << 0)
    /// Delivers previews during the download.
    public static let progressiveLoad = SDWebImageDownloaderOptions(rawValue: 1 << 1)
    /// Has no effect, because no system suspends the program.
    public static let continueInBackground = SDWebImageDownloaderOptions(rawValue: 1 << 4)
    /// Uses the shared cookie jar.
    public static let handleCookies = SDWebImageDownloaderOptions(rawValue: 1 << 5)
    /// Accepts any certificate of the host of the URL.
    public static let allowInvalidSSLCertificates = SDWebImageDownloaderOptions(rawValue: 1 << 6)
    /// Downloads with a high priority.
    public static let highPriority = SDWebImageDownloaderOptions(rawValue: 1 << 7)
    /// Reduces images whose pixels need more than 60 MB.
    public static let scaleDownLargeImages = SDWebImageDownloaderOptions(rawValue: 1 << 8)
    /// Decodes only the first frame.
    public static let decodeFirstFrameOnly = SDWebImageDownloaderOptions(rawValue: 1 << 10)

    var webImageOptions: SDWebImageOptions {
        let table: [(SDWebImageDownloaderOptions, SDWebImageOptions)] = [
            (.lowPriority, .lowPriority), (.progressiveLoad, .progressiveLoad), (.handleCookies, .handleCookies),
            (.allowInvalidSSLCertificates, .allowInvalidSSLCertificates), (.highPriority, .highPriority),
            (.scaleDownLargeImages, .scaleDownLargeImages), (.decodeFirstFrameOnly, .decodeFirstFrameOnly),
        ]
        return table.reduce(into: []) { if contains($1.0) { $0.insert($1.1) } }
    }
}

/// A loader that calls the modifiers of a download.
struct ModifiedLoader: ImageLoader, Hashable {
    let base: WebImage.ImageDownloader
    let response: SDWebImageDownloaderResponseModifier?
    let decryptor: SDWebImageDownloaderDecryptor?

    var isModified: Bool { response != nil || decryptor != nil }

    func canLoad(_ url: URL) -> Bool { base.canLoad(url) }

    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        var loaded = try await base.load(request, context: context)
        let head = loaded.httpResponse
        let fields = Dictionary((head?.headers ?? [:]).map { ($0.name, $0.value) }) { $0 + ", " + $1 }
        let original = HTTPURLResponse(
            url: loaded.url, statusCode: head?.statusCode ?? 200, httpVersion: "HTTP/1.1", headerFields: fields)
        var current: URLResponse? = original
        if let response, let original {
            current = response.modify(original)
            guard let modified = current else {
                throw .request(.rejected(reason: "The response modifier returned nil."))
            }
            if let modified = modified as? HTTPURLResponse, head != nil {
                let names = modified.allHeaderFields.compactMap { field in
                    (field.key as? String).map { (name: $0, value: "\(field.value)") }
                }
                loaded.httpResponse = HTTPResponseHead(
                    statusCode: modified.statusCode, headers: HTTPHeaderFields(names))
            }
        }
        if let decryptor {
            guard let body = decryptor.decrypt(loaded.body, current), !body.isEmpty else {
                throw .decoding(.init(.noData))
            }
            loaded.body = body
        }
        return loaded
    }

    static func == (left: ModifiedLoader, right: ModifiedLoader) -> Bool {
        left.base === right.base && left.response === right.response && left.decryptor === right.decryptor
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(base))
        hasher.combine(response.map { ObjectIdentifier($0) })
        hasher.combine(decryptor.map { ObjectIdentifier($0) })
    }
}

/// Not available.
@available(*, unavailable, message: "Use ImageManager.Configuration.loaders of WebImage.")
public enum SDImageLoadersManager {}
