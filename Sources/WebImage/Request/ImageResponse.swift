// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The result of a request.
public struct ImageResponse: Sendable {
    /// The source of an image.
    public enum Source: String, Sendable, Hashable, Codable {
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

        /// Returns the origin of an image that a cache tier of the given kind served.
        static func stored(in kind: ImageCache.Tiers) -> Source { kind.contains(.disk) ? .diskCache : .cacheTier }
    }

    /// The loaded image.
    public var image: DecodedImage
    /// The original data, if the request has ``ImageRequest/includesOriginalData`` set.
    public var originalData: Data?
    /// The source of the image.
    public var source: Source
    /// The URL of the request.
    public var url: URL
    /// The URL of the response after redirects, or `nil` if it's unknown. The value is computed on each access.
    public var finalURL: URL? { storedResponse.flatMap { URL(string: $0.finalURL) } }
    /// The status code and the header fields of the response, or `nil` for sources without one.
    public var httpResponse: HTTPResponseHead? { storedResponse?.head }
    /// The response head with the metadata of the cache, or `nil` for sources without one.
    package var storedResponse: StoredResponseHead?
    /// The size of the original data, in bytes, or `nil` if only the decoded image is available.
    public var originalByteCount: Int?
    /// A Boolean value that indicates whether the image is stale.
    ///
    /// A final image is stale if the server couldn't be reached, in which case ``revalidationError`` contains the
    /// error, or if the manager revalidates the image in the background (`stale-while-revalidate`). The image of
    /// ``ImageTask/Event/cached(_:)`` can be stale during its revalidation. Cache policies that ignore the age of a
    /// response don't set this property.
    public var isStale = false
    /// The error that prevented the revalidation of a stale image.
    public var revalidationError: ImageError?
    /// The seconds spent in each stage.
    public var timings: StageTimings
    /// The times and sizes of the transfer, or `nil` if there was no transfer.
    public var metrics: NetworkMetrics?
}

/// The seconds that a request waited for each stage. Shared work counts for every request that waited for it.
public struct StageTimings: Sendable, Hashable {
    /// The time for the lookup in the disk cache, in seconds.
    public var disk: Double = 0
    /// The time for loading, in seconds, including the time in the queue.
    public var load: Double = 0
    /// The time for decoding, in seconds, including the time in the queue.
    public var decode: Double = 0
    /// The time for transforming, in seconds, including the time in the queue.
    public var transform: Double = 0
    /// The time from the call to the result, in seconds.
    public var total: Double = 0

    /// Creates timings that are all zero.
    public init() {}
}
