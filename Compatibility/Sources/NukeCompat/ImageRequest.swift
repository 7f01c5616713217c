// SPDX-License-Identifier: MIT

@_exported import AppleNames
import Foundation
import WebImage

/// The image of a platform.
public typealias PlatformImage = UIImage

/// A description of an image to load, which is mapped to a request of WebImage.
public struct ImageRequest: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The priority of a request.
    public enum Priority: Int, Comparable, Sendable {
        /// The lowest priority.
        case veryLow = 0
        /// A low priority.
        case low
        /// The default.
        case normal
        /// A high priority.
        case high
        /// The highest priority.
        case veryHigh

        /// Returns whether the left priority is lower.
        public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }

        var mapped: RequestPriority {
            switch self {
            case .veryLow: .veryLow
            case .low: .low
            case .normal: .normal
            case .high: .high
            case .veryHigh: .veryHigh
            }
        }
    }

    /// The options of a request.
    public struct Options: OptionSet, Hashable, Sendable {
        /// The bits of the options.
        public let rawValue: UInt16

        /// Creates options from their bits.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// Doesn’t look in memory.
        public static let disableMemoryCacheReads = Options(rawValue: 1 << 0)
        /// Doesn’t store the image in memory.
        public static let disableMemoryCacheWrites = Options(rawValue: 1 << 1)
        /// Doesn’t use memory.
        public static let disableMemoryCache: Options = [.disableMemoryCacheReads, .disableMemoryCacheWrites]
        /// Doesn’t look on disk.
        public static let disableDiskCacheReads = Options(rawValue: 1 << 2)
        /// Doesn’t store data on disk.
        public static let disableDiskCacheWrites = Options(rawValue: 1 << 3)
        /// Doesn’t use the disk cache.
        public static let disableDiskCache: Options = [.disableDiskCacheReads, .disableDiskCacheWrites]
        /// Loads the image from its source and stores it.
        public static let reloadIgnoringCachedData = Options(rawValue: 1 << 4)
        /// Never loads the image from its source.
        public static let returnCacheDataDontLoad = Options(rawValue: 1 << 5)
        /// Has no effect, because decoding always produces pixels.
        public static let skipDecompression = Options(rawValue: 1 << 6)
        /// Has no effect. Use a high priority.
        public static let skipDataLoadingQueue = Options(rawValue: 1 << 7)
    }

    /// The name of a custom value.
    public struct UserInfoKey: Hashable, ExpressibleByStringLiteral, Sendable {
        /// The name.
        public let rawValue: String

        /// Creates a name.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// Creates a name from a literal.
        public init(stringLiteral value: String) { rawValue = value }

        /// The key of the image in the caches, a `String`.
        public static let imageIdKey: UserInfoKey = "github.com/kean/nuke/imageId"
        /// The scale of the image, a number.
        public static let scaleKey: UserInfoKey = "github.com/kean/nuke/scale"
        /// The size to decode to, an ``ThumbnailOptions``.
        public static let thumbnailKey: UserInfoKey = "github.com/kean/nuke/thumbnail"
    }

    /// The size to decode to.
    public struct ThumbnailOptions: Hashable, Sendable {
        let size: TargetSize

        /// Creates options for images whose longer side isn’t longer than a number of pixels.
        public init(maxPixelSize: Float) {
            size = .fit(width: Double(maxPixelSize), height: Double(maxPixelSize))
        }

        /// Creates options for a size.
        public init(
            size: CGSize, unit: ImageProcessingOptions.Unit = .points,
            contentMode: ImageProcessingOptions.ContentMode = .aspectFill
        ) {
            self.size = ImageProcessors.Resize.target(size, unit, contentMode, crop: false)
        }
    }

    private enum Source: Sendable {
        case url(URLRequest?)
        case data(id: String, @Sendable () async throws -> Data)
        case image(id: String, @Sendable () async throws -> ImageContainer)
    }

    private let source: Source
    /// The processors, in their order.
    public var processors: [any ImageProcessing]
    /// The priority. The default is ``Priority/normal``.
    public var priority: Priority
    /// The options.
    public var options: Options
    /// The custom values, and values with the names of ``UserInfoKey``.
    public var userInfo: [UserInfoKey: any Sendable]

    /// Creates a request for a URL. A request without a URL fails with ``ImagePipeline/Error/imageRequestMissing``.
    public init(
        url: URL?, processors: [any ImageProcessing] = [], priority: Priority = .normal, options: Options = [],
        userInfo: [UserInfoKey: any Sendable]? = nil
    ) {
        self.init(.url(url.map { URLRequest(url: $0) }), processors, priority, options, userInfo)
    }

    /// Creates a request with a request of Foundation.
    public init(
        urlRequest: URLRequest, processors: [any ImageProcessing] = [], priority: Priority = .normal,
        options: Options = [], userInfo: [UserInfoKey: any Sendable]? = nil
    ) {
        self.init(.url(urlRequest), processors, priority, options, userInfo)
    }

    /// Creates a request with a closure that loads the data.
    public init(
        id: String, data: @escaping @Sendable () async throws -> Data, processors: [any ImageProcessing] = [],
        priority: Priority = .normal, options: Options = [], userInfo: [UserInfoKey: any Sendable]? = nil
    ) {
        self.init(.data(id: id, data), processors, priority, options, userInfo)
    }

    /// Creates a request with a closure that makes the image.
    public init(
        id: String, image: @escaping @Sendable () async throws -> ImageContainer,
        processors: [any ImageProcessing] = [], priority: Priority = .normal, options: Options = [],
        userInfo: [UserInfoKey: any Sendable]? = nil
    ) {
        self.init(.image(id: id, image), processors, priority, options, userInfo)
    }

    /// Creates a request for the URL in a literal.
    public init(stringLiteral value: String) { self.init(url: WebImage.ImageRequest(string: value)?.url) }

    private init(
        _ source: Source, _ processors: [any ImageProcessing], _ priority: Priority, _ options: Options,
        _ userInfo: [UserInfoKey: any Sendable]?
    ) {
        self.source = source
        self.processors = processors
        self.priority = priority
        self.options = options
        self.userInfo = userInfo ?? [:]
    }

    /// The request of Foundation, or `nil` for a request with a closure.
    public var urlRequest: URLRequest? {
        guard case .url(let request) = source else { return nil }
        return request
    }

    /// The URL, or `nil` for a request with a closure.
    public var url: URL? { urlRequest?.url }

    /// The key of the image in the caches.
    public var imageId: String? {
        if let id = userInfo[.imageIdKey] as? String { return id }
        switch source {
        case .url(let request): return request?.url?.absoluteString
        case .data(let id, _), .image(let id, _): return id
        }
    }

    /// The size to decode to.
    public var thumbnail: ThumbnailOptions? {
        get { userInfo[.thumbnailKey] as? ThumbnailOptions }
        set { userInfo[.thumbnailKey] = newValue }
    }

    /// The URL, the priority, and the options.
    public var description: String { "ImageRequest(\(imageId ?? "none"), priority: \(priority), options: \(options))" }

    /// The request of WebImage, or `nil` if there’s no URL.
    var mapped: WebImage.ImageRequest? {
        guard let imageId else { return nil }
        var request: WebImage.ImageRequest
        switch source {
        case .url(let source):
            guard let source, let url = source.url else { return nil }
            request = WebImage.ImageRequest(key: imageId, url: url)
            request.apply(source)
        case .data(_, let load): request = WebImage.ImageRequest(cacheKey: imageId, data: load)
        case .image(_, let make): request = WebImage.ImageRequest(cacheKey: imageId) { try await make().image.decoded }
        }
        request.priority = priority.mapped
        request.transformers = processors.map(\.mapped)
        request.usesDefaultTransformers = false
        request.size = thumbnail?.size
        if let scale = userInfo[.scaleKey] as? any BinaryFloatingPoint { request.scale = Double(scale) }
        if let scale = userInfo[.scaleKey] as? Int { request.scale = Double(scale) }
        applyOptions(to: &request)
        for (name, value) in userInfo { request.userInfo[name.rawValue] = value }
        return request
    }

    private func applyOptions(to request: inout WebImage.ImageRequest) {
        if options.contains(.disableMemoryCacheReads) {
            request.caching.readFrom.remove(.memory)
            request.caching.originalReadFrom.remove(.memory)
        }
        if options.contains(.disableMemoryCacheWrites) {
            request.caching.writeTo.remove(.memory)
            request.caching.originalWriteTo.remove(.memory)
        }
        if options.contains(.disableDiskCacheReads) {
            request.caching.readFrom.formIntersection(.memory)
            request.caching.originalReadFrom.formIntersection(.memory)
        }
        if options.contains(.disableDiskCacheWrites) {
            request.caching.writeTo.formIntersection(.memory)
            request.caching.originalWriteTo.formIntersection(.memory)
        }
        if options.contains(.reloadIgnoringCachedData) { request.cachePolicy = .reload }
        if options.contains(.returnCacheDataDontLoad) { request.cachePolicy = .cacheOnly }
    }
}

/// An image with its properties.
public struct ImageContainer: Sendable {
    /// The image.
    public var image: PlatformImage
    /// The format of the data.
    public var type: AssetType?
    /// A Boolean value that indicates whether the image is a preview.
    public var isPreview: Bool
    /// The encoded data, if the request included it.
    public var data: Data?
    /// Custom values.
    public var userInfo: [String: any Sendable]

    /// Creates a container.
    public init(
        image: PlatformImage, type: AssetType? = nil, isPreview: Bool = false, data: Data? = nil,
        userInfo: [String: any Sendable] = [:]
    ) {
        self.image = image
        self.type = type
        self.isPreview = isPreview
        self.data = data
        self.userInfo = userInfo
    }
}

/// A format of image data.
public struct AssetType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The uniform type identifier.
    public let rawValue: String

    /// Creates a format from its identifier.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates a format from a literal.
    public init(stringLiteral value: String) { rawValue = value }

    /// Detects the format of data.
    public init?(_ data: Data) {
        guard let format = ImageFormat(sniffing: data) else { return nil }
        self.init(format)
    }

    init(_ format: ImageFormat) {
        switch format {
        case .jpeg: self = .jpeg
        case .png, .apng: self = .png
        case .gif: self = .gif
        case .webp: self = .webp
        case .heif: self = .heic
        default: rawValue = format.rawValue
        }
    }

    /// JPEG.
    public static let jpeg: AssetType = "public.jpeg"
    /// PNG, with or without an animation.
    public static let png: AssetType = "public.png"
    /// GIF.
    public static let gif: AssetType = "com.compuserve.gif"
    /// WebP.
    public static let webp: AssetType = "public.webp"
    /// HEIC and HEIF.
    public static let heic: AssetType = "public.heic"
}

/// A loaded image.
public struct ImageResponse: Sendable {
    /// The tier that served an image.
    public enum CacheType: Sendable {
        /// The memory cache.
        case memory
        /// The disk cache.
        case disk
    }

    /// The image with its properties.
    public var container: ImageContainer
    /// The request.
    public var request: ImageRequest
    /// The head of the HTTP response.
    public var urlResponse: URLResponse?
    /// The tier that served the image, or `nil` if it was loaded from its source.
    public var cacheType: CacheType?

    /// Creates a response.
    public init(
        container: ImageContainer, request: ImageRequest, urlResponse: URLResponse? = nil, cacheType: CacheType? = nil
    ) {
        self.container = container
        self.request = request
        self.urlResponse = urlResponse
        self.cacheType = cacheType
    }

    /// The image.
    public var image: PlatformImage { container.image }
    /// A Boolean value that indicates whether the image is a preview.
    public var isPreview: Bool { container.isPreview }

    init(_ response: WebImage.ImageResponse, _ request: ImageRequest) {
        self.init(response.image, request, data: response.originalData)
        urlResponse = response.httpResponse.flatMap { head in
            HTTPURLResponse(
                url: response.url, statusCode: head.statusCode, httpVersion: "HTTP/1.1",
                headerFields: Dictionary(head.headers.map { ($0.name, $0.value) }) { $0 + ", " + $1 })
        }
        switch response.source {
        case .memoryCache: cacheType = .memory
        case .diskCache, .cacheTier, .revalidated: cacheType = .disk
        case .network, .local: cacheType = nil
        }
    }

    init(_ image: DecodedImage, _ request: ImageRequest, data: Data? = nil, isPreview: Bool = false) {
        let container = ImageContainer(
            image: UIImage(decoded: image), type: image.format.map { AssetType($0) }, isPreview: isPreview, data: data)
        self.init(container: container, request: request)
    }
}
