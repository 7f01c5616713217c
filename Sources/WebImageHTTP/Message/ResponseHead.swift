// SPDX-License-Identifier: MIT

/// The status and the header fields of an HTTP response.
public struct ResponseHead: Sendable, Hashable, Codable {
    /// The three-digit status code.
    public var status: Int
    /// The header fields.
    public var fields: HTTPFields

    /// Creates a response head.
    public init(status: Int, fields: HTTPFields = HTTPFields()) {
        self.status = status
        self.fields = fields
    }
}
