// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageNet
import WebImageStore

/// Makes a picture.
typealias PictureMaker = @Sendable () async throws -> Image

/// Sources besides URLs: bytes at hand, bytes that come, and pictures that the app makes itself. All go the way of every
/// other request: limits, coalescing, decoding at size, transformers, caches, previews of what comes in pieces.
extension ImageRequest {
    /// Scheme of the URLs of what is in this process's memory. Nothing of it is written to disk but what
    /// ``storeFinal`` asks for.
    static let memoryScheme = "memory"
    /// Scheme of the URLs of bytes that the app brings.
    static let sourceScheme = "source"

    /// A request for the picture in `data`.
    ///
    /// - Parameter key: names the bytes. Nil (the default) takes their digest, for which all of them are read once.
    public init(
        data: Data, key: String? = nil, size: TargetSize? = nil, transformers: [any ImageTransformer]? = nil
    ) {
        let digest = key == nil ? ContentDigest(of: data) : nil
        let name = key ?? digest.map { String($0.high, radix: 16) + "-" + String($0.low, radix: 16) } ?? ""
        self.init(Self.url(Self.memoryScheme, name), size: size, transformers: transformers)
        load(with: StreamLoader { .just(data) })
    }

    /// A request for a picture whose bytes the app brings, at once or in pieces. Called when neither memory nor disk
    /// answers, once for all who ask at the same time. They are kept on disk as a download is, without end of life; see
    /// ``originalStores``.
    ///
    /// - Parameters:
    ///   - key: names the bytes.
    ///   - stream: begins the stream; the picture is whole when it ends, and fails when it throws: an ``ImageError`` as
    ///     it is, anything else as ``RequestError/sourceFailed(reason:)``.
    public init(
        key: String, size: TargetSize? = nil, transformers: [any ImageTransformer]? = nil,
        stream: @escaping @Sendable () async throws -> AsyncThrowingStream<Data, any Error>
    ) {
        self.init(Self.url(Self.sourceScheme, key), size: size, transformers: transformers)
        load(with: StreamLoader(stream))
    }

    /// A request for a picture whose bytes the app brings at once; else as ``init(key:size:transformers:stream:)``.
    public init(
        key: String, size: TargetSize? = nil, transformers: [any ImageTransformer]? = nil,
        data: @escaping @Sendable () async throws -> Data
    ) {
        self.init(key: key, size: size, transformers: transformers) { .just(try await data()) }
    }

    /// A request for a picture that the app makes itself: drawn, captured, taken from a database of pixels. `image` is
    /// called when memory does not answer, once for all who ask at the same time, and never on a thread of the
    /// manager's: what takes long should see to threads of its own. There are no original bytes.
    ///
    /// - Parameter key: names the picture.
    public init(
        key: String, size: TargetSize? = nil, transformers: [any ImageTransformer]? = nil,
        image: @escaping @Sendable () async throws -> Image
    ) {
        self.init(Self.url(Self.memoryScheme, key), size: size, transformers: transformers, maker: image)
    }

    /// The key names what the loader brings: equal keys are one load, whatever closure comes first.
    private mutating func load(with source: StreamLoader) {
        loader = source
        useLoaderOfKey()
    }

    private static func url(_ scheme: String, _ key: String) -> URL {
        let escaped = key.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? key
        // What holds nothing but letters, digits and escapes behind its scheme always is a URL.
        return URL(string: "\(scheme):\(escaped)") ?? URL(filePath: key)
    }
}

extension AsyncThrowingStream<Data, any Error> {
    /// A stream of one piece.
    fileprivate static func just(_ data: Data) -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { continuation in
            continuation.yield(data)
            continuation.finish()
        }
    }
}
