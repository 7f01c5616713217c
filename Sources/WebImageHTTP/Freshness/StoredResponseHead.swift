// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The metadata that a cache stores for an HTTP exchange, without the body.
package struct StoredResponseHead: Sendable, Hashable, Codable {
    /// The stored status and header fields, updated by each 304 response.
    package var head: HTTPResponseHead
    /// The request header fields that the `Vary` of the response names.
    package var varyHeaders: HTTPHeaderFields
    /// The URL of the response after redirects, without user name and password.
    package var finalURL: String
    /// The time at which the request was sent (RFC 9111 4.2.3).
    package var requestTime: Date
    /// The time at which the response head was received.
    package var responseTime: Date

    /// Creates the metadata of a stored response.
    package init(
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
