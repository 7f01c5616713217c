// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A resolver that determines the proxy for a URL. It reads the environment once, when it's created.
struct ProxyResolver: Sendable {
    private enum Rule: Sendable {
        case none
        case one(String)
        case environment([String: String])
    }

    private let rule: Rule

    /// The environment variables for proxies. `HTTP_PROXY` is excluded because the clients of a CGI program can set
    /// it.
    private static let names = [
        "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
    ]

    init(
        _ configuration: ImageDownloader.Configuration,
        environment: @autoclosure () -> [String: String] = ProcessInfo.processInfo.environment
    ) {
        switch configuration.proxy {
        case .disabled: rule = .none
        case .url(let proxy, _): rule = .one(proxy.absoluteString)
        case .environment:
            // A proxy hides the destination address from the policy, and a proxy from the environment isn't explicitly
            // trusted.
            guard configuration.addressPolicy == .any else {
                rule = .none
                return
            }
            let known = environment().filter { Self.names.contains($0.key) && !$0.value.isEmpty }
            rule = known.isEmpty ? .none : .environment(known)
        }
    }

    /// Returns the proxy for `url`, or `nil` for a direct connection.
    func proxy(for url: String) -> String? {
        switch rule {
        case .none: return nil
        case .one(let proxy): return proxy
        case .environment(let variables):
            let isSecure = url.hasPrefix("https:")
            let names = (isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
            guard let proxy = names.lazy.compactMap({ variables[$0] }).first else { return nil }
            let exceptions = variables["no_proxy"] ?? variables["NO_PROXY"] ?? ""
            return Self.isException(URL(string: url)?.host() ?? "", exceptions) ? nil : proxy
        }
    }

    /// Returns whether `host` matches a list in the format of `NO_PROXY`: `*`, hosts including their subdomains,
    /// addresses, and IPv4 networks such as `10.0.0.0/8`.
    static func isException(_ host: String, _ list: String) -> Bool {
        guard let host = HostName(host) else { return false }
        return list.split { $0 == "," || $0 == " " }.contains { entry in
            if entry == "*" { return true }
            if let slash = entry.firstIndex(of: "/") {
                return isInside(host, String(entry[..<slash]), Int(entry[entry.index(after: slash)...]))
            }
            guard let name = HostName(String(entry.hasPrefix(".") ? entry.dropFirst() : entry)) else { return false }
            return host == name || (host.addressBytes == nil && host.text.hasSuffix(".\(name.text)"))
        }
    }

    private static func isInside(_ host: HostName, _ network: String, _ bits: Int?) -> Bool {
        guard let bits, (0...32).contains(bits), let host = IPAddress(host), let network = IPAddress(host: network),
            host.bytes.count == 4, network.bytes.count == 4
        else { return false }
        return host.hasPrefix(network.bytes, bits)
    }
}
