// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// What a cache remembers of an HTTP exchange besides the body.
public struct StoredHead: Sendable, Hashable, Codable {
    /// Status and fields as stored, updated by every 304.
    public var head: ResponseHead
    /// The request's fields that the answer's Vary names.
    public var varying: HTTPFields
    /// The URL that answered, after redirects, without user name and password.
    public var finalURL: String
    /// When the request was sent (RFC 9111 4.2.3).
    public var requestTime: Date
    /// When the answer's head came.
    public var responseTime: Date

    /// Creates a stored head.
    public init(
        head: ResponseHead, varying: HTTPFields = HTTPFields(), finalURL: String, requestTime: Date,
        responseTime: Date
    ) {
        self.head = head
        self.varying = varying
        self.finalURL = URLCredentials.removed(from: finalURL)
        self.requestTime = requestTime
        self.responseTime = responseTime
    }
}
