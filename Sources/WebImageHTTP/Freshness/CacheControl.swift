// SPDX-License-Identifier: MIT

/// The `Cache-Control` directives of a request or a response (RFC 9111 5.2, RFC 5861, RFC 8246).
///
/// Unknown directives are ignored. If a directive is repeated with different numbers, the smallest number applies.
package struct CacheControl: Sendable, Hashable {
    /// The upper bound of all durations, in seconds: 2^31 (RFC 9111 1.2.2).
    package static let longest = 1 << 31

    /// The values of the directives, by lowercase name. A directive without a value has an empty string as its value.
    private var directives: [String: [String]] = [:]

    /// Parses all `Cache-Control` lines of `fields`.
    package init(_ fields: HTTPHeaderFields) {
        for line in fields.values(for: "Cache-Control") {
            for member in ListHeaderParser.members(line) { add(member) }
        }
    }

    /// Parses the value of one `Cache-Control` header field.
    package init(_ value: String) {
        self.init(HTTPHeaderFields([.init(name: "Cache-Control", value: value)]))
    }

    private mutating func add(_ member: String) {
        let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0].lowercased()
        guard !name.isEmpty, name.utf8.allSatisfy(ListHeaderParser.isTokenByte) else { return }
        directives[name, default: []].append(parts.count > 1 ? String(parts[1]) : "")
    }

    /// Whether there are no directives.
    package var isEmpty: Bool { directives.isEmpty }

    private func has(_ name: String) -> Bool { directives[name] != nil }

    /// A directive without a valid number has the duration 0, because RFC 9111 4.2.1 treats it as stale. Returns `nil`
    /// if the directive is absent.
    private func seconds(_ name: String) -> Int? {
        directives[name].map { values in
            values.map { ListHeaderParser.deltaSeconds(ListHeaderParser.unquoted($0)) ?? 0 }.min() ?? 0
        }
    }

    /// Returns the header field names in `name="a, b"`, or `nil` if the directive is absent or occurs without a list.
    private func headerNames(_ name: String) -> [String]? {
        let lists = (directives[name] ?? []).filter { !$0.isEmpty }
        guard !lists.isEmpty, lists.count == directives[name]?.count else { return nil }
        return lists.flatMap { ListHeaderParser.members(ListHeaderParser.unquoted($0)) }
    }

    /// Whether no part of the exchange may be stored.
    package var noStore: Bool { has("no-store") }
    /// Whether the response must be revalidated before each use.
    ///
    /// If the directive has a list of header fields, this property is `false` and ``noCacheHeaders`` contains the list.
    package var noCache: Bool { has("no-cache") && headerNames("no-cache") == nil }
    /// The names of the header fields that must not be reused without revalidation.
    package var noCacheHeaders: [String] { headerNames("no-cache") ?? [] }
    /// Whether only a private cache may store the response.
    package var isPrivate: Bool { has("private") && headerNames("private") == nil }
    /// Whether any cache may store the response.
    package var isPublic: Bool { has("public") }
    /// Whether the response must not be used without revalidation when it's stale.
    package var mustRevalidate: Bool { has("must-revalidate") }
    /// Whether a cache that understands the status may store the response despite `no-store`.
    package var mustUnderstand: Bool { has("must-understand") }
    /// Whether the response doesn't change while it's fresh.
    package var immutable: Bool { has("immutable") }
    /// Whether the request accepts only a cached response.
    package var onlyIfCached: Bool { has("only-if-cached") }
    /// The freshness lifetime of a response in seconds. In a request, the maximum accepted age in seconds.
    package var maxAge: Int? { seconds("max-age") }
    /// The minimum remaining freshness lifetime that the request accepts, in seconds.
    package var minFresh: Int? { seconds("min-fresh") }
    /// The maximum staleness that the request accepts, in seconds. Without a number, the value is ``longest``.
    package var maxStale: Int? {
        guard let values = directives["max-stale"] else { return nil }
        return values.map {
            $0.isEmpty ? Self.longest : ListHeaderParser.deltaSeconds(ListHeaderParser.unquoted($0)) ?? 0
        }.min()
    }
    /// The period after the freshness lifetime during which the stale response may be used while it's revalidated in
    /// the background, in seconds.
    package var staleWhileRevalidate: Int? { seconds("stale-while-revalidate") }
    /// The period after the freshness lifetime during which the stale response may be used if the server fails, in
    /// seconds.
    package var staleIfError: Int? { seconds("stale-if-error") }
}
