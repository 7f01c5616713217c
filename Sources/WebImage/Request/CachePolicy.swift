// SPDX-License-Identifier: MIT

/// The policy that decides which cached responses serve a request and when the manager contacts the server.
public enum CachePolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// A policy that follows RFC 9111.
    ///
    /// A fresh cached response serves the request. A stale one is delivered immediately as
    /// ``ImageTask/Event/cached(_:)`` while the manager revalidates it. This is the default.
    case http
    /// A policy that uses any cached response, regardless of its age, and contacts the server only on a cache miss.
    case cacheFirst = "cache-first"
    /// A policy that treats every cached response as stale. The manager delivers it first and then revalidates it.
    case refresh
    /// A policy that ignores cached responses and replaces them with the response of the server.
    case reload
    /// A policy that uses only cached responses. A cache miss causes the error ``ImageError/CacheFailure/notInCache``.
    case cacheOnly = "cache-only"
}

/// The policy that decides whether the decoded and transformed image is stored on disk as a separate entry.
public enum FinalStorage: Sendable, Hashable {
    /// Stores only the original data, which serves requests of every size. This is the default.
    case never
    /// Stores the image in the given encoding. The encodings `.webp.lossless` and `.png` preserve every pixel.
    case encoded(as: ImageEncoding)
}
