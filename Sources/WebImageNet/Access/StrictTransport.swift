// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageCore
import WebImageHTTP

/// Hosts that asked for https alone (HSTS, RFC 6797), in memory, 1000 at most. Thread-safe.
public final class StrictTransport: Sendable {
    private struct Rule {
        var end: Date
        var includesSubdomains: Bool
    }

    private let rules = Lock<[String: Rule]>([:])
    private let clock: @Sendable () -> Date
    private static let most = 1000

    /// Creates an empty store; `clock` tells the time.
    public init(clock: @escaping @Sendable () -> Date = { Date() }) { self.clock = clock }

    /// The https form of an http URL whose host asked for it; every other URL as it is.
    public func secured(_ url: URL) -> URL {
        guard url.scheme?.lowercased() == "http", let host = CookieParser.host(of: url), isKnown(host),
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return url }
        parts.scheme = "https"
        if parts.port == 80 { parts.port = nil }
        return parts.url ?? url
    }

    /// Takes the Strict-Transport-Security field of an answer; only https counts, and no host that is an address.
    public func take(_ fields: HTTPFields, from url: URL) {
        guard url.scheme?.lowercased() == "https", let host = CookieParser.host(of: url), IPAddress(host: host) == nil,
            let text = fields["Strict-Transport-Security"]
        else { return }
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
        rules.withLock { rules in
            if rules.count >= Self.most { rules = rules.filter { $0.value.end > now } }
            if seconds == 0 || rules.count >= Self.most {
                rules[host] = nil
            } else {
                rules[host] = Rule(end: now + min(seconds, 1e9), includesSubdomains: includesSubdomains)
            }
        }
    }

    private func isKnown(_ host: String) -> Bool {
        let now = clock()
        return rules.withLock { rules in
            var name = host[...]
            while true {
                if let rule = rules[String(name)], rule.end > now, rule.includesSubdomains || name.count == host.count {
                    return true
                }
                guard let dot = name.firstIndex(of: ".") else { return false }
                name = name[name.index(after: dot)...]
            }
        }
    }
}
