// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// A thread-safe store of hosts that require HTTPS (HSTS, RFC 6797), up to 1,000.
///
/// The store is in memory. To save it in a file, use ``save(to:)`` and ``load(from:)``.
public final class HSTSStore: Sendable {
    /// The HSTS policy of a host.
    struct Rule: Equatable {
        var end: Date
        var includesSubdomains: Bool
    }

    private let rules = Lock<[String: Rule]>([:])
    private let clock: @Sendable () -> Date
    private static let most = 1000

    /// Creates an empty store.
    public convenience init() { self.init { Date() } }

    /// Creates an empty store. The `clock` closure returns the current time.
    package init(clock: @escaping @Sendable () -> Date) { self.clock = clock }

    /// Returns the HTTPS form of an HTTP URL whose host requires HTTPS, and every other URL unchanged.
    public func upgraded(_ url: URL) -> URL {
        guard url.scheme?.lowercased() == "http", let host = HostName(of: url)?.text, isKnown(host),
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return url }
        parts.scheme = "https"
        // Port 80 becomes the port of HTTPS, and other ports remain (RFC 6797 8.3).
        if parts.port == 80 { parts.port = nil }
        return parts.url ?? url
    }

    /// Stores the HSTS policy of a response unless `tls` disables certificate checks for its host (RFC 6797 8.1).
    func receive(_ head: HTTPResponseHead, from url: URL, _ tls: TLSOptions) {
        guard head.headers["Strict-Transport-Security"] != nil,
            HostName(of: url).map({ tls.verifies($0.text) }) == true
        else { return }
        receive(head.headers, from: url)
    }

    /// Stores the policy in the `Strict-Transport-Security` header field of a response.
    ///
    /// Responses over HTTP and from hosts that are IP addresses are ignored.
    package func receive(_ fields: HTTPHeaderFields, from url: URL) {
        // An attacker can forge header fields without TLS (RFC 6797 8.1). Addresses have no policies (8.1.1).
        guard url.scheme?.lowercased() == "https", let name = HostName(of: url), name.addressBytes == nil,
            let text = fields["Strict-Transport-Security"]
        else { return }
        let host = name.text
        var seconds: Double?
        var includesSubdomains = false
        for directive in text.split(separator: ";") {
            let parts = directive.split(separator: "=", maxSplits: 1).map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: " \t\"")).lowercased()
            }
            if parts.first == "includesubdomains" { includesSubdomains = true }
            if parts.first == "max-age", parts.count == 2, parts[1].utf8.allSatisfy({ (48...57).contains($0) }) {
                seconds = Double(parts[1])
            }
        }
        guard let seconds else { return }
        let now = clock()
        // A lifetime of zero removes the policy (RFC 6797 6.1.1).
        guard seconds > 0 else { return rules.withLock { $0[host] = nil } }
        let rule = Rule(end: now + min(seconds, 1e9), includesSubdomains: includesSubdomains)
        rules.withLock { Self.insert(rule, host, into: &$0, now: now) }
    }

    /// The unexpired policies by host.
    var known: [String: Rule] {
        let now = clock()
        return rules.withLock { $0.filter { $0.value.end > now } }
    }

    /// Existing policies take precedence because they were received from the hosts.
    func add(_ read: [String: Rule]) {
        let now = clock()
        rules.withLock { rules in
            for (host, rule) in read where rule.end > now && rules[host] == nil {
                Self.insert(rule, host, into: &rules, now: now)
            }
        }
    }

    /// A full store removes expired policies and then rejects new hosts, because evicting a host would allow plain HTTP
    /// for it.
    private static func insert(_ rule: Rule, _ host: String, into rules: inout [String: Rule], now: Date) {
        if rules.count >= most { rules = rules.filter { $0.value.end > now } }
        if rules.count < most || rules[host] != nil { rules[host] = rule }
    }

    private func isKnown(_ host: String) -> Bool {
        let now = clock()
        return rules.withLock { rules in
            var name = host[...]
            while true {
                // The policy of a parent domain applies only if it includes subdomains (RFC 6797 8.2).
                if let rule = rules[String(name)], rule.end > now, rule.includesSubdomains || name.count == host.count {
                    return true
                }
                guard let dot = name.firstIndex(of: ".") else { return false }
                name = name[name.index(after: dot)...]
            }
        }
    }
}
