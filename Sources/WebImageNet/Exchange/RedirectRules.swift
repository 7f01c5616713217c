// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// The rules for redirects (RFC 9110 15.4, Fetch 4.4), which determine the target URL, the method, and the header
/// fields.
package struct RedirectRules {
    /// The reason why a redirect isn't followed.
    enum Refusal: Error, Equatable {
        /// A response that isn't a redirect or has no valid `Location`, so it's an ordinary response.
        case none
        /// A target that isn't allowed. The string describes it.
        case refused(String)
    }

    let url: URL
    let isCrossOrigin: Bool
    let becomesGet: Bool

    private static let statuses: Set<Int> = [301, 302, 303, 307, 308]

    /// The header fields that may be sent to another origin. All others might contain secrets. The header fields that
    /// describe a body are sent with it.
    private static let harmless: Set<String> = [
        "accept", "accept-encoding", "accept-language", "cache-control", "pragma", "user-agent", "range", "if-range",
        "if-none-match", "if-modified-since", "content-type", "content-encoding", "content-language",
    ]

    /// If the target host requires HTTPS according to `strictTransport`, the target is changed to `https` before any
    /// other check (RFC 6797 8.3).
    init(
        _ head: HTTPResponseHead, method: String, from url: URL, allowsDowngrade: Bool,
        strictTransport: HSTSStore? = nil
    ) throws(Refusal) {
        guard Self.statuses.contains(head.statusCode), let location = head.headers["Location"], !location.isEmpty else {
            throw .none
        }
        guard let redirected = URLText.url(field: location, relativeTo: url) else { throw .none }
        let target = strictTransport?.upgraded(redirected) ?? redirected
        let scheme = target.scheme?.lowercased() ?? ""
        let shown = location.contains("@") ? redirected.withoutUserInfo.absoluteString : location
        guard scheme == "http" || scheme == "https", HostName(of: target) != nil else {
            throw .refused("the target is \(shown)")
        }
        let isDowngrade = url.scheme?.lowercased() == "https" && scheme == "http"
        guard allowsDowngrade || !isDowngrade else { throw .refused("the redirect leads from HTTPS to \(shown)") }
        isCrossOrigin = Origin(target) != Origin(url)
        // libcurl would send the user info as credentials, but a server must not choose what another origin receives.
        self.url = isCrossOrigin ? target.withoutUserInfo : target
        let isPostTurned = (head.statusCode == 301 || head.statusCode == 302) && method == "POST"
        becomesGet = isPostTurned || (head.statusCode == 303 && method != "GET" && method != "HEAD")
    }

    func headers(_ fields: HTTPHeaderFields) -> HTTPHeaderFields {
        isCrossOrigin ? Self.withoutSecrets(fields) : fields
    }

    /// Returns the header fields that may be sent to any origin.
    package static func withoutSecrets(_ fields: HTTPHeaderFields) -> HTTPHeaderFields {
        HTTPHeaderFields(fields.lines.filter { harmless.contains($0.name.lowercased()) })
    }
}
