// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore

/// The key of loads that can share one transfer.
struct DownloadKey: Hashable, Sendable {
    let exchange: ExchangeKey
    /// The URL under which resume data is stored.
    let source: URL

    // Equal exchanges rarely have different sources, so the URL isn't hashed again.
    func hash(into hasher: inout Hasher) { hasher.combine(exchange) }
}

/// The loads that equal requests share, with the reports of each load.
typealias DownloadJobs = SharedJobs<DownloadKey, LoadResponse, SharedReport, RequestPriority, ImageError>

extension ImageDownloader {
    /// Equal requests share the load of each source.
    @inline(__always)
    func loadShared(_ downloadContext: DownloadContext, _ context: LoadContext) async throws(ImageError) -> LoadResponse
    {
        guard downloadContext.request.network.alternativeURLs.isEmpty else {
            return try await loadSharedSequence(downloadContext, context)
        }
        let listener = ReportListener(observing: context)
        let response = try await loadSharedSource(downloadContext, context, listener)
        listener?.complete(response)
        return response
    }

    /// Keep this function separate, so that its stack frame isn't part of each waiting load.
    @inline(never)
    private func loadSharedSequence(
        _ downloadContext: DownloadContext, _ context: LoadContext
    ) async throws(ImageError) -> LoadResponse {
        let listener = ReportListener(observing: context)
        var sequence = AlternativeSequence(downloadContext.request, canLoad: mayLoad)
        while true {
            do {
                let present = downloadContext.with(sequence.current, source: downloadContext.source)
                let response = try await loadSharedSource(present, context, listener)
                listener?.complete(response)
                return sequence.completing(response)
            } catch {
                try sequence.advance(after: error)
                listener?.beginSource()
            }
        }
    }

    private func loadSharedSource(
        _ downloadContext: DownloadContext, _ context: LoadContext, _ listener: ReportListener?
    ) async throws(ImageError) -> LoadResponse {
        let isObserved = listener != nil
        var onUpdate: (@Sendable (SharedReport) -> Void)?
        if let listener { onUpdate = { listener.receive($0) } }
        return try await jobs.value(
            for: DownloadKey(downloadContext), priority: context.livePriority, onUpdate: onUpdate
        ) {
            [self] job -> Result<LoadResponse, ImageError> in
            let session = LoadSession(Self.context(of: job, isObserved: isObserved))
            begin(session, downloadContext)
            let result: Result<LoadResponse, ImageError>
            do throws(ImageError) {
                result = .success(try await loadWithRetries(downloadContext, session))
            } catch {
                result = .failure(error)
            }
            return loads.end(session, result)
        }
    }

    private static func context(of job: DownloadJobs.Context, isObserved: Bool) -> LoadContext {
        guard isObserved else { return LoadContext(following: job.priority) }
        let relay = ReportRelay()
        return LoadContext(following: job.priority) { job.report(relay.next($0)) }
    }
}

extension DownloadKey {
    fileprivate init(_ downloadContext: DownloadContext) {
        exchange = ExchangeKey(downloadContext.request, applied: downloadContext.rules)
        source = downloadContext.source
    }
}
