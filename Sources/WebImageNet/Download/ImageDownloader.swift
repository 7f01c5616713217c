// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// The loader for `http` and `https` URLs, which uses libcurl. Thread-safe. Share one downloader to share its
/// connections.
///
/// Transfers wait in a queue by priority until a slot for their origin is free. The downloader follows redirects
/// according to its ``ImageDownloader/Configuration``, removes content codings, and enforces size limits while it
/// receives data.
///
/// Concurrent equal requests share one transfer at the highest priority of all callers. Each caller can be canceled
/// independently. Requests are equal if they send and accept the same, with the same cookies, credentials, and trust.
/// A caller that joins a running transfer receives the head immediately and the body in one report at the end.
public final class ImageDownloader: ImageLoader {
    /// The configuration with which the downloader was created.
    public let configuration: ImageDownloader.Configuration
    let transport: CurlTransport
    let partials: PartialDownloadStore?
    let waits: RetryScheduler
    private let defaultContext: Lock<DownloadContext>
    private let mayHaveHeaderIdentity: Atomic<Bool>
    let jobs = DownloadJobs(cancelled: .cancelled)
    let loads = RunningLoads()

    /// Creates a downloader with its own network thread.
    public init(configuration: ImageDownloader.Configuration = ImageDownloader.Configuration()) {
        var configuration = configuration
        configuration.maxRedirects = min(max(configuration.maxRedirects, 0), 20)
        self.configuration = configuration
        transport = CurlTransport(configuration)
        let partials = configuration.resume.map { PartialDownloadStore($0) }
        self.partials = partials
        let keep = partials.map { partials in
            { @Sendable (point: PartialDownload, request: TransferRequest) in
                partials.put(point, for: request.resumeKey)
            }
        }
        let rules = ExchangeRules(configuration)
        mayHaveHeaderIdentity = Atomic(rules.headerIdentity != nil)
        defaultContext = Lock(DownloadContext(LoadRequest(url: URL(filePath: "/")), rules, keep: keep))
        waits = RetryScheduler(configuration.retryClock)
    }

    deinit { shutdown() }

    /// The number of running transfers, for all origins.
    public var runningCount: Int { activity.running }

    /// The number of transfers that wait for a slot, for all origins.
    public var queuedCount: Int { activity.queued }

    /// The size of response bodies in flight, in bytes, of all transfers that share
    /// ``ImageDownloader/Configuration/maxBodyBytesInFlight``.
    public var bodyBytesInFlight: Int { BodyBudget.shared(limit: configuration.maxBodyBytesInFlight).used }

    /// The number of transfers that are paused because of ``ImageDownloader/Configuration/maxBodyBytesInFlight``.
    public var pausedCount: Int { BodyBudget.shared(limit: configuration.maxBodyBytesInFlight).pausedCount }

    /// The number of running and queued transfers for all origins.
    package var activity: DownloaderActivity { transport.activity.total }

    /// Returns the number of running and queued transfers for the origin of a URL.
    package func activity(at url: URL) -> DownloaderActivity { transport.activity[Origin(url).description] }

    /// Ends all waiting and running transfers with ``ImageError/RequestFailure/managerShutDown`` and closes all
    /// connections.
    ///
    /// This method returns immediately. Later loads fail with ``ImageError/RequestFailure/managerShutDown``.
    public func shutdown() {
        transport.close()
        waits.close()
    }

    /// A Boolean value that indicates whether no transfer may start. The default is `false`.
    ///
    /// Running transfers continue. Setting this property returns immediately.
    public var isSuspended: Bool {
        get { transport.isSuspended }
        set { transport.isSuspended = newValue }
    }

    /// The header fields that are added to each request without a header field of the same name. They begin with
    /// ``ImageDownloader/Configuration/headers``.
    ///
    /// You can change them at any time. A change applies to loads that start afterward. Loads with different header
    /// fields don't share a transfer. If a redirect leads to another origin, only header fields that are safe to share
    /// are sent there.
    public var headers: HTTPHeaderFields {
        get { rules.headers }
        set {
            defaultContext.withLock { $0 = $0.replacing(headers: newValue) }
            mayHaveHeaderIdentity.store(true, ordering: .releasing)
        }
    }

    /// The maximum number of simultaneous transfers per origin over HTTP/1, which is at least 1. It begins with
    /// ``ImageDownloader/Configuration/maxConnectionsPerHost``.
    ///
    /// You can change the limit at any time. A higher limit starts waiting transfers immediately. With a lower limit,
    /// running transfers finish. Setting this property returns immediately.
    public var maxConnectionsPerHost: Int {
        get { transport.connectionLimits.perHost }
        set { transport.setConnectionLimits { $0.perHost = newValue } }
    }

    /// The maximum number of connections, which is at least 1. It begins with
    /// ``ImageDownloader/Configuration/maxConnections``.
    ///
    /// You can change the limit at any time, as with ``maxConnectionsPerHost``.
    public var maxConnections: Int {
        get { transport.connectionLimits.total }
        set { transport.setConnectionLimits { $0.total = newValue } }
    }

    /// Sets both limits for connections at the same time.
    package func setConnectionLimits(perHost: Int, total: Int) {
        transport.setConnectionLimits { $0 = ConnectionLimits(perHost: perHost, total: total) }
    }

    private var downloadContext: DownloadContext { defaultContext.withLock { $0 } }

    /// The rules of loads that start now.
    package var rules: ExchangeRules { downloadContext.defaultRules }

    /// The ``ExchangeRules/headerIdentity`` of ``rules``. This property is fast if no header field that can affect the
    /// data was ever set.
    package var headerIdentity: String? {
        mayHaveHeaderIdentity.load(ordering: .acquiring) ? rules.headerIdentity : nil
    }

    /// Returns `true` for `http` and `https` URLs.
    public func canLoad(_ url: URL) -> Bool {
        let scheme = url.scheme?.lowercased()
        return scheme == "http" || scheme == "https"
    }

    /// Loads an image over HTTP.
    ///
    /// The downloader sends reports on the network thread. If the load restarts from the beginning, it reports a
    /// second head, and the body starts again. If it resumes after the bytes received so far, there is no second head.
    ///
    /// - Throws: An ``ImageError/NetworkFailure``, including
    ///   ``ImageError/NetworkFailure/Reason/unacceptableStatusCode`` and
    ///   ``ImageError/NetworkFailure/Reason/emptyBody``. Other errors are ``ImageError/LimitFailure/Kind/encodedSize``
    ///   if the body exceeds ``LoadRequest/maxByteCount``, ``ImageError/cancelled`` if the task is canceled,
    ///   ``ImageError/RequestFailure/unsupportedScheme(_:)`` if the scheme isn't allowed, and
    ///   ``ImageError/RequestFailure/invalidURL(_:)`` or ``ImageError/RequestFailure/invalidOption(name:value:)`` if
    ///   the URL or a header field isn't valid in HTTP. Errors from interceptors are passed on.
    public func load(
        _ request: LoadRequest, context: LoadContext = LoadContext()
    ) async throws(ImageError) -> LoadResponse {
        guard isIntercepted else { return try await load(downloadContext.with(request, source: request.url), context) }
        return try await loadIntercepted(request, context)
    }

    /// Downloads the data at a URL over HTTP.
    ///
    /// - Returns: The body of the response.
    /// - Throws: The errors of ``load(_:context:)``.
    public func data(for url: URL) async throws(ImageError) -> Data { try await load(LoadRequest(url: url)).body }

    private var isIntercepted: Bool { !configuration.interceptors.isEmpty || !configuration.bodyModifiers.isEmpty }

    /// Adds a load to ``loads``. An intercepted load was added before its interceptors started.
    func begin(_ session: LoadSession, _ downloadContext: DownloadContext) {
        if !isIntercepted { loads.begin(session, downloadContext.source) }
    }

    /// Keep this function separate, so that its stack frame isn't part of each waiting load.
    @inline(never)
    private func loadIntercepted(
        _ request: LoadRequest, _ context: LoadContext
    ) async throws(ImageError) -> LoadResponse {
        let chain = InterceptorChain(
            interceptors: configuration.interceptors, responseInterceptors: configuration.bodyModifiers
        ) { [self, downloadContext, source = request.url] (request, context) async throws(ImageError) in
            try await load(downloadContext.with(request, source: source), context)
        }
        guard !Task.isCancelled else { throw .cancelled }
        // The interceptors run in their own task, so that `cancelAll()` cancels them without the caller's task.
        let session = LoadSession(context)
        loads.begin(session, request.url)
        let work: Task<Result<LoadResponse, ImageError>, Never> = Task.immediate {
            do throws(ImageError) {
                return .success(try await chain.run(request, context))
            } catch {
                return .failure(error)
            }
        }
        session.onCancel { work.cancel() }
        let result = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        return try loads.end(session, result).get()
    }

    /// Inlined so that its stack frame isn't part of each waiting load.
    @inline(__always)
    private func load(_ downloadContext: DownloadContext, _ context: LoadContext) async throws(ImageError)
        -> LoadResponse
    {
        guard configuration.sharesTransfers else { return try await loadAlone(downloadContext, context) }
        return try await loadShared(downloadContext, context)
    }

    /// Inlined so that its stack frame isn't part of each waiting load.
    @inline(__always)
    private func loadAlone(_ downloadContext: DownloadContext, _ context: LoadContext) async throws(ImageError)
        -> LoadResponse
    {
        let session = LoadSession(context)
        begin(session, downloadContext)
        let result: Result<LoadResponse, ImageError>
        do throws(ImageError) {
            result = .success(try await loadAnywhere(downloadContext, session))
        } catch {
            result = .failure(error)
        }
        return try loads.end(session, result).get()
    }

    /// Makes one attempt: the request and its redirects.
    func follow(
        _ downloadContext: DownloadContext, _ policy: RetryPolicy, _ session: LoadSession, mayRepeat: Bool
    ) async throws(ImageError) -> LoadResponse {
        let path = RedirectChain(downloadContext)
        while true {
            var transferRequest = try path.transferRequest(spent: session.spent)
            if !mayRepeat { transferRequest = transferRequest.with { $0.mayRepeat = false } }
            try await waits.waitForHost(transferRequest.request.origin, policy, for: session)
            let outcome = await exchange(transferRequest, session)
            if let response = try path.receive(outcome) { return session.finished(response) }
        }
    }
}
