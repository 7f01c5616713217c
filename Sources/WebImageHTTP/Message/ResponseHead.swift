// SPDX-License-Identifier: MIT

/// Status and fields of an HTTP answer.
public struct ResponseHead: Sendable, Hashable, Codable {
    /// Three digits.
    public var status: Int
    /// The fields.
    public var fields: HTTPFields

    /// Creates a head.
    public init(status: Int, fields: HTTPFields = HTTPFields()) {
        self.status = status
        self.fields = fields
    }
}
