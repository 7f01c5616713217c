// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// Scheme, host and port (RFC 6454).
struct Origin: Hashable, CustomStringConvertible {
    /// `scheme://host:port`, in lower case, with the port always.
    let description: String

    init(_ url: URL) {
        let scheme = url.scheme?.lowercased() ?? ""
        let port = url.port ?? (scheme == "https" ? 443 : 80)
        description = "\(scheme)://\(url.host()?.lowercased() ?? ""):\(port)"
    }
}

extension URL {
    /// The user name and the password, or `nil` if the URL has neither.
    var userInfo: String? {
        // Nearly no URL has an at sign, and parsing costs more than looking for it.
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

extension ImageError {
    /// This error of a transfer of `url`, which names its URL without user name and password.
    func withoutUserInfo(of url: URL) -> ImageError {
        guard url.userInfo != nil else { return self }
        let shown = url.withoutUserInfo.absoluteString
        switch self {
        case .network(var error):
            error.url = shown
            return .network(error)
        case .limit(var error):
            if error.detail.contains("@") { error.detail = shown }
            return .limit(error)
        default: return self
        }
    }
}
