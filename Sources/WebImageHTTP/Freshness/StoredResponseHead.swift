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
    /// The freshness lifetime of the redirects that led to the response, in seconds after ``responseTime``, or `nil` if
    /// it's unlimited.
    package internal(set) var redirectLifetime: Double?

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

    /// Creates the metadata from the values of a decoder.
    ///
    /// The lifetime of the redirects is a separate value or a header field.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        head = try values.decode(HTTPResponseHead.self, forKey: .head)
        varyHeaders = try values.decode(HTTPHeaderFields.self, forKey: .varyHeaders)
        finalURL = try values.decode(String.self, forKey: .finalURL)
        requestTime = try values.decode(Date.self, forKey: .requestTime)
        responseTime = try values.decode(Date.self, forKey: .responseTime)
        extractRedirectLifetime()
        if let lifetime = try values.decodeIfPresent(Double.self, forKey: .redirectLifetime) {
            redirectLifetime = Self.wholeSeconds(lifetime)
        }
    }
}
