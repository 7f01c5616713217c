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
    let transport: CurlTransport
    let partials: ResumeStore?
    let waits: RetryWaits

    /// Creates a downloader and its network thread.
    public init(_ configuration: DownloaderConfiguration = DownloaderConfiguration()) {
        var configuration = configuration
        configuration.maxRedirects = min(max(configuration.maxRedirects, 0), 20)
        self.configuration = configuration
        transport = CurlTransport(configuration)
        partials = configuration.resume.map { ResumeStore($0) }
        waits = RetryWaits(configuration.retryClock)
    }

    deinit { close() }

    /// Transfers that run and wait, all origins together.
    public var activity: DownloaderActivity { transport.activity.total }

    /// Transfers that run and wait at the origin of `url`.
    public func activity(at url: URL) -> DownloaderActivity { transport.activity[Origin(url).description] }

    /// Ends everything that waits or runs with 1010 and closes all connections. Returns at once; later loads fail
    /// with 1010.
    public func close() {
        transport.close()
        waits.close()
    }

    /// Holds back every start until ``resume()``; what runs goes on. Returns at once.
    public func suspend() { transport.suspend(true) }

    /// Ends ``suspend()``. Returns at once.
    public func resume() { transport.suspend(false) }

    /// Takes http and https.
    public func canLoad(_ url: URL) -> Bool {
        let scheme = url.scheme?.lowercased()
        return scheme == "http" || scheme == "https"
    }

    /// Loads over HTTP. Reports on the network thread. A second head begins the body anew: the load was tried again
    /// from its beginning. Where it goes on behind what came before there is no second head.
    ///
    /// - Throws: 2xxx for the way there and back, 2007 for a status that is not accepted, 2021 for an empty body,
    ///   6001 for more bytes than `request.maxBytes`, 1001 when cancelled, 1009 for fields that HTTP cannot carry;
    ///   and what interceptors throw.
    public func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        let chain = InterceptorChain(
            interceptors: configuration.interceptors, responseInterceptors: configuration.responseInterceptors
        ) { [self] (request, context) async throws(ImageError) in
            try await loadAnywhere(request, LoadRun(context))
        }
        return try await chain.run(request, context)
    }

    /// One attempt: the request and the redirects that follow.
    func follow(_ request: LoadRequest, _ policy: RetryPolicy, _ run: LoadRun) async throws(ImageError) -> LoadResponse
    {
        var hop = DownloadHop(request, configuration)
        var visited: Set<String> = []
        while true {
            let decision = HopDecision()
            let transfer = try hop.transfer(spent: run.spent, decision)
            guard visited.insert(hop.mark(transfer)).inserted else {
                throw hop.failure(.tooManyRedirects, detail: "a loop")
            }
            guard hop.redirects <= configuration.maxRedirects else {
                throw hop.failure(.tooManyRedirects, detail: "more than \(configuration.maxRedirects)")
            }
            try await waits.waitForHost(transfer.origin, policy)
            var answer = try await exchange(transfer, run).get()
            hop.learn(answer.head)
            if let again = hop.answeringChallenge(answer.head) {
                hop = again
                continue
            }
            answer.metrics.redirects = hop.redirects
            switch decision.next(hop, answer.head) {
            case .hop(let next):
                hop = next
            case .redirectAnswer:
                return Self.response(answer, hop)
            case .answer:
                try check(answer, hop)
                return Self.response(answer, hop)
            case .refused(let reason):
                throw hop.failure(.redirectRefused, status: answer.head.status, detail: reason)
            }
        }
    }

    private func check(_ answer: TransferAnswer, _ hop: DownloadHop) throws(ImageError) {
        let status = answer.head.status
        guard hop.accepts(status) else { throw hop.statusFailure(answer.head, retryAfter: answer.retryAfter) }
        guard hop.acceptsType(answer.head) else {
            let type = answer.head.fields["Content-Type"] ?? "none"
            throw hop.failure(.contentTypeRefused, status: status, detail: type)
        }
        guard status == 304 || !answer.body.isEmpty else { throw hop.failure(.noData, status: status) }
    }

    private static func response(_ answer: TransferAnswer, _ hop: DownloadHop) -> LoadResponse {
        var response = LoadResponse(
            head: answer.head, body: answer.body, finalURL: hop.url, requestTime: answer.requestTime,
            responseTime: answer.responseTime, metrics: answer.metrics)
        response.isLengthKnown = answer.isLengthKnown
        return response
    }
}
