// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageCore
import WebImageHTTP

/// The way of one attempt from redirect to redirect. Its steps are no async functions, so that what they hold for a
/// moment takes no room in the frames of thousands of waiting tasks. Thread-safe.
final class DownloadPath: Sendable {
    private struct State {
        var hop: DownloadHop
        var visited: Set<String> = []
    }

    private let mostRedirects: Int
    private let state: Lock<State>

    init(_ request: LoadRequest, _ configuration: DownloaderConfiguration) {
        mostRedirects = configuration.maxRedirects
        state = Lock(State(hop: DownloadHop(request, configuration)))
    }

    /// What to ask next; `spent` seconds of the total time are gone.
    @inline(never)
    func order(spent: Double) throws(ImageError) -> TransferOrder {
        let hop = state.withLock { $0.hop }
        let order = try hop.transfer(spent: spent)
        let (isNew, count) = state.withLock { state in
            (state.visited.insert(order.request.url).inserted, state.visited.count)
        }
        guard isNew else { throw hop.failure(.tooManyRedirects, detail: "a loop") }
        guard count <= mostRedirects + 1 else {
            throw hop.failure(.tooManyRedirects, detail: "more than \(mostRedirects)")
        }
        return order
    }

    /// The response where `outcome` is the end of the way; nil where it goes on.
    @inline(never)
    func take(_ outcome: TransferOutcome) throws(ImageError) -> LoadResponse? {
        let answer = try outcome.get()
        let (hop, redirects) = state.withLock { ($0.hop, $0.visited.count - 1) }
        switch hop.next(answer.head) {
        case .hop(let next):
            state.withLock { $0.hop = next }
            return nil
        case .answer: return try response(answer, hop: hop, redirects: redirects)
        case .refused(let reason):
            throw hop.failure(.redirectRefused, status: answer.head.status, detail: reason)
        }
    }

    private func response(
        _ answer: TransferAnswer, hop: DownloadHop, redirects: Int
    ) throws(ImageError) -> LoadResponse {
        let status = answer.head.status
        guard hop.accepts(status) else {
            throw hop.failure(.status, status: status, retryAfter: answer.retryAfter)
        }
        guard status == 304 || !answer.body.isEmpty else { throw hop.failure(.noData, status: status) }
        var metrics = answer.metrics
        metrics.redirects = redirects
        return LoadResponse(
            head: answer.head, body: answer.body, finalURL: hop.url, requestTime: answer.requestTime,
            responseTime: answer.responseTime, metrics: metrics)
    }
}
