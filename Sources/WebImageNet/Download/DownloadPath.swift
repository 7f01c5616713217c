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
        var decision = HopDecision()
        var visited: [DownloadHop.Mark] = []
        var redirects: [StoredHead] = []
    }

    private let mostRedirects: Int
    private let state: Lock<State>

    init(_ basis: DownloadBasis) {
        mostRedirects = basis.configuration.maxRedirects
        state = Lock(State(hop: DownloadHop(basis)))
    }

    /// What to ask next; `spent` seconds of the total time are gone.
    @inline(never)
    func order(spent: Double) throws(ImageError) -> TransferOrder {
        let (hop, decision) = state.withLock { state in
            state.decision = HopDecision()
            return (state.hop, state.decision)
        }
        let order = try hop.transfer(spent: spent, decision)
        let mark = hop.mark(order.request)
        let isNew = state.withLock { state in
            // A list: there are few, and nearly always one.
            guard !state.visited.contains(mark) else { return false }
            state.visited.append(mark)
            return true
        }
        guard isNew else { throw hop.failure(.tooManyRedirects, detail: "a loop") }
        guard hop.redirects <= mostRedirects else {
            throw hop.failure(.tooManyRedirects, detail: "more than \(mostRedirects)")
        }
        return order
    }

    /// The response where `outcome` is the end of the way; nil where it goes on.
    @inline(never)
    func take(_ outcome: TransferOutcome) throws(ImageError) -> LoadResponse? {
        let (hop, decision) = state.withLock { ($0.hop, $0.decision) }
        let answer = try hop.answer(outcome)
        hop.learn(answer.head)
        if let again = hop.answeringChallenge(answer.head) {
            state.withLock { $0.hop = again }
            return nil
        }
        switch decision.next(hop, answer.head) {
        case .hop(let next):
            let redirect = StoredHead(
                head: answer.head, finalURL: hop.url.withoutUserInfo.absoluteString, requestTime: answer.requestTime,
                responseTime: answer.responseTime)
            state.withLock { state in
                state.hop = next
                state.redirects.append(redirect)
            }
            return nil
        case .redirectAnswer: return response(answer, hop)
        case .answer:
            try check(answer, hop)
            return response(answer, hop)
        case .refused(let reason):
            throw hop.failure(.redirectRefused, status: answer.head.status, detail: reason)
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

    private func response(_ answer: TransferAnswer, _ hop: DownloadHop) -> LoadResponse {
        var metrics = answer.metrics
        metrics.redirects = hop.redirects
        var response = LoadResponse(
            head: answer.head, body: answer.body, finalURL: hop.url.withoutUserInfo, requestTime: answer.requestTime,
            responseTime: answer.responseTime, metrics: metrics)
        response.isLengthKnown = answer.isLengthKnown
        if hop.redirects > 0 { response.redirects = state.withLock { $0.redirects } }
        return response
    }
}
