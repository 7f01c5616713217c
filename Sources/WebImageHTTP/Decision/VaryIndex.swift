// SPDX-License-Identifier: MIT

import Foundation

/// The responses that a cache stores for one URL, which differ in the request header fields that their `Vary` names
/// (RFC 9111 4.1).
///
/// The list contains only the data needed to select a variant. Response heads and bodies are stored elsewhere.
package struct VaryIndex: Sendable, Hashable, Codable {
    /// One stored response.
    package struct Variant: Sendable, Hashable, Codable {
        /// The identifier of the stored response.
        package var id: String
        /// The names of the request header fields that select the response, in lowercase.
        package var names: [String]
        /// The values of the selecting header fields in the original request.
        package var varyHeaders: HTTPHeaderFields
        /// The time at which the response was received.
        package var responseTime: Date

        /// Creates a variant.
        package init(id: String, names: [String], varyHeaders: HTTPHeaderFields, responseTime: Date) {
            self.id = id
            self.names = names
            self.varyHeaders = varyHeaders
            self.responseTime = responseTime
        }

        /// Creates the variant that represents a response stored with `head`.
        package init(id: String, stored head: StoredResponseHead) {
            self.init(
                id: id, names: head.selectingNames, varyHeaders: head.selectingHeaders, responseTime: head.responseTime)
        }

        /// Returns whether the variant matches a request with the given header fields.
        package func matches(_ fields: HTTPHeaderFields) -> Bool {
            names.allSatisfy { $0 != "*" && StoredResponseHead.isAlike($0, fields, varyHeaders) }
        }
    }

    /// The maximum number of variants of one URL. Beyond it, the list evicts the oldest variant.
    package static let limit = 32

    /// The variants, oldest first.
    package private(set) var variants: [Variant] = []

    /// Creates an empty list.
    package init() {}

    /// Returns the variants that match a request with the given header fields, newest first (RFC 9111 4.1).
    package func matching(_ fields: HTTPHeaderFields) -> [Variant] {
        variants.filter { $0.matches(fields) }.sorted { $0.responseTime > $1.responseTime }
    }

    /// Adds a variant for the response to `request`, removes the variants that it replaces and, if the list is full, the
    /// oldest ones, and returns the identifiers of the removed variants.
    package mutating func insert(_ variant: Variant, request: HTTPHeaderFields) -> [String] {
        var leaving = variants.filter { $0.id == variant.id || $0.matches(request) }.map(\.id)
        variants.removeAll { leaving.contains($0.id) }
        while variants.count >= Self.limit { leaving.append(variants.removeFirst().id) }
        variants.append(variant)
        return leaving.filter { $0 != variant.id }
    }

    /// Updates a variant that has the same identifier. Returns `false` if the list doesn't change.
    package mutating func replace(_ variant: Variant) -> Bool {
        guard let index = variants.firstIndex(where: { $0.id == variant.id }), variants[index] != variant else {
            return false
        }
        variants[index] = variant
        return true
    }

    /// Removes the variant with the given identifier. Returns `false` if there is no such variant.
    @discardableResult
    package mutating func remove(_ id: String) -> Bool {
        let count = variants.count
        variants.removeAll { $0.id == id }
        return variants.count < count
    }
}
