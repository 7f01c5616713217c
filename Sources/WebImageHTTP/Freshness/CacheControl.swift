// SPDX-License-Identifier: MIT

/// The directives of a Cache-Control field, of a request or of an answer (RFC 9111 5.2, RFC 5861, RFC 8246).
/// Unknown ones are ignored; of contradicting numbers the shorter counts.
public struct CacheControl: Sendable, Hashable {
    /// Numbers of seconds stop here: 2^31 (RFC 9111 1.2.2).
    public static let longest = 1 << 31

    /// Directive names in lower case with their values; a directive without a value has an empty one.
    private var directives: [String: [String]] = [:]

    /// Reads all Cache-Control lines of `fields`.
    public init(_ fields: HTTPFields) {
        for line in fields.values(of: "Cache-Control") {
            for member in FieldList.members(line) { add(member) }
        }
    }

    /// Reads one field value.
    public init(_ value: String) {
        self.init(HTTPFields([.init(name: "Cache-Control", value: value)]))
    }

    private mutating func add(_ member: String) {
        let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0].lowercased()
        guard !name.isEmpty, name.utf8.allSatisfy(FieldList.isTokenByte) else { return }
        directives[name, default: []].append(parts.count > 1 ? String(parts[1]) : "")
    }

    /// True when nothing was said.
    public var isEmpty: Bool { directives.isEmpty }

    private func has(_ name: String) -> Bool { directives[name] != nil }

    /// Seconds of `name`; 0 when present without a usable number (RFC 9111 4.2.1 counts it as stale).
    private func seconds(_ name: String) -> Int? {
        directives[name].map { values in
            values.map { FieldList.deltaSeconds(FieldList.unquoted($0)) ?? 0 }.min() ?? 0
        }
    }

    /// Field names of `name="a, b"`; nil where the directive is absent or has no list.
    private func fieldNames(_ name: String) -> [String]? {
        let lists = (directives[name] ?? []).filter { !$0.isEmpty }
        guard !lists.isEmpty, lists.count == directives[name]?.count else { return nil }
        return lists.flatMap { FieldList.members(FieldList.unquoted($0)) }
    }

    /// Nothing of the exchange may be stored.
    public var noStore: Bool { has("no-store") }
    /// Must be revalidated before each use. A list of fields (see ``noCacheFields``) restricts it to those.
    public var noCache: Bool { has("no-cache") && fieldNames("no-cache") == nil }
    /// Fields that must not be reused without revalidation.
    public var noCacheFields: [String] { fieldNames("no-cache") ?? [] }
    /// For one user only.
    public var isPrivate: Bool { has("private") && fieldNames("private") == nil }
    /// May be stored by anybody.
    public var isPublic: Bool { has("public") }
    /// Must not be used once it is stale.
    public var mustRevalidate: Bool { has("must-revalidate") }
    /// With `no-store`: may be stored by who understands the status.
    public var mustUnderstand: Bool { has("must-understand") }
    /// The bytes must stay as they are.
    public var noTransform: Bool { has("no-transform") }
    /// Will not change while fresh.
    public var immutable: Bool { has("immutable") }
    /// Only a stored answer is wanted.
    public var onlyIfCached: Bool { has("only-if-cached") }
    /// Seconds an answer is fresh; of a request, the highest age accepted.
    public var maxAge: Int? { seconds("max-age") }
    /// Seconds of freshness the request wants to be left.
    public var minFresh: Int? { seconds("min-fresh") }
    /// Seconds past its freshness that the request accepts; ``longest`` where it names no number.
    public var maxStale: Int? {
        guard let values = directives["max-stale"] else { return nil }
        return values.map { $0.isEmpty ? Self.longest : FieldList.deltaSeconds(FieldList.unquoted($0)) ?? 0 }.min()
    }
    /// Seconds past its freshness during which it may be used while it is revalidated behind.
    public var staleWhileRevalidate: Int? { seconds("stale-while-revalidate") }
    /// Seconds past its freshness during which it may be used when the server fails.
    public var staleIfError: Int? { seconds("stale-if-error") }
}
