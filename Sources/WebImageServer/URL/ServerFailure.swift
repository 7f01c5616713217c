// SPDX-License-Identifier: MIT

/// The reason why the server doesn't process a request.
package struct ServerFailure: Error, Sendable, Hashable {
    /// The HTTP status code of the response.
    package var statusCode: Int
    /// A sentence that describes the reason to the author of the URL.
    package var reason: String
    /// The delay after which the client should repeat the request, or `nil` if the other server requested none.
    package var retryAfter: Duration?

    /// Creates a failure.
    package init(_ statusCode: Int, _ reason: String, retryAfter: Duration? = nil) {
        self.statusCode = statusCode
        self.reason = reason
        self.retryAfter = retryAfter
    }

    /// Returns a failure for a URL that isn't valid or requests something that the server doesn't support.
    static func notFound(_ reason: String) -> ServerFailure { ServerFailure(404, reason) }
}
