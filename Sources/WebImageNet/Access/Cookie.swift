// SPDX-License-Identifier: MIT

import Foundation

/// A cookie as a jar keeps it (RFC 6265 5.3).
public struct Cookie: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value.
    public var value: String
    /// The domain in lower case, without a dot before it.
    public var domain: String
    /// Whether only the domain itself gets it, and nothing below.
    public var isHostOnly: Bool
    /// The path; it and what lies below get the cookie.
    public var path: String
    /// When it ends; nil at the end of the session.
    public var expires: Date?
    /// Whether only https gets it.
    public var isSecure: Bool
    /// Whether scripts do not see it. Of no consequence here.
    public var isHTTPOnly: Bool
    /// When it came first.
    public var created: Date

    /// Creates a cookie.
    public init(
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

    /// Whether `host` (in lower case) gets it (RFC 6265 5.1.3).
    func matches(host: String) -> Bool {
        domain == host || (!isHostOnly && host.hasSuffix(".\(domain)") && IPAddress(host: host) == nil)
    }

    /// Whether `path` gets it (RFC 6265 5.1.4).
    func matches(path other: String) -> Bool {
        guard other.hasPrefix(path) else { return false }
        return other.utf8.count == path.utf8.count || path.hasSuffix("/")
            || other.utf8.dropFirst(path.utf8.count).first == UInt8(ascii: "/")
    }
}
