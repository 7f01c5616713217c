// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The rules for invalidating stored responses after an exchange (RFC 9111 4.4).
package enum CacheInvalidation {
    /// Returns the URLs whose stored responses become invalid after `response` to a request of `method` at `url`.
    ///
    /// The result is empty for safe methods and after errors. Otherwise, it contains `url` and the same-origin URLs in
    /// `Location` and `Content-Location`.
    package static func targets(method: String, url: URL, response: HTTPResponseHead) -> [URL] {
        guard !RequestHead(method: method).isSafe, (200...399).contains(response.statusCode) else { return [] }
        var targets = [url]
        // Only URLs of the same origin count. Otherwise, a server could invalidate the responses of other servers (RFC
        // 9111 4.4).
        for value in ["Location", "Content-Location"].compactMap({ response.headers[$0] }) {
            // Applications also create URLs with Foundation, which encodes some characters in another way.
            let spellings = [
                URL(string: value, relativeTo: url)?.absoluteURL, URLText.url(field: value, relativeTo: url),
            ]
            for target in spellings.compactMap({ $0 }) where isSameOrigin(target, url) && !targets.contains(target) {
                targets.append(target)
            }
        }
        return targets
    }

    /// Returns whether two URLs have the same scheme, host, and port (RFC 6454).
    private static func isSameOrigin(_ left: URL, _ right: URL) -> Bool {
        func parts(_ url: URL) -> (String?, HostName?, Int?) {
            let scheme = url.scheme?.lowercased()
            return (scheme, HostName(of: url), url.port ?? (scheme == "https" ? 443 : 80))
        }
        return HostName(of: left) != nil && parts(left) == parts(right)
    }
}

/// The effect of a HEAD response on the stored response to the corresponding GET request (RFC 9111 4.3.5).
package enum HeadResponseEffect: Sendable, Hashable {
    /// No effect, because one of the responses doesn't have status 200.
    case none
    /// A revalidation that updates the header fields of the stored response.
    case freshens
    /// An invalidation, because the stored response is outdated.
    case outdates

    /// Returns the effect of a HEAD response on the stored response that the request selects.
    package static func make(_ response: HTTPResponseHead, stored: StoredResponseHead) -> HeadResponseEffect {
        guard response.statusCode == 200, stored.head.statusCode == 200 else { return .none }
        for name in ["ETag", "Last-Modified", "Content-Length"] {
            guard let reported = response.headers[name], reported != stored.head.headers[name] else { continue }
            // The stored response may lack `Content-Length` if the server sends it only for HEAD. This isn't a
            // difference.
            if name == "Content-Length", stored.head.headers[name] == nil { continue }
            return .outdates
        }
        return .freshens
    }
}
