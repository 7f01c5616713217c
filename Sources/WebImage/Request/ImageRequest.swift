// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// What is wanted: a source, how it is to be decoded and transformed, and how caches and network are used.
/// A value; change a copy freely.
public struct ImageRequest: Sendable {
    /// Where the bytes come from: `https`, `http`, `file` or `data`, or what an app's own loader takes.
    public var url: URL { didSet { source = RequestSource(url) } }
    /// The size to decode to, never above the picture's own except for ``TargetSize/exactly(width:height:unit:)``.
    /// Default nil: full size.
    public var size: TargetSize?
    /// Pixels per point. Default 1, or what `@2x`, `@3x` at the end of the file's name say.
    public var scale: Double
    /// Applied in order after decoding. Nil (the default) takes the configuration's; `[]` applies none.
    public var transformers: [any ImageTransformer]? { didSet { identities = applied?.map(\.identity) } }
    /// Whether transformers apply to animated pictures, poster and frames. Default true; where it is false animations stay
    /// as they are. Single transformers: ``ImageTransformer/applied(toFrames:toVectors:)``.
    public var transformsAnimation = true { didSet { identities = applied?.map(\.identity) } }
    /// How soon it is wanted. Default normal; change a running one through ``ImageTask/priority``.
    public var priority: RequestPriority = .normal
    /// Whether partial pictures of the running download are delivered as ``ImageEvent/preview(_:)``. Default
    /// ``PreviewPolicy/none``. There are none where a stored picture is shown meanwhile.
    public var preview = PreviewPolicy.none
    /// Which copies may answer. Nil (the default) takes the configuration's.
    public var cachePolicy: CachePolicy?
    /// Frames, depth, hints and an app's own options. Its `size` and `scale` are overridden by this request's.
    public var decoding = DecodeOptions()
    /// Decodes in place of the manager's coders, without being asked whether it can. Its
    /// ``ImageCoder/identifier`` enters the key: what it makes is kept apart. Default nil.
    public var coder: (any ImageCoder)?
    /// The loader that loads the data, instead of the loaders of the manager.
    ///
    /// The manager doesn't call ``ImageLoader/canLoad(_:)`` of this loader. Simultaneous requests share a load only if
    /// their loaders are the same: the same object, equal values of a `Hashable` type, or copies of one request. The
    /// loader isn't part of the key of cached data. If it returns other data for the same URL, set ``key``. The default
    /// is `nil`.
    public var loader: (any ImageLoader)? { didSet { loaderIdentity = LoaderIdentity(loader) } }
    /// The HTTP header fields that are sent with the request.
    ///
    /// They're part of the key, as ``varyingFields`` describes.
    public var fields = HTTPFields()
    /// The names of the header fields in ``fields`` that select other data.
    ///
    /// Their values are part of the key, as hashes. The default is `nil`, which means all header fields except
    /// ``HTTPFields/namesWithoutEffectOnData``. So an image that was loaded with an API key of the application is never
    /// returned to a request without it.
    public var varyingFields: [String]?
    /// The identity of the bytes where the URL is not it, for example without a signature that changes hourly.
    public var key: String?
    /// Whether the response carries the original bytes too. Default false.
    public var wantsData = false
    /// Tiers that may answer with the final picture. Default all.
    public var reads: CacheTiers = .all
    /// Whether a larger picture of the same bytes in memory may answer: the same part in the same proportions, at least
    /// as many pixels, however many more. Only for requests without transformers. Default false; views, which scale what
    /// they get, allow it.
    public var allowsLarger = false
    /// Tiers that keep the final picture (disk only with ``storeFinal``). Default all.
    public var stores: CacheTiers = .all
    /// Tiers that may answer with original bytes. Default all.
    public var originalReads: CacheTiers = .all
    /// Tiers that keep original bytes. Default all.
    public var originalStores: CacheTiers = .all
    /// Whether the final picture is stored on disk as an entry of its own. Default never.
    public var storeFinal = FinalStorage.never
    /// Whether the source is asked although the same failed a short while ago. Default false; the policies
    /// ``CachePolicy/refresh`` and ``CachePolicy/reload`` ask in any case.
    public var ignoresFailures = false
    /// Where pictures are looked up and kept, instead of the manager's cache. Default nil.
    public var cache: ImageCache?
    /// Where original bytes are looked up and kept, instead of ``cache``. Default nil.
    public var originalCache: ImageCache?
    /// A Boolean value that indicates whether the request waits for its cache writes before it finishes.
    ///
    /// A request that joins another one waits for the same writes. The default is `false`, so the writes continue in
    /// the background and ``ImageTask/stored`` returns after they finish.
    public var waitsForStore = false
    /// Whether the work goes on when the Swift task that awaits it is cancelled: the picture lands in the caches all the
    /// same. ``ImageTask/cancel()`` ends it as ever. Default false.
    public var survivesOwner = false
    /// Names under which what is stored on disk can be listed and removed together. Default none.
    public var tags: Set<String> = []
    /// Limits that differ from the configuration's. Default nil.
    public var limits: Limits?
    /// Ends the request at once as overloaded where so many different ones are under way, instead of the
    /// ``ImageManagerConfiguration/queueLimit``. Default nil: that one.
    public var queueLimit: Int?
    /// The user that the image depends on.
    ///
    /// Set this property if the image depends on the user, but neither ``fields`` nor ``network`` show it. The images
    /// of different users have different entries. The key contains a hash of the value. The default is `nil`.
    public var identity: String?
    /// Time limits that differ from the downloader's. Default nil.
    public var timeouts: LoadTimeouts?
    /// The cookies, TLS configuration, credentials, and accepted responses that differ from those of the downloader.
    ///
    /// Options that are set are part of the key. They apply to HTTP only.
    public var network = NetworkOptions()
    /// When a failed load is tried again; nil (the default) for the downloader's rule.
    public var retry: RetryPolicy?
    /// The URLs to load, in this order, if ``url`` fails on the network or with a status that isn't accepted.
    ///
    /// Each request tries its own alternatives, also if it shares the download of its URL. The key remains that of
    /// ``url``. The default is empty.
    public var alternatives: [URL] = []
    /// The app's own data; not looked at.
    public var userInfo: [String: any Sendable] = [:]

    /// Makes the picture itself, in place of any loader and coder; see ``init(key:size:transformers:image:)``.
    private(set) var maker: PictureMaker?
    /// What makes two loaders one.
    private(set) var loaderIdentity = LoaderIdentity.registry
    /// What the URL says of the source: read once, because every look into memory needs it.
    private(set) var source: RequestSource
    /// Identities of ``transformers``, made once.
    private(set) var identities: [String]?

    /// A request for the picture at `url`.
    public init(_ url: URL, size: TargetSize? = nil, transformers: [any ImageTransformer]? = nil) {
        self.url = url
        self.size = size
        self.transformers = transformers
        source = RequestSource(url)
        identities = transformers?.map(\.identity)
        // Most names tell no scale; the last component as such is dear.
        scale = source.mayTellScale ? ImageScale.from(key: url.lastPathComponent) : 1
    }

    init(_ url: URL, size: TargetSize?, transformers: [any ImageTransformer]?, maker: PictureMaker?) {
        self.init(url, size: size, transformers: transformers)
        self.maker = maker
    }

    /// Has the key alone tell loads apart, for sources whose key names the bytes.
    mutating func useLoaderOfKey() { loaderIdentity = .key }

    /// Names of the ``fields`` whose values are part of the key, in lower case and sorted.
    var keyFieldNames: [String] {
        Set((varyingFields ?? fields.lines.map(\.name)).map { $0.lowercased() }).filter(isKeyField).sorted()
    }

    /// Whether the value of the field `name` (in lower case) is part of the key where the request has the field.
    func isKeyField(_ name: String) -> Bool {
        guard let varyingFields else { return !HTTPFields.namesWithoutEffectOnData.contains(name) }
        return varyingFields.contains { $0.lowercased() == name }
    }

    /// ``transformers``, as far as they apply.
    var applied: [any ImageTransformer]? {
        transformsAnimation ? transformers : transformers?.map { $0.applied(toFrames: false) }
    }

    /// Which frames of an animation. Default all, decoded on demand.
    public var frames: DecodeOptions.Frames {
        get { decoding.frames }
        set { decoding.frames = newValue }
    }

    /// All that changes pixels at decode.
    var decodeOptions: DecodeOptions {
        var options = decoding
        options.size = size
        options.scale = scale
        options.coderIdentifier = coder?.identifier
        return options
    }

    /// ``decodeOptions`` with what the URL says of the format where nothing else does. Not in the key: it follows from
    /// the source.
    var hintedOptions: DecodeOptions {
        var options = decodeOptions
        let name = url.pathExtension.lowercased()
        if options.formatHint == nil, !name.isEmpty { options.formatHint = ImageFormat(rawValue: name) }
        return options
    }
}
