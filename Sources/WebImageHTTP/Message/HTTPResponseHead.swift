// SPDX-License-Identifier: MIT

/// The status and the header fields of an HTTP response.
public struct HTTPResponseHead: Sendable, Hashable, Codable {
    /// The three-digit status code.
    public var statusCode: Int
    /// The header fields.
    public var headers: HTTPHeaderFields

    /// Creates a response head.
    public init(statusCode: Int, headers: HTTPHeaderFields = HTTPHeaderFields()) {
        self.statusCode = statusCode
        self.headers = headers
    }
}
