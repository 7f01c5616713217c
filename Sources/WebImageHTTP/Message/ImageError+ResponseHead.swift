// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

extension ImageError.NetworkFailure {
    /// The head of the response that caused the failure, or `nil` if no response head was received.
    ///
    /// The values of `Authorization`, `Cookie`, `Proxy-Authorization`, `Set-Cookie`, and other header fields whose names
    /// indicate a secret are replaced by `<redacted>`, and URLs contain no user names and passwords. The value has no
    /// effect on whether two failures are equal.
    public var responseHead: HTTPResponseHead? {
        response.statusCode.map { HTTPResponseHead(statusCode: $0, headers: HTTPHeaderFields(response.headers)) }
    }

    /// Returns this failure with the response that caused it, without secrets and with the beginning of `body`, which
    /// has no content codings.
    package func adding(_ head: HTTPResponseHead, body: Data = Data()) -> ImageError.NetworkFailure {
        var failure = self
        failure.response = FailedResponse(
            statusCode: head.statusCode, headers: head.headers.withoutSecretValues, body: body)
        return failure
    }
}

extension ImageError.DecodingFailure {
    /// The head of the response that contained the data, without secrets, or `nil` if it's unknown.
    package var responseHead: HTTPResponseHead? {
        response.statusCode.map { HTTPResponseHead(statusCode: $0, headers: HTTPHeaderFields(response.headers)) }
    }

    /// Returns this failure with the head of the response that contained the data. Secrets are removed.
    package func adding(_ head: HTTPResponseHead) -> ImageError.DecodingFailure {
        var failure = self
        failure.response = FailedResponse(
            statusCode: head.statusCode, headers: head.headers.withoutSecretValues, body: Data())
        return failure
    }
}

extension ImageError {
    /// The head of the response that caused the error, without secrets, or `nil` if no response head was received.
    package var responseHead: HTTPResponseHead? {
        switch self {
        case .network(let failure): failure.responseHead
        case .decoding(let failure): failure.responseHead
        default: nil
        }
    }
}
