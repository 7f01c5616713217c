// SPDX-License-Identifier: MIT

import Foundation

/// The storage of a cookie jar, with the rules for storing, sending, and evicting cookies (RFC 6265 5.3, 5.4, 6.1).
struct CookieStorage {
    static let mostPerDomain = 50
    static let most = 3000
    /// The limits of a `Cookie` header field: its size in bytes and its number of cookies.
    static let maxHeaderBytes = 8190
    static let maxHeaderCookies = 150

    private struct CookieKey: Hashable {
        var path: String
        var name: String
    }

    private struct Entry {
        var cookie: Cookie
        var lastUse: Int
        var number: Int
    }

    private var domains: [String: [CookieKey: Entry]] = [:]
    private var count = 0
    /// The number of uses so far, which determines the order of eviction.
    private var uses = 0
    /// A number that increases with each change of the cookies that can be sent.
    private(set) var generation: UInt64 = 0

    /// Returns all unexpired cookies.
    func all(now: Date) -> [Cookie] {
        domains.values.flatMap { $0.values.map(\.cookie) }.filter { !Self.isExpired($0, now) }
            .sorted { ($0.domain, $0.path, $0.name) < ($1.domain, $1.path, $1.name) }
    }

    /// Adds a cookie. An expired cookie removes the existing cookie with the same name, domain, and path.
    mutating func insert(_ cookie: Cookie, now: Date) {
        let name = CookieKey(path: cookie.path, name: cookie.name)
        let old = domains[cookie.domain]?[name]
        if Self.isExpired(cookie, now) { return remove(cookie.domain, name) }
        uses += 1
        var entry = Entry(cookie: cookie, lastUse: uses, number: old?.number ?? uses)
        // A replacement keeps the creation time, which determines the order in which cookies are sent (RFC 6265 5.3,
        // step 11).
        if let old { entry.cookie.created = old.cookie.created } else { count += 1 }
        if old.map({ !Self.sendsSame($0.cookie, cookie) }) ?? true { generation += 1 }
        domains[cookie.domain, default: [:]][name] = entry
        if let count = domains[cookie.domain]?.count, count > Self.mostPerDomain { shrink(cookie.domain, now) }
        if count > Self.most { shrinkAll(now) }
    }

    /// Returns whether a cookie that was received without TLS would replace or shadow a secure cookie (RFC 6265
    /// revision, 5.7).
    func shadowsSecure(_ cookie: Cookie) -> Bool {
        domains.contains { domain, entries in
            let isNear =
                domain == cookie.domain || domain.hasSuffix(".\(cookie.domain)")
                || cookie.domain.hasSuffix(".\(domain)")
            return isNear
                && entries.values.contains {
                    $0.cookie.isSecure && $0.cookie.name == cookie.name && $0.cookie.matches(path: cookie.path)
                }
        }
    }

    /// Puts longer paths first and then older cookies first.
    mutating func header(host: String, path: String, isSecure: Bool, now: Date) -> String? {
        var found: [Entry] = []
        for domain in Self.domains(above: host) {
            guard let entries = domains[domain] else { continue }
            for (name, entry) in entries {
                if Self.isExpired(entry.cookie, now) {
                    remove(domain, name)
                } else if entry.cookie.matches(host: host), entry.cookie.matches(path: path),
                    isSecure || !entry.cookie.isSecure
                {
                    found.append(entry)
                }
            }
        }
        found.sort { left, right in
            let (a, b) = (left.cookie.path.utf8.count, right.cookie.path.utf8.count)
            return a == b ? left.number < right.number : a > b
        }
        var text = ""
        // libcurl has the same limits.
        for entry in found.prefix(Self.maxHeaderCookies) {
            let pair = "\(entry.cookie.name)=\(entry.cookie.value)"
            guard text.unicodeScalars.count + pair.unicodeScalars.count + 2 <= Self.maxHeaderBytes else { continue }
            text += text.isEmpty ? pair : "; \(pair)"
            uses += 1
            domains[entry.cookie.domain]?[CookieKey(path: entry.cookie.path, name: entry.cookie.name)]?.lastUse = uses
        }
        return text.isEmpty ? nil : text
    }

    mutating func removeAll() {
        let generation = generation
        self = CookieStorage()
        // The generation never decreases, because it identifies the sender of earlier requests (`AccessIdentity`).
        self.generation = generation + 1
    }

    private static func sendsSame(_ left: Cookie, _ right: Cookie) -> Bool {
        left.value == right.value && left.isSecure == right.isSecure && left.isHostOnly == right.isHostOnly
    }

    private mutating func remove(_ domain: String, _ name: CookieKey) {
        guard domains[domain]?.removeValue(forKey: name) != nil else { return }
        generation += 1
        count -= 1
        if domains[domain]?.isEmpty == true { domains[domain] = nil }
    }

    /// Removes the expired cookies of a domain and, if there are still too many, the least recently used one.
    private mutating func shrink(_ domain: String, _ now: Date) {
        for (name, entry) in domains[domain] ?? [:] where Self.isExpired(entry.cookie, now) { remove(domain, name) }
        guard let entries = domains[domain], entries.count > Self.mostPerDomain,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        else { return }
        remove(domain, oldest.key)
    }

    private mutating func shrinkAll(_ now: Date) {
        for domain in Array(domains.keys) {
            for (name, entry) in domains[domain] ?? [:] where Self.isExpired(entry.cookie, now) { remove(domain, name) }
        }
        guard count > Self.most else { return }
        let oldest = domains.flatMap { domain, entries in
            entries.map { (domain: domain, name: $0.key, lastUse: $0.value.lastUse) }
        }.min { $0.lastUse < $1.lastUse }
        if let oldest { remove(oldest.domain, oldest.name) }
    }

    private static func isExpired(_ cookie: Cookie, _ now: Date) -> Bool { cookie.expires.map { $0 <= now } ?? false }

    private static func domains(above host: String) -> [String] {
        var names = [host]
        var rest = host[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            names.append(String(rest))
        }
        return names
    }
}
