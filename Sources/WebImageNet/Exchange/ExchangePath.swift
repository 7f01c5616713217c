// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// The sequence of steps of one exchange, over redirects and challenges to the final response. Thread-safe.
///
/// Its methods are synchronous, so their variables take no space in the frames of thousands of waiting tasks.
package final class ExchangePath: Sendable {
    /// The step to send next, with its decision.
    package struct Sending {
        package let step: ExchangeStep
        let decision: StepDecision
    }

    /// The end of the exchange.
    package enum Ending {
        case response
        /// A redirect that is returned as the response.
        case redirect
    }

    private struct State {
        var step: ExchangeStep
        var decision = StepDecision()
        var visited: [ExchangeStep.RedirectLoopKey] = []
        var redirects: [StoredResponseHead] = []
    }

    private let state: Lock<State>

    /// Creates the sequence that begins with a step.
    package init(_ first: ExchangeStep) { state = Lock(State(step: first)) }

    var step: ExchangeStep { state.withLock { $0.step } }
    /// The redirects that were followed, in order.
    var redirects: [StoredResponseHead] { state.withLock { $0.redirects } }

    /// Returns the step to send, with a new decision.
    package func begin() -> Sending {
        state.withLock { state in
            state.decision = StepDecision()
            return Sending(step: state.step, decision: state.decision)
        }
    }

    /// Records that `step` is sent with the header fields `fields`.
    ///
    /// - Throws: ``ImageError/NetworkFailure/Reason/tooManyRedirects`` for a redirect loop or too many redirects.
    package func record(_ step: ExchangeStep, sending fields: HTTPHeaderFields) throws(ImageError) {
        let mark = step.mark(fields)
        let isNew = state.withLock { state in
            // An array is sufficient because it rarely has more than one element.
            guard !state.visited.contains(mark) else { return false }
            state.visited.append(mark)
            return true
        }
        guard isNew else { throw step.failure(.tooManyRedirects, detail: "redirect loop") }
        let most = step.rules.configuration.maxRedirects
        guard step.redirects <= most else { throw step.failure(.tooManyRedirects, detail: "the limit is \(most)") }
    }

    /// Advances after the response to the current step.
    ///
    /// - Returns: The end of the exchange, or `nil` if another step follows.
    /// - Throws: ``ImageError/NetworkFailure/Reason/redirectNotAllowed`` for a redirect that must not be followed.
    package func advance(
        after head: HTTPResponseHead, requestTime: Date, responseTime: Date
    ) throws(ImageError) -> Ending? {
        let (step, decision) = state.withLock { ($0.step, $0.decision) }
        if let again = step.respondingToChallenge(head) {
            state.withLock { $0.step = again }
            return nil
        }
        switch decision.next(step, head) {
        case .step(let next):
            let redirect = StoredResponseHead(
                head: head, finalURL: step.url.absoluteString, requestTime: requestTime, responseTime: responseTime)
            state.withLock { state in
                state.step = next
                state.redirects.append(redirect)
            }
            return nil
        case .redirectResponse: return .redirect
        case .response: return .response
        case .refused(let reason): throw step.failure(.redirectNotAllowed, response: head, detail: reason)
        }
    }
}
