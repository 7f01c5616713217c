// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageNet
import WebImageStore

/// A closure that creates an image.
typealias ImageFactory = @Sendable () async throws -> DecodedImage

/// Sources other than URLs: data in memory, streams of data, and images that the application creates.
///
/// Like every other request, these requests use limits, coalescing, decoding at the requested size, transformers,
/// caches, and, for streams, previews.
extension ImageRequest {
    /// The URL scheme of sources in the memory of this process. The manager writes nothing of them to disk except the
    /// images that ``CachingOptions/processedEncoding`` selects.
    static let memoryScheme = "memory"
    /// The URL scheme of sources whose data the application supplies.
    static let sourceScheme = "source"

    /// Creates a request for an image whose encoded data is in memory.
    ///
    /// - Parameters:
    ///   - data: The encoded image.
    ///   - cacheKey: The name that identifies the data. The default is `nil`, which means the digest of the data.
    ///     Computing it reads all of the data once.
    public init(data: Data, cacheKey: String? = nil) {
        let digest = cacheKey == nil ? ContentDigest(of: data) : nil
        let name = cacheKey ?? digest.map { String($0.high, radix: 16) + "-" + String($0.low, radix: 16) } ?? ""
        self.init(url: Self.url(Self.memoryScheme, name))
        load(with: DataStreamLoader { .just(data) })
    }

    /// Creates a request for an image whose encoded data the application supplies as a stream.
    ///
    /// The manager calls `stream` if neither memory nor disk contains the image, and it calls the closure once for all
    /// concurrent requests with the same key. It stores the data on disk like a download, but the data never becomes
    /// stale. To change where the data is stored, set ``CachingOptions/originalWriteTo``.
    ///
    /// - Parameters:
    ///   - cacheKey: The name that identifies the data.
    ///   - stream: A closure that starts the stream. The data is complete when the stream ends. If the closure or the
    ///     stream throws an ``ImageError``, the request fails with this error. It fails with
    ///     ``ImageError/RequestFailure/sourceFailed(reason:)`` for any other error.
    public init(
        cacheKey: String, stream: @escaping @Sendable () async throws -> AsyncThrowingStream<Data, any Error>
    ) {
        self.init(url: Self.url(Self.sourceScheme, cacheKey))
        load(with: DataStreamLoader(stream))
    }

    /// Creates a request for an image whose encoded data the application supplies as a whole.
    ///
    /// Otherwise, this initializer behaves like ``init(cacheKey:stream:)``.
    public init(cacheKey: String, data: @escaping @Sendable () async throws -> Data) {
        self.init(cacheKey: cacheKey, stream: { .just(try await data()) })
    }

    /// Creates a request for an image that the application creates, for example by drawing or capturing it.
    ///
    /// The manager calls `image` if the image isn't in the memory cache, and it calls the closure once for all
    /// concurrent requests with the same key. The closure never runs on a thread of the manager, so long operations
    /// should use their own threads. Such an image has no original data.
    ///
    /// - Parameters:
    ///   - cacheKey: The name that identifies the image.
    ///   - image: A closure that creates the image.
    public init(cacheKey: String, image: @escaping @Sendable () async throws -> DecodedImage) {
        self.init(url: Self.url(Self.memoryScheme, cacheKey))
        change { $0.maker = image }
    }

    /// Sets the loader so that requests with equal keys share one load, regardless of their closures.
    private mutating func load(with source: DataStreamLoader) {
        change { values in
            values.loader = source
            values.loaderIdentity = .key
        }
    }

    private static func url(_ scheme: String, _ key: String) -> URL {
        let escaped = key.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? key
        // A string of letters, digits, and escapes after a scheme is always a valid URL, so the fallback is never used.
        return URL(string: "\(scheme):\(escaped)") ?? URL(filePath: key)
    }
}

extension AsyncThrowingStream<Data, any Error> {
    fileprivate static func just(_ data: Data) -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { continuation in
            continuation.yield(data)
            continuation.finish()
        }
    }
}
