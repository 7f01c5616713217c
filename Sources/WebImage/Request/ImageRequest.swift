// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// A description of an image to load: its source, how to decode and transform it, and how to use the caches and the
/// network.
///
/// A request is a value, so you can change a copy freely. Copies share their storage until one of them changes, so a copy
/// costs no more than a reference.
public struct ImageRequest: Sendable {
    // Memory lookups read `url`, `decoding`, `headers`, `caching`, and `network`. A `_read` accessor lends these values,
    // whereas a getter would copy them, which retains everything that they contain.

    /// The values of the request, which copies share until one of them changes.
    var storage: CopyOnWrite<Values>

    /// The URL of the image. Its scheme is `https`, `http`, `file`, `data`, or one that a custom loader supports.
    public var url: URL {
        _read { yield storage.value.url }
        set { change { $0.url = newValue } }
    }
    /// The size to decode to, which is the ``ImageDecodingOptions/size`` of ``decoding``.
    ///
    /// Except for ``TargetSize/exact(width:height:unit:)``, the size never exceeds that of the image. The default is
    /// `nil`, which means full size.
    public var size: TargetSize? {
        get { storage.value.decoding.size }
        set { change { $0.decoding.size = newValue } }
    }
    /// The scale of the image, in pixels per point, which is the ``ImageDecodingOptions/scale`` of ``decoding``.
    ///
    /// The default is the factor of a suffix such as `@2x` or `@3x` in the file name, or 1 without a suffix.
    public var scale: Double {
        get { storage.value.decoding.scale }
        set { change { $0.decoding.scale = newValue } }
    }
    /// The frames of an animated image to decode, which are the ``ImageDecodingOptions/frames`` of ``decoding``. The
    /// default is all frames, decoded on demand.
    public var frames: FrameSelection {
        get { storage.value.decoding.frames }
        set { change { $0.decoding.frames = newValue } }
    }
    /// The transformers to apply after decoding, in this order. The default is an empty array.
    ///
    /// If the array is empty, the transformers of the configuration apply, unless ``usesDefaultTransformers`` is `false`.
    public var transformers: [any ImageTransformer] {
        get { storage.value.transformers }
        set { change { $0.transformers = newValue } }
    }
    /// A Boolean value that indicates whether the transformers of the configuration apply if the request has none of its
    /// own. The default is `true`.
    public var usesDefaultTransformers: Bool {
        get { storage.value.usesDefaultTransformers }
        set { change { $0.usesDefaultTransformers = newValue } }
    }
    /// A Boolean value that indicates whether transformers apply to animated images, both to the poster frame and to
    /// all other frames.
    ///
    /// If it's `false`, animated images remain unchanged. To exclude single transformers, use
    /// ``ImageTransformer/excludingAnimations()``. The default is `true`.
    public var transformsAnimations: Bool {
        get { storage.value.transformsAnimations }
        set { change { $0.transformsAnimations = newValue } }
    }
    /// The priority of the request. The default is ``RequestPriority/normal``. To change the priority of a running
    /// request, set ``ImageTask/priority``.
    public var priority: RequestPriority {
        get { storage.value.priority }
        set { change { $0.priority = newValue } }
    }
    /// The policy for previews of the running download, which are delivered as ``ImageTask/Event/preview(_:)``.
    ///
    /// If the request delivers a cached image during revalidation, it delivers no previews. The default is
    /// ``PreviewPolicy/disabled``.
    public var previews: PreviewPolicy {
        get { storage.value.previews }
        set { change { $0.previews = newValue } }
    }
    /// A request for a smaller image, or another image that loads faster, to display while this request runs.
    ///
    /// ``ImageManager/load(_:)-(ImageRequest)`` starts both requests at the same time. If the image of the preliminary
    /// request arrives first, the task delivers it as ``ImageTask/Event/preview(_:)``, and views display it as a preview.
    /// Unlike a preview of a running download, it's a complete image, so ``ImageMetadata/isPartial`` is `false`. The
    /// task doesn't deliver it after a cached image, a preview of its own download, or the final event.
    ///
    /// The preliminary request has the priority of this request. It ends with this request, also by a cancellation, and
    /// its failure has no effect on this request. It has its own keys, cache policy, and transformers, and isn't part of
    /// the key of this request. Its own ``previews`` and ``includesOriginalData`` have no effect. It starts neither if an
    /// image in memory serves this request or is delivered during a revalidation, nor for methods that don't return a
    /// task, nor for prefetched images.
    ///
    /// A preliminary request can have a preliminary request. All of them start at the same time, and an image is
    /// delivered only after images that are further from this request. The manager ignores requests after the third one.
    /// The default is `nil`.
    public var preliminary: ImageRequest? {
        get { storage.value.preliminary }
        set { change { $0.preliminary = newValue } }
    }
    /// The cache policy. The default is `nil`, which means the policy of the configuration.
    public var cachePolicy: CachePolicy? {
        get { storage.value.cachePolicy }
        set { change { $0.cachePolicy = newValue } }
    }
    /// The options for decoding, such as the size, the frames, the depth, the format hint, and custom options.
    ///
    /// The options include ``size``, ``scale``, and ``frames``, so setting this property replaces these values too.
    public var decoding: ImageDecodingOptions {
        _read { yield storage.value.decoding }
        set { change { $0.decoding = newValue } }
    }
    /// A coder that decodes the data instead of the manager's coders.
    ///
    /// The manager doesn't check whether the coder supports the data. The ``ImageCoder/identifier`` of the coder is
    /// part of the key, so its images have separate cache entries. The default is `nil`.
    public var coder: (any ImageCoder)? {
        get { storage.value.coder }
        set { change { $0.coder = newValue } }
    }
    /// The loader that loads the data, instead of the loaders of the manager.
    ///
    /// The manager doesn't call ``ImageLoader/canLoad(_:)`` of this loader. Simultaneous requests share a load only if
    /// their loaders are the same: the same object, equal values of a `Hashable` type, or copies of one request. The
    /// loader isn't part of the key of cached data. If it returns other data for the same URL, set
    /// ``CachingOptions/key``. The default is `nil`.
    public var loader: (any ImageLoader)? {
        get { storage.value.loader }
        set { change { $0.loader = newValue } }
    }
    /// The HTTP header fields that are sent with the request.
    ///
    /// They're part of the key, as ``CachingOptions/keyHeaders`` describes. The default is empty.
    public var headers: HTTPHeaderFields {
        _read { yield storage.value.headers }
        set { change { $0.headers = newValue } }
    }
    /// The HTTP method, which is case-sensitive. It applies only to HTTP. The default is `GET`.
    ///
    /// The method and ``body`` are part of the key. Unless ``CachingOptions/storesAnyMethod`` is `true`, the caches
    /// neither serve nor store the image of a request with another method, and the manager doesn't remember its failures.
    /// Concurrent equal requests still share one load.
    ///
    /// The downloader retries a request whose method isn't idempotent, such as `POST`, only if
    /// ``NetworkOptions/retry`` of ``network`` isn't `nil`. Redirects change the method as the Fetch standard requires:
    /// 301 and 302 change `POST` to `GET`, and 303 changes each method except `HEAD` to `GET`. If the method isn't valid
    /// in HTTP, the request fails with ``ImageError/RequestFailure/invalidOption(name:value:)``.
    public var method: String {
        get { storage.value.method }
        set { change { $0.method = newValue } }
    }
    /// The body that is sent with the request. It applies only to HTTP. The default is empty.
    ///
    /// A request with a body is cached like a request with another ``method``. The downloader adds no `Content-Type`, so
    /// set it in ``headers``. The redirects 307 and 308 send the body again, also to other origins.
    public var body: Data {
        get { storage.value.body }
        set { change { $0.body = newValue } }
    }
    /// A Boolean value that indicates whether the response includes the original data. The default is `false`.
    public var includesOriginalData: Bool {
        get { storage.value.includesOriginalData }
        set { change { $0.includesOriginalData = newValue } }
    }
    /// A Boolean value that indicates whether the request continues after the Swift task that awaits it is canceled.
    ///
    /// If it continues, it stores the image in the caches. ``ImageTask/cancel()`` cancels the request in any case. The
    /// default is `false`.
    public var continuesAfterCancellation: Bool {
        get { storage.value.continuesAfterCancellation }
        set { change { $0.continuesAfterCancellation = newValue } }
    }
    /// The options for caching: keys, tiers, and tags.
    public var caching: CachingOptions {
        _read { yield storage.value.caching }
        set { change { $0.caching = newValue } }
    }
    /// The limits, which replace those of the configuration. The default is `nil`, which means the limits of the
    /// configuration.
    public var limits: ImageLimits? {
        get { storage.value.limits }
        set { change { $0.limits = newValue } }
    }
    /// The maximum number of different requests in flight.
    ///
    /// If the limit is reached, this request fails immediately because the manager is overloaded. The default is `nil`,
    /// which means ``ImageManager/Configuration/maxInFlightRequests``.
    public var maxInFlightRequests: Int? {
        get { storage.value.maxInFlightRequests }
        set { change { $0.maxInFlightRequests = newValue } }
    }
    /// The maximum time from the start of the request to its result.
    ///
    /// The time is measured by a clock that doesn't stop, so it contains all waits: in queues, for other requests, between
    /// attempts, and for worker threads. The timeouts of ``network`` apply to a transfer and don't contain the time in the
    /// queue. When the deadline has passed, the request fails immediately with an ``ImageError/NetworkFailure`` whose
    /// reason is ``ImageError/NetworkFailure/Reason/timedOut`` and whose phase is
    /// ``ImageError/NetworkFailure/Phase/total``. Work without other subscribers stops. An image in memory that serves the
    /// request is delivered in any case.
    ///
    /// The deadline isn't part of any key, so requests with different deadlines share their work. The default is `nil`,
    /// which means no limit.
    public var deadline: Duration? {
        get { storage.value.deadline }
        set { change { $0.deadline = newValue } }
    }
    /// The timeouts, retries, alternative URLs, cookies, TLS options, credentials, and accepted responses that differ
    /// from those of the downloader.
    ///
    /// Except for timeouts, retries, and alternative URLs, options that are set are part of the key. They apply to HTTP
    /// only. Each request tries its own alternatives, also if it shares the download of its URL.
    public var network: NetworkOptions {
        _read { yield storage.value.network }
        set { change { $0.network = newValue } }
    }
    /// Custom data of the application, which interceptors and custom loaders receive in ``LoadRequest/userInfo``.
    ///
    /// The manager doesn't read it, and requests that differ only in it are equal. If they share a load, the loader
    /// receives the data of the first one. The default is empty.
    public var userInfo: [String: any Sendable] {
        get { storage.value.userInfo }
        set { change { $0.userInfo = newValue } }
    }

    /// Creates a request for the image at a URL.
    ///
    /// - Parameters:
    ///   - url: The URL of the image.
    ///   - size: The size to decode to. The default is `nil`, which means full size.
    ///   - transformers: The transformers to apply. The default is an empty array, which means those of the
    ///     configuration.
    ///   - priority: The priority. The default is ``RequestPriority/normal``.
    public init(
        url: URL, size: TargetSize? = nil, transformers: [any ImageTransformer] = [],
        priority: RequestPriority = .normal
    ) {
        storage = CopyOnWrite(Values(url: url, size: size, transformers: transformers, priority: priority))
    }

    /// Creates a request for the image at the URL in a string. Returns `nil` if the string isn't a valid URL.
    ///
    /// The string is parsed by the rules of the URL Standard (WHATWG), as in browsers. Characters that URLs can't
    /// contain are percent-encoded, and existing escapes remain unchanged. For example, the string
    /// `https://example.org/a%20b c.png` denotes `https://example.org/a%20b%20c.png`. In contrast, `URL(string:)`
    /// encodes the percent sign in this string again.
    public init?(string: String) {
        guard let url = URLText.url(string) else { return nil }
        self.init(url: url)
    }
}

extension ImageRequest {
    /// The values of a request. ``ImageRequest`` describes the public ones.
    struct Values: Sendable {
        var url: URL { didSet { source = SourceKind(url) } }
        var transformers: [any ImageTransformer] { didSet { identities = applied?.map(\.identifier) } }
        var usesDefaultTransformers = true { didSet { identities = applied?.map(\.identifier) } }
        var transformsAnimations = true { didSet { identities = applied?.map(\.identifier) } }
        var priority: RequestPriority
        var previews = PreviewPolicy.disabled
        var preliminary: ImageRequest?
        var lowerQuality = LowerQuality()
        /// The URLs of the higher qualities if this is the request for a lower quality, and otherwise an empty array.
        var higherQualities: [URL] = []
        var cachePolicy: CachePolicy?
        var decoding: ImageDecodingOptions
        var coder: (any ImageCoder)?
        var loader: (any ImageLoader)? { didSet { loaderIdentity = LoaderIdentity(loader) } }
        var headers = HTTPHeaderFields()
        var method = "GET" { didSet { isPlainGet = method == "GET" && body.isEmpty } }
        var body = Data() {
            didSet {
                isPlainGet = method == "GET" && body.isEmpty
                bodyHash = body.isEmpty ? "" : CacheKey([body.base64EncodedString()]).fileName
            }
        }
        /// Whether the method is `GET` and there is no body, which is the case for almost all requests. It's cached
        /// because every memory lookup needs it.
        private(set) var isPlainGet = true
        /// The hash of ``body`` for keys, or an empty string if there is no body.
        private(set) var bodyHash = ""
        var includesOriginalData = false
        var continuesAfterCancellation = false
        var caching = CachingOptions()
        var limits: ImageLimits?
        var maxInFlightRequests: Int?
        var deadline: Duration?
        var network = NetworkOptions()
        var userInfo: [String: any Sendable] = [:]

        /// A closure that creates the image without a loader or coder. See ``ImageRequest/init(cacheKey:image:)``.
        var maker: ImageFactory?
        /// The identity that decides whether two requests use the same loader. Setting ``loader`` changes it.
        var loaderIdentity = LoaderIdentity.registry
        /// The properties of the source that follow from the URL. They're cached because every memory lookup needs
        /// them.
        private(set) var source: SourceKind
        /// The identities of ``applied``, computed once.
        private(set) var identities: [String]?

        init(url: URL, size: TargetSize?, transformers: [any ImageTransformer], priority: RequestPriority) {
            let source = SourceKind(url)
            self.url = url
            self.source = source
            self.transformers = transformers
            self.priority = priority
            identities = transformers.isEmpty ? nil : transformers.map(\.identifier)
            decoding = ImageDecodingOptions(size: size)
            // Most file names have no scale suffix, and `lastPathComponent` is expensive.
            if source.mayHaveScaleSuffix { decoding.scale = ImageScale.from(key: url.lastPathComponent) }
        }

        /// The ``transformers`` as they apply to this request, or `nil` for those of the configuration.
        var applied: [any ImageTransformer]? {
            if transformers.isEmpty, usesDefaultTransformers { return nil }
            return transformsAnimations ? transformers : transformers.map { $0.applied(toFrames: false) }
        }
    }

    mutating func change(_ body: (inout Values) -> Void) {
        body(&storage.value)
    }
}

extension ImageRequest {
    var maker: ImageFactory? { storage.value.maker }

    /// The identity that decides whether two requests use the same loader.
    var loaderIdentity: LoaderIdentity { storage.value.loaderIdentity }

    /// The properties of the source that follow from the URL.
    var source: SourceKind { storage.value.source }

    /// Whether the method is `GET` and there is no body.
    var isPlainGet: Bool { storage.value.isPlainGet }

    /// The hash of ``body`` for keys, or an empty string if there is no body.
    var bodyHash: String { storage.value.bodyHash }

    /// Whether the caches may serve and store the image, and whether the manager remembers failures.
    var mayBeCached: Bool { isPlainGet || caching.storesAnyMethod }

    /// Whether the request selects one of several URLs.
    var hasLowerQualities: Bool { !storage.value.lowerQuality.urls.isEmpty }

    /// Returns this request without the use of caches. `defaultPolicy` is the cache policy of the configuration.
    func withoutCaches(defaultPolicy: CachePolicy) -> ImageRequest {
        var request = self
        request.change { values in
            // The policy for cached images only must never send a request.
            if (values.cachePolicy ?? defaultPolicy).mayContactServer { values.cachePolicy = .reload }
            values.caching.bypassesFailureCache = true
            values.caching.readFrom = []
            values.caching.writeTo = []
            values.caching.originalReadFrom = []
            values.caching.originalWriteTo = []
        }
        return request
    }

    /// The identities of ``transformers``.
    var identities: [String]? { storage.value.identities }

    var applied: [any ImageTransformer]? { storage.value.applied }

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

    var decodeOptions: ImageDecodingOptions {
        var options = decoding
        options.coderIdentifier = coder?.identifier
        return options
    }

    /// The ``decodeOptions``, with the format hint taken from the extension of the URL if there's no other hint. The
    /// hint isn't part of the key because it follows from the source.
    var hintedOptions: ImageDecodingOptions {
        var options = decodeOptions
        if options.formatHint == nil { options.formatHint = formatOfExtension }
        return options
    }

    private var formatOfExtension: ImageFormat? {
        let name = url.pathExtension.lowercased()
        return name.isEmpty ? nil : ImageFormat(rawValue: name)
    }

    /// Returns a GET request for another URL with the same header fields and options.
    func fetching(_ url: URL) -> ImageRequest {
        var request = self
        request.change { values in
            values.url = url
            values.method = "GET"
            values.body = Data()
            values.caching.key = nil
            values.network.alternativeURLs = []
            values.lowerQuality.urls = []
            values.higherQualities = []
        }
        return request
    }

    /// Returns this request with other data, for interceptors that supply the data of a request.
    ///
    /// The data is decoded and transformed as requested. The manager contacts no server, and the caches neither serve
    /// nor store the image.
    package func replacingSource(with data: Data) -> ImageRequest {
        let substitute = ImageRequest(data: data)
        var request = self
        request.change { values in
            // The extension of the URL is a hint for the format, and the new URL has none.
            if values.decoding.formatHint == nil { values.decoding.formatHint = formatOfExtension }
            values.url = substitute.url
            values.maker = nil
            values.method = "GET"
            values.body = Data()
            values.loader = substitute.loader
            values.loaderIdentity = substitute.loaderIdentity
            values.cachePolicy = .reload
            values.caching.key = nil
            values.caching.bypassesFailureCache = true
            values.caching.readFrom = []
            values.caching.writeTo = []
            values.network.alternativeURLs = []
            values.lowerQuality.urls = []
            values.higherQualities = []
        }
        return request
    }
}
