// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP

/// Where an ``HTTPCache`` keeps answers. Keys are ``HTTPCache/key(_:)``; several answers of one key live side by side,
/// told apart by their ``VariantList/Variant``. Implementations are thread-safe, lose what they must, and never fail.
public protocol HTTPResponseStore: Sendable {
    /// The newest answer of `key` that a request with the fields `request` selects.
    func response(for key: String, matching request: HTTPFields) async -> StoredResponse?
    /// Stores the answer to a request with the fields `request`, in place of those that it selects.
    func put(_ response: StoredResponse, request: HTTPFields, for key: String) async
    /// Replaces head and selecting fields of an answer that is stored; nothing happens where it is not.
    func update(_ response: StoredResponse, for key: String) async
    /// Removes one answer.
    func remove(_ id: String, for key: String) async
    /// Removes the answers that a request with the fields `request` selects.
    func remove(matching request: HTTPFields, for key: String) async
    /// Removes all answers of `key`.
    func removeAll(for key: String) async
    /// Removes everything.
    func removeAll() async
}

/// A stored answer with its body.
public struct StoredResponse: Sendable {
    /// Its name, and what selects it.
    public var variant: VariantList.Variant
    /// Status, fields and times.
    public var head: StoredHead
    /// The whole body.
    public var body: Data

    /// Creates a stored answer.
    public init(variant: VariantList.Variant, head: StoredHead, body: Data) {
        self.variant = variant
        self.head = head
        self.body = body
    }
}
