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
        var transfer = TransferRequest(url: try asciiURL(request.url), origin: Origin(request.url).description)
        transfer.method = request.method
        transfer.fields = request.fields
        transfer.body = request.body
        transfer.maxBytes = request.maxBytes
        transfer.timeouts = request.timeouts ?? configuration.timeouts
        transfer.decodesParts = false
        let context = request.context ?? LoadContext(priority: request.priority)
        let answer = try await transport.perform(
            TransferOrder(transfer), context: context, observer: { _ in }
        ).get()
        return HTTPTransportResponse(
            head: answer.head, body: answer.body, interim: answer.interim, requestTime: answer.requestTime,
            responseTime: answer.responseTime, metrics: answer.metrics)
    }

    private func check(_ request: HTTPTransportRequest) throws(ImageError) {
        guard !request.method.isEmpty, request.method.utf8.allSatisfy(HeadParser.isTokenByte) else {
            throw .request(.invalidOption(name: "method", value: request.method))
        }
        for field in request.fields.lines {
            // Line breaks in a field would begin another one, or another request.
            let isValid =
                !field.name.isEmpty && field.name.utf8.allSatisfy(HeadParser.isTokenByte)
                && field.value.unicodeScalars.allSatisfy {
                    ($0.value >= 32 || $0 == "\t") && $0.value != 127 && $0.value < 256
                }
            guard isValid else {
                throw .request(.invalidOption(name: "header field \(field.name)", value: field.value))
            }
        }
        // With a proxy the connection does not show where it leads: an address in the URL itself is judged here.
        let policy = configuration.addressPolicy
        guard policy == .any || IPAddress(host: request.url.host() ?? "").map(policy.allows) ?? true else {
            throw .network(NetworkError(.addressRefused, url: request.url.absoluteString, phase: .connect))
        }
    }

    private func asciiURL(_ url: URL) throws(ImageError) -> String {
        let text = url.absoluteString.prefix { $0 != "#" }
        let scheme = url.scheme?.lowercased()
        guard scheme == "http" || scheme == "https", let host = url.host(), !host.isEmpty,
            text.utf8.allSatisfy({ (33...126).contains($0) })
        else { throw .request(.invalidURL(url.absoluteString)) }
        return String(text)
    }
}
