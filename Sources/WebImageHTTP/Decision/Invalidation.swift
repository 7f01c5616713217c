// SPDX-License-Identifier: MIT

import Foundation

/// Which stored answers an exchange makes worthless (RFC 9111 4.4).
public enum Invalidation {
    /// The URLs whose stored answers go after `response` to a request of `method` at `url`: none for safe methods and
    /// after errors; else `url` itself and what Location and Content-Location name at the same origin.
    public static func targets(method: String, url: URL, response: ResponseHead) -> [URL] {
        guard !RequestHead(method: method).isSafe, (200...399).contains(response.status) else { return [] }
        let named = ["Location", "Content-Location"].compactMap { response.fields[$0] }
            .compactMap { URL(string: $0, relativeTo: url)?.absoluteURL }
            .filter { isSameOrigin($0, url) }
        return [url] + named
    }

    /// Scheme, host and port alike (RFC 6454).
    private static func isSameOrigin(_ left: URL, _ right: URL) -> Bool {
        func parts(_ url: URL) -> (String?, String?, Int?) {
            let scheme = url.scheme?.lowercased()
            return (scheme, url.host()?.lowercased(), url.port ?? (scheme == "https" ? 443 : 80))
        }
        return parts(left) == parts(right)
    }
}

/// What the answer to a HEAD says about the stored answer to the GET that it stands for (RFC 9111 4.3.5).
public enum HeadEffect: Sendable, Hashable {
    /// Nothing: it is no 200.
    case none
    /// The stored answer is confirmed and takes the fields.
    case freshens
    /// The stored answer is out of date.
    case outdates

    /// What `response` to a HEAD says about `stored`, which the request selects.
    public static func make(_ response: ResponseHead, stored: StoredHead) -> HeadEffect {
        guard response.status == 200, stored.head.status == 200 else { return .none }
        for name in ["ETag", "Last-Modified", "Content-Length"] {
            guard let told = response.fields[name], told != stored.head.fields[name] else { continue }
            // A server that tells the length only to HEAD says nothing about the copy.
            if name == "Content-Length", stored.head.fields[name] == nil { continue }
            return .outdates
        }
        return .freshens
    }
}
