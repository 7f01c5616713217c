// SPDX-License-Identifier: MIT

@_exported import AppleNames
import Foundation
import WebImage

/// The options of a load, which are mapped to properties of `ImageRequest` and `ImageViewOptions`.
public struct SDWebImageOptions: OptionSet, Hashable, Sendable {
    /// The bits of the options.
    public let rawValue: UInt

    /// Creates options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Loads the image even if a recent load failed.
    public static let retryFailed = SDWebImageOptions(rawValue: 1 << 0)
    /// Loads the image with a low priority.
    public static let lowPriority = SDWebImageOptions(rawValue: 1 << 1)
    /// Delivers previews while the image is downloaded.
    public static let progressiveLoad = SDWebImageOptions(rawValue: 1 << 2)
    /// Delivers the cached image and then revalidates it.
    public static let refreshCached = SDWebImageOptions(rawValue: 1 << 3)
    /// Has no effect, because no system suspends the program.
    public static let continueInBackground = SDWebImageOptions(rawValue: 1 << 4)
    /// Uses the shared cookie jar.
    public static let handleCookies = SDWebImageOptions(rawValue: 1 << 5)
    /// Accepts any certificate of the host of the URL.
    public static let allowInvalidSSLCertificates = SDWebImageOptions(rawValue: 1 << 6)
    /// Loads the image with a high priority.
    public static let highPriority = SDWebImageOptions(rawValue: 1 << 7)
    /// Shows the placeholder only after a load that failed.
    public static let delayPlaceholder = SDWebImageOptions(rawValue: 1 << 8)
    /// Transforms animated images, too.
    public static let transformAnimatedImage = SDWebImageOptions(rawValue: 1 << 9)
    /// Doesn’t show the image. The completion closure shows it.
    public static let avoidAutoSetImage = SDWebImageOptions(rawValue: 1 << 10)
    /// Reduces images whose pixels need more than 60 MB.
    public static let scaleDownLargeImages = SDWebImageOptions(rawValue: 1 << 11)
    /// Delivers the encoded data of images in memory, too.
    public static let queryMemoryData = SDWebImageOptions(rawValue: 1 << 12)
    /// Has the effect of ``queryMemoryData``.
    public static let queryMemoryDataSync = SDWebImageOptions(rawValue: 1 << 13)
    /// Reads the disk cache before the view’s method returns.
    public static let queryDiskDataSync = SDWebImageOptions(rawValue: 1 << 14)
    /// Never contacts the server.
    public static let fromCacheOnly = SDWebImageOptions(rawValue: 1 << 15)
    /// Doesn’t look in the caches.
    public static let fromLoaderOnly = SDWebImageOptions(rawValue: 1 << 16)
    /// Runs the transition for images in memory, too.
    public static let forceTransition = SDWebImageOptions(rawValue: 1 << 17)
    /// Has no effect, because images always contain pixels.
    public static let avoidDecodeImage = SDWebImageOptions(rawValue: 1 << 18)
    /// Decodes only the first frame.
    public static let decodeFirstFrameOnly = SDWebImageOptions(rawValue: 1 << 19)
    /// Has no effect. Players decode frames in advance.
    public static let preloadAllFrames = SDWebImageOptions(rawValue: 1 << 20)
    /// Has no effect, because one class represents all images.
    public static let matchAnimatedImageClass = SDWebImageOptions(rawValue: 1 << 21)
    /// Completes after the image is written to the disk cache.
    public static let waitStoreCache = SDWebImageOptions(rawValue: 1 << 22)
    /// Transforms vector images, too.
    public static let transformVectorImage = SDWebImageOptions(rawValue: 1 << 23)
    /// Doesn’t cancel the previous load of the view.
    public static let avoidAutoCancelImage = SDWebImageOptions(rawValue: 1 << 24)
    /// Completes after the transition.
    public static let waitTransition = SDWebImageOptions(rawValue: 1 << 25)
}

/// The name of a context value.
public struct SDWebImageContextOption: RawRepresentable, Hashable, Sendable {
    /// The name.
    public let rawValue: String

    /// Creates a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    private init(_ name: String) { rawValue = name }

    /// An ``SDWebImageManager`` that loads the image of a view.
    public static let customManager = SDWebImageContextOption("customManager")
    /// The name of the slot of a view, a `String`.
    public static let setImageOperationKey = SDWebImageContextOption("setImageOperationKey")
    /// An ``SDImageCache`` for this load.
    public static let imageCache = SDWebImageContextOption("imageCache")
    /// An ``SDImageCache`` for the original data of this load.
    public static let originalImageCache = SDWebImageContextOption("originalImageCache")
    /// An ``SDWebImageDownloader`` for this load.
    public static let imageLoader = SDWebImageContextOption("imageLoader")
    /// An ``SDImageCoder`` for this load.
    public static let imageCoder = SDWebImageContextOption("imageCoder")
    /// An ``SDImageTransformer``, or `NSNull` for no transformer.
    public static let imageTransformer = SDWebImageContextOption("imageTransformer")
    /// The scale of the image, a `CGFloat`.
    public static let imageScaleFactor = SDWebImageContextOption("imageScaleFactor")
    /// Whether a thumbnail keeps its aspect ratio, a `Bool`. The default is `true`.
    public static let imagePreserveAspectRatio = SDWebImageContextOption("imagePreserveAspectRatio")
    /// The size to decode to, a `CGSize` in pixels.
    public static let imageThumbnailPixelSize = SDWebImageContextOption("imageThumbnailPixelSize")
    /// The maximum size of the pixels, in bytes.
    public static let imageScaleDownLimitBytes = SDWebImageContextOption("imageScaleDownLimitBytes")
    /// Whether the image keeps a high dynamic range, a `Bool`.
    public static let imageDecodeToHDR = SDWebImageContextOption("imageDecodeToHDR")
    /// The tiers to look in, an ``SDImageCacheType``.
    public static let queryCacheType = SDWebImageContextOption("queryCacheType")
    /// The tiers that store the image, an ``SDImageCacheType``.
    public static let storeCacheType = SDWebImageContextOption("storeCacheType")
    /// The tiers to look in for original data, an ``SDImageCacheType``.
    public static let originalQueryCacheType = SDWebImageContextOption("originalQueryCacheType")
    /// The tiers that store original data, an ``SDImageCacheType``.
    public static let originalStoreCacheType = SDWebImageContextOption("originalStoreCacheType")
    /// An ``SDWebImageDownloaderRequestModifier``.
    public static let downloadRequestModifier = SDWebImageContextOption("downloadRequestModifier")
    /// An ``SDWebImageDownloaderResponseModifier``.
    public static let downloadResponseModifier = SDWebImageContextOption("downloadResponseModifier")
    /// An ``SDWebImageDownloaderDecryptor``.
    public static let downloadDecryptor = SDWebImageContextOption("downloadDecryptor")
    /// An ``SDWebImageCacheKeyFilter``.
    public static let cacheKeyFilter = SDWebImageContextOption("cacheKeyFilter")
    /// Has no effect. ``SDAnimatedImage`` is created from any image.
    public static let animatedImageClass = SDWebImageContextOption("animatedImageClass")

    /// Not available.
    @available(*, unavailable, message: "Completion closures run on the main actor. Use Task { … } in the closure.")
    public static let callbackQueue = SDWebImageContextOption("callbackQueue")
    /// Not available.
    @available(*, unavailable, message: "Use ImageManager.Configuration.cacheSerializer of WebImage.")
    public static let cacheSerializer = SDWebImageContextOption("cacheSerializer")
    /// Not available.
    @available(*, unavailable, message: "Images always contain pixels. Use ImageManager.data(for:) of WebImage.")
    public static let imageForceDecodePolicy = SDWebImageContextOption("imageForceDecodePolicy")
    /// Not available.
    @available(*, unavailable, message: "Use ImageRequest.decoding.coderOptions of WebImage.")
    public static let imageDecodeOptions = SDWebImageContextOption("imageDecodeOptions")
    /// Not available.
    @available(*, unavailable, message: "Use ImageRequest.caching.processedEncoding of WebImage.")
    public static let imageEncodeOptions = SDWebImageContextOption("imageEncodeOptions")
    /// Not available.
    @available(*, unavailable, message: "Use ImageRequest.decoding.formatHint of WebImage.")
    public static let imageTypeIdentifierHint = SDWebImageContextOption("imageTypeIdentifierHint")
}

/// The context of a load.
public typealias SDWebImageContext = [SDWebImageContextOption: Any]

/// A tier of the cache.
public enum SDImageCacheType: Int, Sendable {
    /// No tier. As the source of an image, it means that the image was loaded.
    case none = 0
    /// The disk cache.
    case disk = 1
    /// The memory cache.
    case memory = 2
    /// Both caches.
    case all = 3

    init(_ source: ImageResponse.Source) {
        switch source {
        case .memoryCache: self = .memory
        case .diskCache, .cacheTier, .revalidated: self = .disk
        case .network, .local: self = .none
        }
    }

    var tiers: WebImage.ImageCache.Tiers {
        switch self {
        case .none: []
        case .disk: [.disk, .custom]
        case .memory: .memory
        case .all: .all
        }
    }
}

/// A format of image data.
public struct SDImageFormat: RawRepresentable, Hashable, Sendable {
    /// The number of the format.
    public let rawValue: Int

    /// Creates a format from its number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// An unknown format.
    public static let undefined = SDImageFormat(rawValue: -1)
    /// JPEG.
    public static let JPEG = SDImageFormat(rawValue: 0)
    /// PNG, with or without an animation.
    public static let PNG = SDImageFormat(rawValue: 1)
    /// GIF.
    public static let GIF = SDImageFormat(rawValue: 2)
    /// TIFF.
    public static let TIFF = SDImageFormat(rawValue: 3)
    /// WebP.
    public static let webP = SDImageFormat(rawValue: 4)
    /// HEIC.
    public static let HEIC = SDImageFormat(rawValue: 5)
    /// HEIF.
    public static let HEIF = SDImageFormat(rawValue: 6)
    /// PDF.
    public static let PDF = SDImageFormat(rawValue: 7)
    /// SVG.
    public static let SVG = SDImageFormat(rawValue: 8)
    /// BMP.
    public static let BMP = SDImageFormat(rawValue: 9)
    /// AVIF, with the number of the AVIF plug-in.
    public static let AVIF = SDImageFormat(rawValue: 15)
    /// JPEG XL, with the number of the JPEG XL plug-in.
    public static let JPEGXL = SDImageFormat(rawValue: 17)

    private static let table: [(SDImageFormat, ImageFormat)] = [
        (.JPEG, .jpeg), (.PNG, .png), (.PNG, .apng), (.GIF, .gif), (.TIFF, .tiff), (.webP, .webp), (.HEIC, .heif),
        (.HEIF, .heif), (.PDF, .pdf), (.SVG, .svg), (.BMP, .bmp), (.AVIF, .avif), (.JPEGXL, .jxl),
    ]

    init(_ format: ImageFormat?) { self = Self.table.first { $0.1 == format }?.0 ?? .undefined }

    var format: ImageFormat? { Self.table.first { $0.0 == self }?.1 }
}

/// The way in which an image is resized.
public enum SDImageScaleMode: UInt, Sendable {
    /// Stretches the image.
    case fill = 0
    /// Fits the image and leaves transparent bars.
    case aspectFit = 1
    /// Fills the size and crops the image.
    case aspectFill = 2
}

/// A completion closure of a view.
public typealias SDExternalCompletionBlock =
    @MainActor @Sendable (_ image: UIImage?, _ error: (any Error)?, _ cacheType: SDImageCacheType, _ url: URL?) -> Void
/// A completion closure of a manager. `finished` is `false` for previews.
public typealias SDInternalCompletionBlock =
    @MainActor @Sendable (
        _ image: UIImage?, _ data: Data?, _ error: (any Error)?, _ cacheType: SDImageCacheType, _ finished: Bool,
        _ url: URL?
    ) -> Void
/// A progress closure with the number of received bytes and of expected bytes, which is 0 if it’s unknown.
public typealias SDImageLoaderProgressBlock =
    @MainActor @Sendable (_ receivedSize: Int, _ expectedSize: Int, _ targetURL: URL?) -> Void
/// A completion closure of a downloader.
public typealias SDWebImageDownloaderCompletedBlock =
    @MainActor @Sendable (_ image: UIImage?, _ data: Data?, _ error: (any Error)?, _ finished: Bool) -> Void
/// A completion closure of a cache lookup.
public typealias SDImageCacheQueryCompletionBlock =
    @MainActor @Sendable (_ image: UIImage?, _ data: Data?, _ cacheType: SDImageCacheType) -> Void
/// A completion closure without parameters.
public typealias SDWebImageNoParamsBlock = @MainActor @Sendable () -> Void

/// The domain of ``SDWebImageError``.
public let SDWebImageErrorDomain = SDWebImageError.errorDomain

/// An error of a load.
public struct SDWebImageError: CustomNSError, LocalizedError, Sendable {
    /// The kind of an error.
    public enum Code: Int, Sendable {
        /// The URL is missing or isn’t valid.
        case invalidURL = 1000
        /// The data isn’t an image within the limits.
        case badImageData = 1001
        /// The image wasn’t modified.
        case cacheNotModified = 1002
        /// A recent load failed, and the manager remembers it.
        case blackListed = 1003
        /// The download couldn’t be started.
        case invalidDownloadOperation = 2000
        /// The status code isn’t acceptable.
        case invalidDownloadStatusCode = 2001
        /// The load was canceled.
        case cancelled = 2002
        /// The response modifier rejected the response.
        case invalidDownloadResponse = 2003
        /// The content type isn’t acceptable.
        case invalidDownloadContentType = 2004
    }

    /// The kind of the error.
    public let code: Code
    /// The error of WebImage, if there is one.
    public let underlyingError: ImageError?

    init(_ code: Code, _ error: ImageError? = nil) {
        self.code = code
        underlyingError = error
    }

    /// Returns the error of this library, or the error of WebImage if this library has no code for it.
    static func mapping(_ error: ImageError) -> any Error {
        switch error {
        case .cancelled: SDWebImageError(.cancelled, error)
        case .decoding, .limitExceeded: SDWebImageError(.badImageData, error)
        case .request(.invalidURL): SDWebImageError(.invalidURL, error)
        case .network(let failure) where failure.reason == .unacceptableStatusCode:
            SDWebImageError(.invalidDownloadStatusCode, error)
        case .network(let failure) where failure.reason == .unacceptableContentType:
            SDWebImageError(.invalidDownloadContentType, error)
        default: error
        }
    }

    /// The domain, `SDWebImageErrorDomain`.
    public static let errorDomain = "SDWebImageErrorDomain"
    /// The number of the ``code``.
    public var errorCode: Int { code.rawValue }
    /// A description of the failure.
    public var errorDescription: String? { underlyingError?.message ?? "SDWebImage error \(code.rawValue)." }
    /// The status code under ``SDWebImageErrorDownloadStatusCodeKey``, if there is one.
    public var errorUserInfo: [String: Any] {
        underlyingError?.httpStatusCode.map { [SDWebImageErrorDownloadStatusCodeKey: $0] } ?? [:]
    }

    /// The code of an error without a valid URL.
    public static let invalidURL = Code.invalidURL
    /// The code of an error because of invalid data.
    public static let badImageData = Code.badImageData
    /// The code of an error because of the status code.
    public static let invalidDownloadStatusCode = Code.invalidDownloadStatusCode
    /// The code of a cancellation.
    public static let cancelled = Code.cancelled
}

/// The key of the HTTP status code in the user information of an error.
public let SDWebImageErrorDownloadStatusCodeKey = "SDWebImageErrorDownloadStatusCodeKey"
