// SPDX-License-Identifier: MIT

import Foundation
import WebImageStore

/// The key of resume data.
struct PartialDownloadKey: Sendable, Hashable {
    /// The key of the first URL of the load. Redirects and alternatives lead to other URLs, but callers remove resume
    /// data by this one.
    let source: CacheKey
    /// The key of the request: its URL and all header fields that can affect the body.
    let part: CacheKey

    /// Returns the key of a URL without its fragment, which isn't sent to servers.
    static func source(_ url: URL) -> CacheKey {
        CacheKey([String(url.absoluteString.prefix { $0 != "#" })])
    }

    /// The file name of the part. The names of all parts of one source have the same prefix.
    var fileName: String { Self.prefix(source) + part.fileName }

    static func prefix(_ source: CacheKey) -> String { "\(source.fileName)-" }
}
