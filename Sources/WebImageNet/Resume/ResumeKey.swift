// SPDX-License-Identifier: MIT

import Foundation
import WebImageStore

/// Under which a part of a body is kept.
struct ResumeKey: Sendable, Hashable {
    /// The load's first URL. Redirects and alternatives lead elsewhere, but it is by this one that callers know what
    /// they want to be forgotten.
    let source: CacheKey
    /// What was asked for: URL, and every field that could matter.
    let part: CacheKey

    /// The key of a URL; fragments never reach a server.
    static func source(_ url: URL) -> CacheKey {
        CacheKey([String(url.absoluteString.prefix { $0 != "#" })])
    }

    /// The name of the part's file. All parts of one source have names that begin alike.
    var fileName: String { Self.prefix(source) + part.fileName }

    /// The beginning of the names of all parts of `source`.
    static func prefix(_ source: CacheKey) -> String { "\(source.fileName)-" }
}
