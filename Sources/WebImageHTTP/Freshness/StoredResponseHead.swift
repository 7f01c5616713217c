// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The metadata that a cache stores for an HTTP exchange, without the body.
public struct StoredResponseHead: Sendable, Hashable, Codable {
    /// The stored status and header fields, updated by each 304 response.
    public var head: HTTPResponseHead
    /// The request header fields that the `Vary` of the response names.
    public var varyHeaders: HTTPHeaderFields
    /// The URL of the response after redirects, without user name and password.
    public var finalURL: String
    /// The time at which the request was sent (RFC 9111 4.2.3).
    public var requestTime: Date
    /// The time at which the response head was received.
    public var responseTime: Date

    /// Creates the metadata of a stored response.
    public init(
        head: HTTPResponseHead, varyHeaders: HTTPHeaderFields = HTTPHeaderFields(), finalURL: String, requestTime: Date,
        responseTime: Date
    ) {
        self.head = head
        self.varyHeaders = varyHeaders
        self.finalURL = URLCredentials.removed(from: finalURL)
        self.requestTime = requestTime
        self.responseTime = responseTime
    }
}
