// SPDX-License-Identifier: MIT

import Foundation
import WebImage

extension ImageRequest {
    /// Creates a request for a key of another library, which is usually the URL as a string.
    package init(key: String, url: URL? = nil) {
        self.init(url: url ?? ImageRequest(string: key)?.url ?? URL(string: key) ?? URL(filePath: "/" + key))
        // The key of a file contains its version, so a changed file is read again.
        if !self.url.isFileURL { caching.key = key }
    }

    /// The request, which neither reads nor writes a cache.
    package var withoutCaches: ImageRequest {
        var request = self
        request.cachePolicy = .reload
        request.caching.readFrom = []
        request.caching.writeTo = []
        request.caching.originalReadFrom = []
        request.caching.originalWriteTo = []
        request.caching.bypassesFailureCache = true
        return request
    }

    /// Applies the URL, the header fields, the method, and the body of a request of Foundation. In the other libraries,
    /// they don't change the key of cached images.
    package mutating func apply(_ other: URLRequest) {
        if let other = other.url { url = other }
        for (name, value) in other.allHTTPHeaderFields ?? [:] { headers[name] = value }
        caching.keyHeaders = []
        method = other.httpMethod ?? "GET"
        body = other.httpBody ?? Data()
        if other.timeoutInterval != URLRequest(url: url).timeoutInterval {
            network.timeout = .seconds(other.timeoutInterval)
        }
        if other.cachePolicy == .reloadIgnoringLocalCacheData { cachePolicy = .reload }
        if other.cachePolicy == .returnCacheDataDontLoad { cachePolicy = .cacheOnly }
    }
}

extension WebImage.ImageTask {
    /// Delivers the events of the task on the main actor. If the task is already finished and the caller runs on the
    /// main thread, the last event is delivered before this method returns, as in the other libraries.
    package func deliver(to receive: @escaping @MainActor @Sendable (WebImage.ImageTask.Event) -> Void) {
        if let result, Thread.isMainThread { return MainActor.assumeIsolated { receive(.finished(result)) } }
        let events = self.events
        Task { @MainActor in for await event in events { receive(event) } }
    }
}

/// Calls a closure on the main actor, before this function returns if the caller runs on the main thread.
package func onMain(_ body: @escaping @MainActor @Sendable () -> Void) {
    if Thread.isMainThread { MainActor.assumeIsolated(body) } else { Task { @MainActor in body() } }
}

/// A transformer with an identity that another library determines.
package struct NamedTransformer: ImageTransformer {
    package let identifier: String
    package let appliesToAnimations: Bool
    package let appliesToVectors: Bool
    private let body: @Sendable (PixelBuffer, WebImage.ImageProcessingContext) throws -> PixelBuffer

    package init(
        _ identifier: String, appliesToAnimations: Bool = true, appliesToVectors: Bool = true,
        _ body: @escaping @Sendable (PixelBuffer, WebImage.ImageProcessingContext) throws -> PixelBuffer
    ) {
        self.identifier = identifier
        self.appliesToAnimations = appliesToAnimations
        self.appliesToVectors = appliesToVectors
        self.body = body
    }

    package func transform(
        _ pixels: PixelBuffer, context: WebImage.ImageProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        do {
            return try body(pixels, context)
        } catch let error as ImageError {
            throw error
        } catch {
            throw .processing(.transformerFailed(transformer: identifier, reason: "\(error)"))
        }
    }
}

extension ImageTransformer {
    /// Returns the transformed image, or `nil` if the transformer fails.
    package func callAsFunction(_ image: UIImage) -> UIImage? {
        (try? apply(to: image.decoded, context: .init(scale: image.decoded.scale))).map { UIImage(decoded: $0) }
    }
}

extension WebImage.ImageCache {
    /// Creates a cache in memory and in a directory. If the directory can't be used, the cache is in memory only.
    package static func named(
        _ memory: MemoryCache.Configuration, directory: URL,
        _ change: (inout DiskCache.Configuration) -> Void = { _ in }
    ) -> WebImage.ImageCache {
        var disk = DiskCache.Configuration(directory: directory)
        change(&disk)
        return WebImage.ImageCache(
            memory: MemoryCache(configuration: memory), disk: try? DiskCache(configuration: disk))
    }
}

extension Duration {
    /// Creates a duration from a time interval. Negative and infinite intervals result in the maximum, because they mean
    /// “never” in the other libraries.
    package init(interval: TimeInterval) {
        self = interval >= 0 && interval < 1e9 ? .seconds(interval) : .seconds(1_000_000_000)
    }

    /// The duration, in seconds.
    package var interval: TimeInterval { self / .seconds(1) }
}
