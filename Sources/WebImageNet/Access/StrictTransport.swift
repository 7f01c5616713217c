// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// Hosts that asked for https alone (HSTS, RFC 6797), 1000 at most. Lives in memory; ``write(to:)`` and ``read(from:)``
/// keep it in a file. Thread-safe.
public final class StrictTransport: Sendable {
    /// What a host asked for.
    struct Rule: Equatable {
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

    /// Takes what an answer says, unless the certificate of its host was not checked under `tls` (RFC 6797 8.1).
    func take(_ head: ResponseHead, from url: URL, _ tls: TLSConfiguration) {
        guard head.fields["Strict-Transport-Security"] != nil,
            !tls.uncheckedHosts.contains(url.host()?.lowercased() ?? "")
        else { return }
        take(head.fields, from: url)
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
        guard seconds > 0 else { return rules.withLock { $0[host] = nil } }
        let rule = Rule(end: now + min(seconds, 1e9), includesSubdomains: includesSubdomains)
        rules.withLock { Self.insert(rule, host, into: &$0, now: now) }
    }

    /// The rules that have not ended.
    var known: [String: Rule] {
        let now = clock()
        return rules.withLock { $0.filter { $0.value.end > now } }
    }

    /// Puts in what is not known better: what a host itself said here counts before what was read.
    func add(_ read: [String: Rule]) {
        let now = clock()
        rules.withLock { rules in
            for (host, rule) in read where rule.end > now && rules[host] == nil {
                Self.insert(rule, host, into: &rules, now: now)
            }
        }
    }

    /// A full store takes in nobody new: forgetting a host would open the way to it.
    private static func insert(_ rule: Rule, _ host: String, into rules: inout [String: Rule], now: Date) {
        if rules.count >= most { rules = rules.filter { $0.value.end > now } }
        if rules.count < most || rules[host] != nil { rules[host] = rule }
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
