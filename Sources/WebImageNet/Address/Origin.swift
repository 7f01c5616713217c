// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The scheme, host, and port of a URL (RFC 6454).
package struct Origin: Hashable, CustomStringConvertible {
    /// The origin in the form `scheme://host:port`, with the normal form of the host and always with the port.
    package let description: String

    /// Creates the origin of a URL.
    package init(_ url: URL) {
        let scheme = url.scheme?.lowercased() ?? ""
        let port = url.port ?? (scheme == "https" ? 443 : 80)
        // A URL without a valid host is rejected before it's sent. Until then, its origin differs from all others.
        let host = HostName(of: url)?.text ?? "?\(url.host() ?? "")"
        description = "\(scheme)://\(host):\(port)"
    }
}

extension URL {
    var userInfo: String? {
        // Few URLs contain an at sign, and searching for it is cheaper than parsing.
        guard absoluteString.utf8.contains(UInt8(ascii: "@")) else { return nil }
        let (user, password) = (user(percentEncoded: true), password(percentEncoded: true))
        guard user != nil || password != nil else { return nil }
        return "\(user ?? ""):\(password ?? "")"
    }

    /// This URL without user name and password.
    package var withoutUserInfo: URL {
        guard userInfo != nil, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        parts.percentEncodedUser = nil
        parts.percentEncodedPassword = nil
        return parts.url ?? self
    }
}
