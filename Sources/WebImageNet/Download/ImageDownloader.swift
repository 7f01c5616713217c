// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// The loader for http and https, on libcurl. Thread-safe; share one, so that connections are shared.
///
/// Transfers wait in a queue by priority, and for places by origin. Redirects are followed under rules of
/// ``DownloaderConfiguration``; content codings are removed; sizes are limited while bytes come.
///
/// Equal requests that run at the same time share one transfer, at the highest priority of all. Each caller can be
/// canceled by itself. Requests are equal if they send the same and accept the same, with the same cookies, credentials,
/// and trust. A caller that joins a running transfer gets the head immediately and the body in one report at the end.
public final class ImageDownloader: ImageLoader {
    /// What it was created with.
    public let configuration: DownloaderConfiguration
    let transport: CurlTransport
    let partials: ResumeStore?
    let waits: RetryWaits
    /// What every download begins with.
    private let blank: DownloadBasis
    /// Loads that equal requests share.
    let jobs = DownloadJobs()

    /// Creates a downloader and its network thread.
    public init(_ configuration: DownloaderConfiguration = DownloaderConfiguration()) {
        var configuration = configuration
        configuration.maxRedirects = min(max(configuration.maxRedirects, 0), 20)
        self.configuration = configuration
        transport = CurlTransport(configuration)
        let partials = configuration.resume.map { ResumeStore($0) }
        self.partials = partials
        let keep = partials.map { partials in
            { @Sendable (point: ResumePoint, request: TransferRequest) in partials.put(point, for: request.resumeKey) }
        }
        blank = DownloadBasis(LoadRequest(url: URL(filePath: "/")), configuration, keep: keep)
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
        guard !configuration.interceptors.isEmpty || !configuration.responseInterceptors.isEmpty else {
            return try await load(blank.with(request, source: request.url), context)
        }
        return try await loadIntercepted(request, context)
    }

    /// By itself, so that its frame is not part of every waiting load's.
    @inline(never)
    private func loadIntercepted(
        _ request: LoadRequest, _ context: LoadContext
    ) async throws(ImageError) -> LoadResponse {
        let chain = InterceptorChain(
            interceptors: configuration.interceptors, responseInterceptors: configuration.responseInterceptors
        ) { [self, source = request.url] (request, context) async throws(ImageError) in
            try await load(blank.with(request, source: source), context)
        }
        return try await chain.run(request, context)
    }

    private func load(_ basis: DownloadBasis, _ context: LoadContext) async throws(ImageError) -> LoadResponse {
        guard configuration.sharesTransfers else { return try await loadAnywhere(basis, LoadRun(context)) }
        return try await loadShared(basis, context)
    }

    /// One attempt: the request and the redirects that follow.
    func follow(
        _ basis: DownloadBasis, _ policy: RetryPolicy, _ run: LoadRun, mayRepeat: Bool
    ) async throws(ImageError) -> LoadResponse {
        let path = DownloadPath(basis)
        while true {
            var order = try path.order(spent: run.spent)
            if !mayRepeat { order = order.with { $0.mayRepeat = false } }
            try await waits.waitForHost(order.request.origin, policy)
            let outcome = await exchange(order, run)
            if let response = try path.take(outcome) { return run.finished(response) }
        }
    }
}
