// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// A description of an image to load: its source, how to decode and transform it, and how to use the caches and the
/// network.
///
/// A request is a value, so you can change a copy freely.
public struct ImageRequest: Sendable {
    /// The URL of the image. Its scheme is `https`, `http`, `file`, `data`, or one that a custom loader supports.
    public var url: URL { didSet { source = SourceKind(url) } }
    /// The size to decode to.
    ///
    /// Except for ``TargetSize/exact(width:height:unit:)``, the size never exceeds that of the image. The default is
    /// `nil`, which means full size.
    public var size: TargetSize?
    /// The scale of the image, in pixels per point. The default is the factor of a suffix such as `@2x` or `@3x` in the
    /// file name, or 1 without a suffix.
    public var scale: Double
    /// The transformers to apply after decoding, in this order. The default is `nil`, which means the transformers of
    /// the configuration. If the array is empty, no transformers apply.
    public var transformers: [any ImageTransformer]? { didSet { identities = applied?.map(\.identifier) } }
    /// A Boolean value that indicates whether transformers apply to animated images, both to the poster frame and to
    /// all other frames.
    ///
    /// If it's `false`, animated images remain unchanged. To exclude single transformers, use
    /// ``ImageTransformer/excludingAnimations()``. The default is `true`.
    public var transformsAnimations = true { didSet { identities = applied?.map(\.identifier) } }
    /// The priority of the request. The default is ``RequestPriority/normal``. To change the priority of a running
    /// request, set ``ImageTask/priority``.
    public var priority: RequestPriority
    /// The policy for previews of the running download, which are delivered as ``ImageTask/Event/preview(_:)``.
    ///
    /// If the request delivers a cached image during revalidation, it delivers no previews. The default is
    /// ``PreviewPolicy/disabled``.
    public var previews = PreviewPolicy.disabled
    /// The cache policy. The default is `nil`, which means the policy of the configuration.
    public var cachePolicy: CachePolicy?
    /// The options for decoding, such as frames, depth, format hint, and custom options. The request's own `size` and
    /// `scale` override those of the options.
    public var decoding = ImageDecodingOptions()
    /// A coder that decodes the data instead of the manager's coders.
    ///
    /// The manager doesn't check whether the coder supports the data. The ``ImageCoder/identifier`` of the coder is
    /// part of the key, so its images have separate cache entries. The default is `nil`.
    public var coder: (any ImageCoder)?
    /// The loader that loads the data, instead of the loaders of the manager.
    ///
    /// The manager doesn't call ``ImageLoader/canLoad(_:)`` of this loader. Simultaneous requests share a load only if
    /// their loaders are the same: the same object, equal values of a `Hashable` type, or copies of one request. The
    /// loader isn't part of the key of cached data. If it returns other data for the same URL, set
    /// ``CachingOptions/key``. The default is `nil`.
    public var loader: (any ImageLoader)? { didSet { loaderIdentity = LoaderIdentity(loader) } }
    /// The HTTP header fields that are sent with the request.
    ///
    /// They're part of the key, as ``CachingOptions/keyHeaders`` describes.
    public var headers = HTTPHeaderFields()
    /// A Boolean value that indicates whether the response includes the original data. The default is `false`.
    public var includesOriginalData = false
    /// A Boolean value that indicates whether the request continues after the Swift task that awaits it is canceled.
    ///
    /// If it continues, it stores the image in the caches. ``ImageTask/cancel()`` cancels the request in any case. The
    /// default is `false`.
    public var continuesAfterCancellation = false
    /// The options for caching: keys, tiers, and tags.
    public var caching = CachingOptions()
    /// The limits, which replace those of the configuration. The default is `nil`, which means the limits of the
    /// configuration.
    public var limits: ImageLimits?
    /// The maximum number of different requests in flight.
    ///
    /// If the limit is reached, this request fails immediately because the manager is overloaded. The default is `nil`,
    /// which means ``ImageManager/Configuration/maxInFlightRequests``.
    public var maxInFlightRequests: Int?
    /// The timeouts, retries, alternative URLs, cookies, TLS options, credentials, and accepted responses that differ
    /// from those of the downloader.
    ///
    /// Except for timeouts, retries, and alternative URLs, options that are set are part of the key. They apply to HTTP
    /// only. Each request tries its own alternatives, also if it shares the download of its URL.
    public var network = NetworkOptions()
    /// Custom data of the application. The manager doesn't read it.
    public var userInfo: [String: any Sendable] = [:]

    /// A closure that creates the image without a loader or coder. See ``init(cacheKey:size:transformers:image:)``.
    private(set) var maker: ImageFactory?
    /// The identity that decides whether two requests use the same loader.
    private(set) var loaderIdentity = LoaderIdentity.registry
    /// The properties of the source that follow from the URL. They're cached because every memory lookup needs them.
    private(set) var source: SourceKind
    /// The identities of ``transformers``, computed once.
    private(set) var identities: [String]?

    /// Creates a request for the image at a URL.
    ///
    /// - Parameters:
    ///   - url: The URL of the image.
    ///   - size: The size to decode to. The default is `nil`, which means full size.
    ///   - transformers: The transformers to apply. The default is `nil`, which means those of the configuration.
    ///   - priority: The priority. The default is ``RequestPriority/normal``.
    public init(
        url: URL, size: TargetSize? = nil, transformers: [any ImageTransformer]? = nil,
        priority: RequestPriority = .normal
    ) {
        self.url = url
        self.size = size
        self.transformers = transformers
        self.priority = priority
        source = SourceKind(url)
        identities = transformers?.map(\.identifier)
        // Most file names have no scale suffix, and `lastPathComponent` is expensive.
        scale = source.mayHaveScaleSuffix ? ImageScale.from(key: url.lastPathComponent) : 1
    }

    /// Creates a request for the image at the URL in a string. Returns `nil` if the string isn't a valid URL.
    public init?(string: String) {
        guard let url = URL(string: string) else { return nil }
        self.init(url: url)
    }

    init(_ url: URL, size: TargetSize?, transformers: [any ImageTransformer]?, maker: ImageFactory?) {
        self.init(url: url, size: size, transformers: transformers)
        self.maker = maker
    }

    /// Makes requests with equal keys share a load, for sources whose key identifies the data.
    mutating func useLoaderOfKey() { loaderIdentity = .key }

    /// The lowercase names of the ``headers`` whose values are part of the key, sorted.
    var keyHeaderNames: [String] {
        Set((caching.keyHeaders.map { Array($0) } ?? headers.lines.map(\.name)).map { $0.lowercased() })
            .filter(isKeyHeader).sorted()
    }

    /// Returns whether the value of a header field, if the request has it, is part of the key. The name must be
    /// lowercase.
    func isKeyHeader(_ name: String) -> Bool {
        guard let keyHeaders = caching.keyHeaders else {
            return !HTTPHeaderFields.namesWithoutEffectOnData.contains(name)
        }
        return keyHeaders.contains { $0.lowercased() == name }
    }

    /// The ``transformers`` as they apply to this request.
    var applied: [any ImageTransformer]? {
        transformsAnimations ? transformers : transformers?.map { $0.applied(toFrames: false) }
    }

    /// The frames of an animated image to decode. The default is all frames, decoded on demand.
    public var frames: FrameSelection {
        get { decoding.frames }
        set { decoding.frames = newValue }
    }

    /// The options that affect the pixels of the decoded image.
    var decodeOptions: ImageDecodingOptions {
        var options = decoding
        options.size = size
        options.scale = scale
        options.coderIdentifier = coder?.identifier
        return options
    }

    /// The ``decodeOptions``, with the format hint taken from the extension of the URL if there's no other hint. The
    /// hint isn't part of the key because it follows from the source.
    var hintedOptions: ImageDecodingOptions {
        var options = decodeOptions
        let name = url.pathExtension.lowercased()
        if options.formatHint == nil, !name.isEmpty { options.formatHint = ImageFormat(rawValue: name) }
        return options
    }
}
