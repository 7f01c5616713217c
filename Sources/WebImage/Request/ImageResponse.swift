// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The answer to a request.
public struct ImageResponse: Sendable {
    /// Where the picture came from.
    public enum Origin: String, Sendable, Hashable, Codable {
        /// The memory cache, or data that another request was still using.
        case memory
        /// The disk cache, without asking the server.
        case disk
        /// Another tier of the cache, without asking the server.
        case remote
        /// A stored copy that the server confirmed (304).
        case revalidated
        /// A download of this request, or a download that this request waited for.
        case network
        /// A file, a data URL or an app's own loader.
        case local

        /// What a tier of this kind answered.
        static func stored(in kind: CacheTiers) -> Origin { kind.contains(.disk) ? .disk : .remote }
    }

    /// The picture.
    public var image: Image
    /// The original bytes, where the request wants them.
    public var data: Data?
    /// Where the picture came from.
    public var origin: Origin
    /// The URL of the request.
    public var url: URL
    /// The URL that answered, after redirects; nil where nothing is known of it. Made when it is asked for.
    public var finalURL: URL? { head.flatMap { URL(string: $0.finalURL) } }
    /// Status and header fields as stored; nil for sources without.
    public var head: StoredHead?
    /// Size of the original in bytes; nil where only the decoded picture is at hand.
    public var byteCount: Int?
    /// True when the picture is older than its freshness allows: the server could not be asked (``refreshError``
    /// says why), or is being asked behind this answer (`stale-while-revalidate`).
    public var isStale = false
    /// Why the server could not be asked, for a stale picture.
    public var refreshError: ImageError?
    /// Seconds spent in each stage.
    public var timings: StageTimings
    /// Times and sizes of the transfer; nil when there was none.
    public var metrics: LoadMetrics?
}

/// Seconds a request spent waiting for each stage. Work that was shared counts for every request that waited.
public struct StageTimings: Sendable, Hashable {
    /// Looking into the disk cache.
    public var disk: Double = 0
    /// Loading, the queue included.
    public var load: Double = 0
    /// Decoding, the queue included.
    public var decode: Double = 0
    /// Transforming, the queue included.
    public var transform: Double = 0
    /// From the call to the answer.
    public var total: Double = 0

    /// All zero.
    public init() {}
}
