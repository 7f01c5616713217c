// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import WebImageCore

struct ProxyAddress: Sendable, Hashable {
    /// The URL in the form that libcurl accepts.
    let text: String
    /// The normal form of the host.
    let host: String
    /// Whether the proxy uses HTTP instead of SOCKS.
    let isHTTP: Bool
    /// Whether the connection to the proxy uses TLS.
    let isSecure: Bool
    /// Whether the URL contains a user name.
    let hasCredentials: Bool

    /// Parses the URL of a proxy. The default scheme is `http`.
    init(_ text: String) {
        // With a scheme, messages of libcurl that contain the text are recognized as URLs, and their passwords removed.
        let plain = URLText.withoutIgnoredCharacters(text)
        let spelling = plain.contains("://") ? plain : "http://\(plain)"
        let url = URLText.url(spelling)
        self.text = url?.absoluteString ?? spelling
        let scheme = url?.scheme?.lowercased() ?? "http"
        host = url.flatMap { HostName(of: $0) }?.text ?? ""
        isHTTP = !scheme.hasPrefix("socks")
        isSecure = scheme == "https"
        hasCredentials = url?.user() != nil
    }
}

/// The authentication schemes of proxies.
///
/// Digest is preferred to Basic. Credentials are sent only after the first challenge of a proxy. If the proxy uses
/// Basic, they're then sent with each request.
struct ProxyAuthentication {
    /// The schemes of known proxies, as `CURLAUTH_` bits.
    private var known: [ProxyAddress: UInt] = [:]

    private static let basic: UInt = 1
    private static let digest: UInt = 2

    func schemes(_ proxy: ProxyAddress) -> UInt { known[proxy] ?? (Self.basic | Self.digest) }

    /// Returns whether the first request to `proxy` is sent without credentials to receive a challenge.
    func awaitsChallenge(_ proxy: ProxyAddress) -> Bool {
        proxy.isHTTP && proxy.hasCredentials && schemes(proxy) & Self.digest != 0
    }

    /// Records the schemes that a proxy offered (`CURLINFO_PROXYAUTH_AVAIL`).
    mutating func learn(_ offered: UInt, from proxy: ProxyAddress) {
        if offered & Self.digest != 0 {
            known[proxy] = Self.digest
        } else if offered & Self.basic != 0 {
            known[proxy] = Self.basic
        }
    }
}

extension EasyHandle {
    func prepare(_ proxy: ProxyAddress, _ tls: TLSOptions, schemes: UInt) {
        if proxy.isHTTP, proxy.hasCredentials { set(CURLOPT_PROXYAUTH, Int(schemes)) }
        if proxy.isSecure { prepare(tls, host: proxy.host, .proxy) }
    }
}
