// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP

/// Everything that changes what a request may send and accept. Requests of equal keys can share one exchange.
///
/// Alternatives aren't part of the key, because each request walks its own ``AlternativeSequence`` above the shared
/// exchange. Time limits and the priority aren't part of it either.
package struct ExchangeKey: Sendable, Hashable {
    private let url: String
    private let method: String
    private let body: Data
    /// Sorted by name, with lowercase names. The order of the values of one name is kept.
    private let fields: HTTPFields
    private let maxBytes: Int
    private let acceptsNotModified: Bool
    private let rules: ExchangeRules
    /// Who sends the request, with the cookies and credentials of the moment when the key was made.
    package let access: AccessIdentity

    /// Creates the key of a request.
    ///
    /// - Parameters:
    ///   - request: The request. Its alternatives and time limits don't matter.
    ///   - rules: The rules of the downloader. The request's options are applied to them.
    package init(_ request: LoadRequest, method: String = "GET", body: Data = Data(), rules: ExchangeRules) {
        url = String(request.url.absoluteString.prefix { $0 != "#" })
        self.method = method
        self.body = body
        fields = Self.normalized(request.fields)
        maxBytes = request.maxBytes
        acceptsNotModified = request.acceptsNotModified
        self.rules = rules.applying(request.network, retry: request.retry)
        access = self.rules.access
    }

    private static func normalized(_ fields: HTTPFields) -> HTTPFields {
        guard !fields.lines.isEmpty else { return fields }
        let lines = fields.lines.map { HTTPFields.Field(name: $0.name.lowercased(), value: $0.value) }.enumerated()
        let sorted = lines.sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
        return HTTPFields(sorted.map(\.element))
    }
}
