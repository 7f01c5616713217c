// SPDX-License-Identifier: MIT

import CCurl
import Foundation

/// What a proxy's URL says.
struct ProxyAddress: Sendable, Hashable {
    /// As libcurl takes it.
    let text: String
    /// In lower case.
    let host: String
    /// Whether it speaks HTTP, and not SOCKS.
    let isHTTP: Bool
    /// Whether it is spoken to by TLS.
    let isSecure: Bool
    /// Whether a user is named.
    let hasCredentials: Bool

    /// Without a scheme it is http.
    init(_ text: String) {
        self.text = text
        let url = URL(string: text.contains("://") ? text : "http://\(text)")
        let scheme = url?.scheme?.lowercased() ?? "http"
        host = url?.host()?.lowercased() ?? ""
        isHTTP = !scheme.hasPrefix("socks")
        isSecure = scheme == "https"
        hasCredentials = url?.user() != nil
    }
}

/// How users are shown to proxies: as the proxy asks, Digest before Basic. Nothing is shown before a proxy has asked
/// once; from then on Basic is sent right away. A value.
struct ProxyAuthentication {
    /// Bits of CURLAUTH_.
    private var known: [ProxyAddress: UInt] = [:]

    private static let basic: UInt = 1
    private static let digest: UInt = 2

    /// What may be used at `proxy`.
    func schemes(_ proxy: ProxyAddress) -> UInt { known[proxy] ?? (Self.basic | Self.digest) }

    /// Whether the first request is sent without a user, to be asked for one.
    func awaitsChallenge(_ proxy: ProxyAddress) -> Bool {
        proxy.isHTTP && proxy.hasCredentials && schemes(proxy) & Self.digest != 0
    }

    /// `offered` is what a proxy asked for: CURLINFO_PROXYAUTH_AVAIL.
    mutating func learn(_ offered: UInt, from proxy: ProxyAddress) {
        if offered & Self.digest != 0 {
            known[proxy] = Self.digest
        } else if offered & Self.basic != 0 {
            known[proxy] = Self.basic
        }
    }
}

extension EasyHandle {
    /// Sets how `proxy` is spoken to.
    func prepare(_ proxy: ProxyAddress, _ tls: TLSConfiguration, schemes: UInt) {
        if proxy.isHTTP, proxy.hasCredentials { set(CURLOPT_PROXYAUTH, Int(schemes)) }
        if proxy.isSecure { prepare(tls, host: proxy.host, .proxy) }
    }
}
