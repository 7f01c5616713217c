// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The result of a request.
public struct ImageResponse: Sendable {
    /// The source of an image.
    public enum Source: String, Sendable, Hashable, Codable, CaseIterable {
        /// The memory cache, or data that another request was still using.
        case memoryCache
        /// The disk cache, without contacting the server.
        case diskCache
        /// Another cache tier, without contacting the server.
        case cacheTier
        /// A cached response that the server revalidated (304).
        case revalidated
        /// A download of this request, or a download that this request waited for.
        case network
        /// A file, a data URL, or a custom loader.
        case local

        fileprivate var isCache: Bool {
            switch self {
            case .memoryCache, .diskCache, .cacheTier, .revalidated: true
            case .network, .local: false
            }
        }

        static func stored(in kind: ImageCache.Tiers) -> Source { kind.contains(.disk) ? .diskCache : .cacheTier }
    }

    /// The values that few callers read. They're in an object because the frames of suspended functions contain several
    /// copies of a response.
    private struct Details: Sendable {
        var originalData: Data?
        var storedHead: StoredResponseHead?
        var originalByteCount: Int?
        var revalidationError: ImageError?
        var timings: [ImageManager.Stage: Duration] = [:]
        var metrics: NetworkMetrics?
        var freshnessPolicy: SharedHTTPCachePolicy?
        var deliveredAt: Date?
    }

    /// The loaded image.
    public var image: DecodedImage
    /// The source of the image.
    public var source: Source
    /// The URL of the request.
    public var url: URL
    /// A Boolean value that indicates whether the image is stale.
    ///
    /// A final image is stale if the server couldn't be reached, in which case ``revalidationError`` contains the
    /// error, or if the manager revalidates the image in the background (`stale-while-revalidate`). The image of
    /// ``ImageTask/Event/cached(_:)`` can be stale during its revalidation. Cache policies that ignore the age of a
    /// response don't set this property.
    public var isStale = false
    private var details: CopyOnWrite<Details>

    /// The original data, if the request has ``ImageRequest/includesOriginalData`` set.
    public var originalData: Data? {
        get { details.value.originalData }
        set { details.value.originalData = newValue }
    }
    /// The URL of the response after redirects, or `nil` if it's unknown. The value is computed on each access.
    public var finalURL: URL? { storedHead.flatMap { URL(string: $0.finalURL) } }
    /// The status code and the header fields of the response, or `nil` for sources without one.
    ///
    /// If a cache served the image, `Age` is the age of the response in seconds at the time of the delivery (RFC 9111 5.1).
    /// The value is computed on each access.
    public var httpResponse: HTTPResponseHead? {
        guard let storedHead else { return nil }
        guard source.isCache, let date = details.value.deliveredAt else { return storedHead.head }
        var head = storedHead.head
        head.headers["Age"] = storedHead.ageField(now: date)
        return head
    }
    /// The date at which the response becomes stale, or `nil` for sources without an HTTP response, which never become
    /// stale. The value is computed on each access.
    public var expiresAt: Date? {
        guard let storedHead else { return nil }
        let freshness = storedHead.freshness(
            now: storedHead.responseTime, policy: freshnessPolicy?.policy ?? HTTPCachePolicy())
        return storedHead.responseTime.addingTimeInterval(freshness.remaining)
    }
    var storedHead: StoredResponseHead? { details.value.storedHead }
    /// The size of the original data, in bytes, or `nil` if only the decoded image is available.
    public var originalByteCount: Int? {
        get { details.value.originalByteCount }
        set { details.value.originalByteCount = newValue }
    }
    /// The error that prevented the revalidation of a stale image.
    public var revalidationError: ImageError? {
        get { details.value.revalidationError }
        set { details.value.revalidationError = newValue }
    }
    /// The time that the request waited for each stage.
    ///
    /// Loading, decoding, and transforming include the time in their queues. Shared work counts for each request that
    /// waited for it. The stage ``ImageManager/Stage/request`` is the time from the start of the work to the result.
    /// Stages that the request didn't wait for have no value, so the dictionary is empty for an image in memory.
    public var timings: [ImageManager.Stage: Duration] {
        get { details.value.timings }
        set { details.value.timings = newValue }
    }
    /// The times and sizes of the transfer, or `nil` if there was no transfer.
    public var metrics: NetworkMetrics? {
        get { details.value.metrics }
        set { details.value.metrics = newValue }
    }
    /// The policy of the manager for freshness. It's an object because copying the policy costs more than a reference.
    var freshnessPolicy: SharedHTTPCachePolicy? { details.value.freshnessPolicy }

    init(
        image: DecodedImage, originalData: Data?, source: Source, url: URL, storedHead: StoredResponseHead? = nil,
        originalByteCount: Int? = nil, timings: [ImageManager.Stage: Duration] = [:], metrics: NetworkMetrics? = nil,
        freshnessPolicy: SharedHTTPCachePolicy? = nil, deliveredAt: Date? = nil
    ) {
        self.image = image
        self.source = source
        self.url = url
        details = CopyOnWrite(
            Details(
                originalData: originalData, storedHead: storedHead, originalByteCount: originalByteCount,
                timings: timings, metrics: metrics, freshnessPolicy: freshnessPolicy, deliveredAt: deliveredAt))
    }
}

/// An HTTP cache policy that responses share.
final class SharedHTTPCachePolicy: Sendable {
    let policy: HTTPCachePolicy

    init(_ policy: HTTPCachePolicy) { self.policy = policy }
}

extension ImageResponse {
    /// Creates a response, for interceptors and tests.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - url: The URL of the request.
    ///   - source: The source of the image. The default is ``Source/local``.
    public init(image: DecodedImage, url: URL, source: Source = .local) {
        self.init(image: image, originalData: nil, source: source, url: url)
    }
}
