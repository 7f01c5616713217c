// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// The thread-safe transport over libcurl.
///
/// It uses the connections, HTTP/2, TLS, proxy, and address policy options of ``ImageDownloader/Configuration``. The
/// options for redirects and statuses have no effect.
package final class NetworkTransport: HTTPTransport {
    private let configuration: ImageDownloader.Configuration
    private let transport: CurlTransport

    /// Creates a transport with its own network thread.
    package init(_ configuration: ImageDownloader.Configuration) {
        self.configuration = configuration
        transport = CurlTransport(configuration)
    }

    deinit { transport.close() }

    /// Ends all waiting and running transfers with ``ImageError/RequestFailure/managerShutDown``. Returns immediately.
    package func close() { transport.close() }

    /// Sends a request over the network.
    ///
    /// - Throws: An ``ImageError/NetworkFailure``, ``ImageError/LimitFailure/Kind/encodedSize`` if the body exceeds the
    ///   size limit, ``ImageError/cancelled`` if the task is canceled, ``ImageError/RequestFailure/invalidURL(_:)``, or
    ///   ``ImageError/RequestFailure/invalidOption(name:value:)`` if the method or a header field isn't valid in HTTP.
    package func send(_ request: HTTPTransportRequest) async throws(ImageError) -> HTTPTransportResponse {
        try check(request)
        let url = try RequestChecks.asciiURL(request.url)
        var transfer = TransferRequest(url: url, origin: Origin(request.url).description)
        transfer.method = request.method
        transfer.headers = request.headers
        transfer.body = request.body
        transfer.maxBytes = request.maxBodySize
        transfer.timeouts = request.timeouts ?? configuration.loadTimeouts
        transfer.decodesParts = false
        transfer.tls = request.tls
        transfer.awsSignature = request.awsSignature
        if let signature = request.awsSignature {
            transfer.headers = signature.prepared(request.headers, body: request.body)
        }
        let context = request.context ?? LoadContext(priority: request.priority)
        let response = try await transport.perform(
            TransferRequestBox(transfer), context: context, observer: { _ in }
        ).get()
        return HTTPTransportResponse(
            head: response.head, body: response.body, interim: response.interim, requestTime: response.requestTime,
            responseTime: response.responseTime, metrics: response.metrics)
    }

    /// An `HTTPClient` has already checked its requests, but other callers may not have.
    private func check(_ request: HTTPTransportRequest) throws(ImageError) {
        try RequestChecks.check(method: request.method)
        try RequestChecks.check(request.headers)
        let scheme = request.url.scheme?.lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw .request(.invalidURL(URLCredentials.removed(from: request.url.absoluteString)))
        }
        if let refusal = RequestChecks.refusal(request.url, configuration) {
            throw .network(
                ImageError.NetworkFailure(
                    .addressNotAllowed, url: request.url, phase: .connecting, details: refusal))
        }
        guard RequestChecks.allows(request.url, ports: configuration.allowedPorts) else {
            throw .network(
                ImageError.NetworkFailure(
                    .addressNotAllowed, url: request.url, phase: .connecting,
                    details: RequestChecks.portDetail(request.url)))
        }
    }
}
