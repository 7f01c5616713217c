// SPDX-License-Identifier: MIT

import Foundation

/// A cookie in a cookie jar (RFC 6265 5.3).
package struct Cookie: Sendable, Hashable {
    /// The name of the cookie.
    package var name: String
    /// The value of the cookie.
    package var value: String
    /// The normal form of the domain, without a leading dot.
    package var domain: String
    /// Whether the cookie is sent only to the domain itself and not to its subdomains.
    package var isHostOnly: Bool
    /// The path. The cookie is sent for this path and the paths below it.
    package var path: String
    /// The expiration date, or `nil` if the cookie expires at the end of the session.
    package var expires: Date?
    /// Whether the cookie is sent only over HTTPS.
    package var isSecure: Bool
    /// Whether the cookie is hidden from scripts. It has no effect in this library.
    package var isHTTPOnly: Bool
    /// The time at which the cookie was first received.
    package var created: Date

    /// Creates a cookie.
    package init(
        name: String, value: String, domain: String, isHostOnly: Bool = true, path: String = "/",
        expires: Date? = nil, isSecure: Bool = false, isHTTPOnly: Bool = false, created: Date = Date()
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.created = created
    }

    /// Returns whether the cookie is sent to a host, given in the normal form (RFC 6265 5.1.3).
    func matches(host: String) -> Bool {
        domain == host || (!isHostOnly && host.hasSuffix(".\(domain)") && IPAddress(host: host) == nil)
    }

    /// Returns whether the cookie is sent for a path (RFC 6265 5.1.4).
    func matches(path other: String) -> Bool {
        guard other.hasPrefix(path) else { return false }
        return other.utf8.count == path.utf8.count || path.hasSuffix("/")
            || other.utf8.dropFirst(path.utf8.count).first == UInt8(ascii: "/")
    }
}
