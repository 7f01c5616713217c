// SPDX-License-Identifier: MIT

/// Which copies may answer a request, and when the server is asked.
public enum CachePolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// A stored copy that is fresh by RFC 9111 answers. A stale one is shown at once as the event `.cached` while
    /// the server is asked whether it still holds. The default.
    case http
    /// Any stored copy answers, however old; the server is asked only where there is none.
    case cacheFirst = "cache-first"
    /// As if every stored copy were stale: shown first, then the server is asked.
    case refresh
    /// Stored copies are not looked at; what the server answers replaces them.
    case reload
    /// Only stored copies answer; a miss is the error ``CacheError/notInCache``.
    case cacheOnly = "cache-only"
}

/// Whether the final picture (decoded, transformed) gets an entry of its own on disk.
public enum FinalStorage: Sendable, Hashable {
    /// No; the original bytes are stored and serve every size. The default.
    case never
    /// Yes, encoded so; `.webp(lossless: true)` and `.png()` keep every pixel.
    case encoded(as: ImageEncoding)
}
