// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP
import WebImageStore

/// A type that stores the responses of an ``HTTPCache``.
///
/// The keys are those of ``HTTPCache/key(_:)``. A key can have multiple responses with different
/// ``VaryIndex/Variant`` values. Implementations must be thread-safe. They may evict responses at any time and never
/// fail.
package protocol HTTPResponseStore: Sendable {
    /// Returns the newest response for `key` that matches a request with the header fields `request`.
    func response(for key: String, matching request: HTTPHeaderFields) async -> StoredResponse?
    /// Stores the response to a request with the header fields `request`, and replaces the responses that match the
    /// request.
    func put(_ response: StoredResponse, request: HTTPHeaderFields, for key: String) async
    /// Replaces the head and the selecting header fields of a stored response. Does nothing if the response isn't
    /// stored.
    func update(_ response: StoredResponse, for key: String) async
    /// Removes one response.
    func remove(_ id: String, for key: String) async
    /// Removes the responses that match a request with the header fields `request`.
    func remove(matching request: HTTPHeaderFields, for key: String) async
    /// Removes all responses for `key`.
    func removeAll(for key: String) async
    /// Removes all responses.
    func removeAll() async
}

/// A stored response with its body.
package struct StoredResponse: Sendable {
    /// The identifier of the response and the header fields that select it.
    package var variant: VaryIndex.Variant
    /// The status, the header fields, and the times.
    package var head: StoredResponseHead
    /// The complete body.
    package var body: Data

    /// Creates a stored response.
    package init(variant: VaryIndex.Variant, head: StoredResponseHead, body: Data) {
        self.variant = variant
        self.head = head
        self.body = body
    }
}

extension StoredResponse {
    /// Whether the response asks for credentials. Without its challenge, which isn't stored, it would be of no use.
    var isChallenge: Bool { head.head.statusCode == 401 || head.head.statusCode == 407 }

    /// A copy without fields for authentication, for the memory of the client.
    var withoutAuthentication: StoredResponse {
        var copy = self
        copy.head.removeAuthentication()
        return copy
    }

    /// A copy without the header fields that caches don't store on disk.
    var withoutSecrets: StoredResponse {
        var copy = self
        copy.head.removeSecrets()
        return copy
    }
}
