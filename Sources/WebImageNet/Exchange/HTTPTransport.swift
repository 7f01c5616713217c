// SPDX-License-Identifier: MIT

import WebImageCore

/// A type that performs single HTTP exchanges for an `HTTPClient`, without a cache and redirects.
///
/// Implementations must be thread-safe. If the surrounding task is canceled, they must return promptly with
/// ``ImageError/cancelled``.
package protocol HTTPTransport: Sendable {
    /// Sends a request, which has passed the checks of ``ExchangeStep``, at the live priority of `context`. Returns the
    /// complete final response, regardless of its status.
    func send(_ request: TransferRequest, context: LoadContext) async throws(ImageError) -> TransferResponse
}

extension CurlTransport: HTTPTransport {
    package func send(_ request: TransferRequest, context: LoadContext) async throws(ImageError) -> TransferResponse {
        try await perform(TransferRequestBox(request), context: context, observer: { _ in }).get()
    }
}
