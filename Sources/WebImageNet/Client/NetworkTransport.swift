// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// The transport over libcurl: connections, HTTP/2, TLS, proxies and address policy as in
/// ``DownloaderConfiguration``; what that says about redirects and statuses means nothing here. Thread-safe.
public final class NetworkTransport: HTTPTransport {
    private let configuration: DownloaderConfiguration
    private let transport: CurlTransport

    /// Creates a transport and its network thread.
    public init(_ configuration: DownloaderConfiguration) {
        self.configuration = configuration
        transport = CurlTransport(configuration)
    }

    deinit { transport.close() }

    /// Ends everything that runs with 1010. Returns at once.
    public func close() { transport.close() }

    /// Sends over the network.
    ///
    /// - Throws: 2xxx for the way there and back, 6001 for too many bytes, 1001 when cancelled, 1002 for a URL and
    ///   1009 for a method or fields that HTTP cannot carry.
    public func send(_ request: HTTPTransportRequest) async throws(ImageError) -> HTTPTransportResponse {
        try check(request)
        let url = try RequestChecks.asciiURL(request.url)
        var transfer = TransferRequest(url: url, origin: Origin(request.url).description)
        transfer.method = request.method
        transfer.fields = request.fields
        transfer.body = request.body
        transfer.maxBytes = request.maxBytes
        transfer.timeouts = request.timeouts ?? configuration.timeouts
        transfer.decodesParts = false
        transfer.tls = request.tls
        let context = request.context ?? LoadContext(priority: request.priority)
        let answer = try await transport.perform(
            TransferOrder(transfer), context: context, observer: { _ in }
        ).get()
        return HTTPTransportResponse(
            head: answer.head, body: answer.body, interim: answer.interim, requestTime: answer.requestTime,
            responseTime: answer.responseTime, metrics: answer.metrics)
    }

    /// A client has checked its requests; other callers may not.
    private func check(_ request: HTTPTransportRequest) throws(ImageError) {
        try RequestChecks.check(method: request.method)
        try RequestChecks.check(request.fields)
        let scheme = request.url.scheme?.lowercased()
        guard scheme == "http" || scheme == "https" else { throw .request(.invalidURL(request.url.absoluteString)) }
        guard RequestChecks.allows(request.url, configuration.addressPolicy) else {
            throw .network(NetworkError(.addressRefused, url: request.url.absoluteString, phase: .connect))
        }
    }
}
