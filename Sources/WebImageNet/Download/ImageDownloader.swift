// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// The loader for http and https, on libcurl. Thread-safe; share one, so that connections are shared.
///
/// Transfers wait in a queue by priority, and for places by origin. Redirects are followed under rules of
/// ``DownloaderConfiguration``; content codings are removed; sizes are limited while bytes come.
public final class ImageDownloader: ImageLoader {
    /// What it was created with.
    public let configuration: DownloaderConfiguration
    private let transport: CurlTransport

    /// Creates a downloader and its network thread.
    public init(_ configuration: DownloaderConfiguration = DownloaderConfiguration()) {
        var configuration = configuration
        configuration.maxRedirects = min(max(configuration.maxRedirects, 0), 20)
        self.configuration = configuration
        transport = CurlTransport(configuration)
    }

    deinit { transport.close() }

    /// Transfers that run and wait, all origins together.
    public var activity: DownloaderActivity { transport.activity.total }

    /// Transfers that run and wait at the origin of `url`.
    public func activity(at url: URL) -> DownloaderActivity { transport.activity[Origin(url).description] }

    /// Ends everything that waits or runs with 1010 and closes all connections. Returns at once; later loads fail
    /// with 1010.
    public func close() { transport.close() }

    /// Takes http and https.
    public func canLoad(_ url: URL) -> Bool {
        let scheme = url.scheme?.lowercased()
        return scheme == "http" || scheme == "https"
    }

    /// Loads over HTTP. Reports on the network thread. A second head begins the body anew: a server whose content
    /// coding is broken is asked once more, without any.
    ///
    /// - Throws: 2xxx for the way there and back, 2007 for a status that is not accepted, 2021 for an empty body,
    ///   6001 for more bytes than `request.maxBytes`, 1001 when cancelled, 1009 for fields that HTTP cannot carry.
    public func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        do {
            return try await follow(DownloadHop(request, configuration, isFirst: true), request, context)
        } catch .network(let error)
            where error.reason == .contentCodingFailed && request.fields["Accept-Encoding"] == nil
        {
            // Some servers name a coding and do not apply it: once more, without any.
            var plain = request
            plain.fields["Accept-Encoding"] = "identity"
            return try await follow(DownloadHop(plain, configuration, isFirst: false), plain, context)
        }
    }

    private func follow(
        _ first: DownloadHop, _ request: LoadRequest, _ context: LoadContext
    ) async throws(ImageError) -> LoadResponse {
        var hop = first
        var spent = 0.0
        var queued = 0.0
        var visited: Set<String> = []
        while true {
            let transfer = try hop.transfer(spent: spent)
            guard visited.insert(transfer.url).inserted else { throw hop.failure(.tooManyRedirects, detail: "a loop") }
            guard visited.count <= configuration.maxRedirects + 1 else {
                throw hop.failure(.tooManyRedirects, detail: "more than \(configuration.maxRedirects)")
            }
            var answer = try await exchange(transfer, hop: hop, context).get()
            spent += answer.metrics.finished
            queued += answer.metrics.queued
            switch hop.next(answer.head) {
            case .hop(let next):
                hop = next
            case .answer:
                answer.metrics.queued = queued
                answer.metrics.redirects = visited.count - 1
                return try response(answer, hop: hop)
            case .refused(let reason):
                throw hop.failure(.redirectRefused, status: answer.head.status, detail: reason)
            }
        }
    }

    private func exchange(_ transfer: TransferRequest, hop: DownloadHop, _ context: LoadContext) async
        -> TransferOutcome
    {
        await transport.perform(transfer, context: context) { event in
            switch event {
            case .started: if hop.isFirst { context.report(.started) }
            case .head(let head, let expected): context.report(.head(head, expected: expected))
            case .body(let part): context.report(.body(part))
            }
        }
    }

    private func response(_ answer: TransferAnswer, hop: DownloadHop) throws(ImageError) -> LoadResponse {
        let status = answer.head.status
        guard hop.accepts(status) else {
            throw hop.failure(.status, status: status, retryAfter: answer.retryAfter)
        }
        guard status == 304 || !answer.body.isEmpty else { throw hop.failure(.noData, status: status) }
        var response = LoadResponse(
            head: answer.head, body: answer.body, finalURL: hop.url, requestTime: answer.requestTime,
            responseTime: answer.responseTime, metrics: answer.metrics)
        response.isLengthKnown = answer.isLengthKnown
        return response
    }
}
