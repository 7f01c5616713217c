// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore

/// The key of loads that can share one transfer.
struct DownloadKey: Hashable, Sendable {
    let exchange: ExchangeKey
    /// The URL under which resume data is stored.
    let source: URL

    func hash(into hasher: inout Hasher) { hasher.combine(exchange) }
}

/// The loads that equal requests share, with the reports of each load.
typealias DownloadJobs = SharedJobs<DownloadKey, LoadResponse, SharedReport, RequestPriority, ImageError>

extension ImageDownloader {
    /// Loads from the URL of the request and then from its alternatives in order. Equal requests share each of these
    /// loads.
    @inline(never)
    func loadShared(_ basis: DownloadContext, _ context: LoadContext) async throws(ImageError) -> LoadResponse {
        let listener = ReportListener(context)
        let wantsReports = context.isObserved
        let onUpdate: @Sendable (SharedReport) -> Void = { listener.receive($0) }
        var sequence = AlternativeSequence(basis.request, canLoad: mayLoad)
        while true {
            do {
                let present = basis.with(sequence.current, source: basis.source)
                let key = DownloadKey(exchange: ExchangeKey(present.request, rules: basis.shared), source: basis.source)
                let response = try await jobs.value(
                    for: key, priority: context.livePriority, onUpdate: wantsReports ? onUpdate : nil
                ) { [self] job in
                    let run = LoadSession(Self.context(of: job, isObserved: wantsReports))
                    return await Result { () async throws(ImageError) in try await loadWithRetries(present, run) }
                }
                listener.complete(response)
                return sequence.completing(response)
            } catch {
                try sequence.advance(after: error)
                listener.beginSource()
            }
        }
    }

    /// Returns the context of the work that all callers of a load share.
    private static func context(of job: DownloadJobs.Context, isObserved: Bool) -> LoadContext {
        guard isObserved else { return LoadContext(following: job.priority) }
        let relay = ReportRelay()
        return LoadContext(following: job.priority) { job.report(relay.next($0)) }
    }
}
