// SPDX-License-Identifier: MIT

import Foundation

/// The answers stored for one URL side by side, told apart by what their Vary names (RFC 9111 4.1). Holds what is
/// needed to choose among them; heads and bodies are elsewhere.
public struct VariantList: Sendable, Hashable, Codable {
    /// One stored answer.
    public struct Variant: Sendable, Hashable, Codable {
        /// Names the stored answer.
        public var id: String
        /// Names of the request's fields that select it, in lower case.
        public var names: [String]
        /// The fields of those names in the request it answered.
        public var selecting: HTTPFields
        /// When it came.
        public var responseTime: Date

        /// Creates a variant.
        public init(id: String, names: [String], selecting: HTTPFields, responseTime: Date) {
            self.id = id
            self.names = names
            self.selecting = selecting
            self.responseTime = responseTime
        }

        /// What selects an answer that is stored with `head`.
        public init(id: String, stored head: StoredHead) {
            self.init(
                id: id, names: head.selectingNames, selecting: head.selecting, responseTime: head.responseTime)
        }

        /// Whether a request with `fields` is answered by it.
        public func matches(_ fields: HTTPFields) -> Bool {
            names.allSatisfy { $0 != "*" && StoredHead.isAlike($0, fields, selecting) }
        }
    }

    /// Most variants of one URL; beyond, the oldest leaves.
    public static let limit = 32

    /// Oldest first.
    public private(set) var variants: [Variant] = []

    /// An empty list.
    public init() {}

    /// The variants that answer a request with `fields`, newest first (RFC 9111 4.1).
    public func matching(_ fields: HTTPFields) -> [Variant] {
        variants.filter { $0.matches(fields) }.sorted { $0.responseTime > $1.responseTime }
    }

    /// Adds the answer to a request with the fields `request`; gives the names of those that it replaces.
    public mutating func insert(_ variant: Variant, request: HTTPFields) -> [String] {
        var leaving = variants.filter { $0.id == variant.id || $0.matches(request) }.map(\.id)
        variants.removeAll { leaving.contains($0.id) }
        while variants.count >= Self.limit { leaving.append(variants.removeFirst().id) }
        variants.append(variant)
        return leaving.filter { $0 != variant.id }
    }

    /// Replaces what is known of a variant that is there. False where nothing is different now.
    public mutating func replace(_ variant: Variant) -> Bool {
        guard let index = variants.firstIndex(where: { $0.id == variant.id }), variants[index] != variant else {
            return false
        }
        variants[index] = variant
        return true
    }

    /// Takes a variant out. False where there was none.
    @discardableResult
    public mutating func remove(_ id: String) -> Bool {
        let count = variants.count
        variants.removeAll { $0.id == id }
        return variants.count < count
    }
}
