// SPDX-License-Identifier: MIT

import Foundation

/// The response that caused a failure: the lines of its header section and the beginning of its body.
///
/// All values are equal, because a failure is the same failure if the server sends another date or another text.
package struct FailedResponse: Sendable, Hashable {
    /// An object with the values, because an error is copied often and most errors have no response.
    private final class Content: Sendable {
        let statusCode: Int
        let headers: [(name: String, value: String)]
        let bodyPrefix: Data

        init(statusCode: Int, headers: [(name: String, value: String)], bodyPrefix: Data) {
            self.statusCode = statusCode
            self.headers = headers
            self.bodyPrefix = bodyPrefix
        }
    }

    /// The maximum size of ``bodyPrefix``, in bytes.
    package static let maxBodyPrefixByteCount = 1 << 10

    private let content: Content?

    /// Creates the value of a failure without a response.
    package init() { content = nil }

    /// Creates the value of a failure with a response, whose header fields contain no secrets. Bytes of the body after
    /// ``maxBodyPrefixByteCount`` are dropped.
    package init(statusCode: Int, headers: [(name: String, value: String)], body: Data) {
        // Copy the bytes, because a slice would retain the complete body.
        content = Content(
            statusCode: statusCode, headers: headers, bodyPrefix: Data(Array(body.prefix(Self.maxBodyPrefixByteCount))))
    }

    /// The status code, or `nil` if there is no response.
    package var statusCode: Int? { content?.statusCode }
    /// The header fields in order.
    package var headers: [(name: String, value: String)] { content?.headers ?? [] }
    /// The beginning of the body.
    package var bodyPrefix: Data { content?.bodyPrefix ?? Data() }

    package static func == (left: FailedResponse, right: FailedResponse) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}
