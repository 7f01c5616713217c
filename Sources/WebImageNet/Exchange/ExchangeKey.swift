// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP

/// The key of an exchange, which contains everything that affects what a request sends and accepts.
///
/// Requests with equal keys can share one exchange. Alternatives aren't part of the key, because each request has its
/// own ``AlternativeSequence`` above the shared exchange. Timeouts and the priority aren't part of it either.
///
/// The values are in an object because tables of running exchanges copy their keys often.
package struct ExchangeKey: Sendable, Hashable {
    private final class Values: Sendable, Hashable {
        let url: String
        let method: String
        let body: Data
        /// The header fields with lowercase names, sorted by name. Values of the same name keep their order.
        let headers: HTTPHeaderFields
        let maxBytes: Int
        let acceptsNotModified: Bool
        let rules: ExchangeRules
        let access: AccessIdentity
        /// The hash value is computed once because every table that uses the key needs it.
        private let hash: Int

        init(_ request: LoadRequest, _ rules: ExchangeRules) {
            url = ExchangeKey.withoutFragment(request.url.absoluteString)
            method = request.method
            body = request.body
            headers = ExchangeKey.normalized(request.headers)
            maxBytes = request.maxByteCount
            acceptsNotModified = request.acceptsNotModified
            self.rules = rules
            access = rules.access
            var hasher = Hasher()
            hasher.combine(url)
            hasher.combine(method)
            hasher.combine(body)
            hasher.combine(headers)
            hasher.combine(maxBytes)
            hasher.combine(acceptsNotModified)
            hasher.combine(rules)
            hasher.combine(access)
            hash = hasher.finalize()
        }

        static func == (left: Values, right: Values) -> Bool {
            left === right
                || (left.hash == right.hash && left.url == right.url && left.method == right.method
                    && left.body == right.body && left.headers == right.headers && left.maxBytes == right.maxBytes
                    && left.acceptsNotModified == right.acceptsNotModified && left.rules == right.rules
                    && left.access == right.access)
        }

        func hash(into hasher: inout Hasher) { hasher.combine(hash) }
    }

    private let values: Values

    /// The identity of the sender, with the cookies and credentials at the time when the key was created.
    package var access: AccessIdentity { values.access }

    /// Creates the key of a request, whose options are applied to `rules`. Its alternatives, timeouts, key, and custom
    /// data have no effect.
    package init(_ request: LoadRequest, rules: ExchangeRules) {
        values = Values(request, rules.applying(request.network))
    }

    /// Creates the key of a request from rules to which the options of the request have already been applied.
    init(_ request: LoadRequest, applied rules: ExchangeRules) {
        values = Values(request, rules)
    }

    private static func withoutFragment(_ url: String) -> String {
        guard let end = url.utf8.firstIndex(of: UInt8(ascii: "#")) else { return url }
        return String(url[..<end])
    }

    private static func normalized(_ fields: HTTPHeaderFields) -> HTTPHeaderFields {
        guard !fields.lines.isEmpty else { return fields }
        let lines = fields.lines.map { HTTPHeaderFields.Field(name: $0.name.lowercased(), value: $0.value) }
            .enumerated()
        let sorted = lines.sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
        return HTTPHeaderFields(sorted.map(\.element))
    }
}
