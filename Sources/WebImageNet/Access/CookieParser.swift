// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A parser for a `Set-Cookie` header field (RFC 6265 5.2 and 5.3, with the name prefixes and size limits of its
/// revision).
struct CookieParser {
    /// The maximum size of the name and the value together, in bytes.
    static let mostBytes = 4096
    /// The maximum size of an attribute value, in bytes. Longer values are ignored.
    static let mostAttributeBytes = 1024
    /// The maximum lifetime of a cookie, in seconds: 400 days.
    static let longestLife = 400.0 * 86_400

    let isPublicSuffix: @Sendable (String) -> Bool

    /// Returns the cookie in a header field that was received from `url`, or `nil` if the cookie is rejected.
    func cookie(_ field: String, from url: URL, now: Date) -> Cookie? {
        guard let host = HostName(of: url)?.text, !field.unicodeScalars.contains(where: Self.isControl) else {
            return nil
        }
        let parts = field.split(separator: ";", omittingEmptySubsequences: false)
        guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
        let name = Self.trimmed(pair[..<equals])
        let value = Self.trimmed(pair[pair.index(after: equals)...])
        // Each scalar is one byte, because header fields are read as Latin-1.
        guard !name.isEmpty, name.unicodeScalars.count + value.unicodeScalars.count <= Self.mostBytes else {
            return nil
        }
        var cookie = Cookie(name: name, value: value, domain: host, path: Self.defaultPath(of: url), created: now)
        let attributes = Self.attributes(parts.dropFirst())
        cookie.isSecure = attributes["secure"] != nil
        cookie.isHTTPOnly = attributes["httponly"] != nil
        cookie.expires = Self.end(attributes, now: now)
        if let path = attributes["path"], path.hasPrefix("/") { cookie.path = path }
        guard setDomain(attributes["domain"] ?? "", of: &cookie, host: host) else { return nil }
        // An attacker can forge a response without TLS, so it must not set a secure cookie.
        guard !cookie.isSecure || url.scheme?.lowercased() == "https" else { return nil }
        return Self.keepsPromises(cookie, hasPath: attributes["path"] == "/") ? cookie : nil
    }

    /// Sets the domain of the cookie. Returns `false` if the host may not set a cookie for the domain.
    private func setDomain(_ attribute: String, of cookie: inout Cookie, host: String) -> Bool {
        let name = attribute.hasPrefix(".") ? String(attribute.dropFirst()) : attribute
        guard !name.isEmpty else { return true }
        // An address is no domain, so it's only valid if it's the host itself (RFC 6265 5.1.3).
        guard let domain = HostName(name), domain.addressBytes == nil || name == host else { return false }
        // A cookie for a public suffix would be sent to unrelated sites. Only a host with this name may set it, and
        // only for itself (RFC 6265 5.3, step 5).
        guard !isPublicSuffix(domain.text) else { return domain.text == host }
        cookie.domain = domain.text
        cookie.isHostOnly = domain.addressBytes != nil
        return cookie.matches(host: host)
    }

    /// Returns whether the cookie meets the requirements of its name prefix (RFC 6265 revision, 4.1.3).
    private static func keepsPromises(_ cookie: Cookie, hasPath: Bool) -> Bool {
        let name = cookie.name.lowercased()
        if name.hasPrefix("__secure-") { return cookie.isSecure }
        if name.hasPrefix("__host-") { return cookie.isSecure && cookie.isHostOnly && hasPath }
        return true
    }

    /// Returns the attributes by lowercase name. If an attribute is repeated, the last value applies.
    private static func attributes(_ parts: ArraySlice<Substring>) -> [String: String] {
        var attributes: [String: String] = [:]
        for part in parts {
            let equals = part.firstIndex(of: "=") ?? part.endIndex
            let value = trimmed(part[equals...].dropFirst())
            guard value.unicodeScalars.count <= mostAttributeBytes else { continue }
            attributes[trimmed(part[..<equals]).lowercased()] = value
        }
        return attributes
    }

    /// Returns the expiration date, or `nil` for a session cookie. `Max-Age` takes precedence over `Expires`.
    private static func end(_ attributes: [String: String], now: Date) -> Date? {
        if let text = attributes["max-age"], let first = text.utf8.first, first == 45 || (48...57).contains(first),
            text.utf8.dropFirst().allSatisfy({ (48...57).contains($0) })
        {
            let seconds = Double(text) ?? 0
            // A lifetime of zero or less expires the cookie immediately (RFC 6265 5.2.2).
            return seconds <= 0 ? .distantPast : now + min(seconds, longestLife)
        }
        return attributes["expires"].flatMap(CookieDate.parse).map { min($0, now + longestLife) }
    }

    /// Returns the default path of a cookie (RFC 6265 5.1.4).
    static func defaultPath(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0 == " " || $0 == "\t" }
        let end = start.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { String(start[...$0]) } ?? ""
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        (scalar.value < 32 && scalar != "\t") || scalar.value == 127
    }
}
