// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageHTTP

/// The decision about the response to one step.
///
/// The network thread needs the decision for the body, and the exchange needs it later for the next step. The first
/// decision is stored, so the redirect policy is called only once.
final class StepDecision: Sendable {
    private let state = Lock<ExchangeStep.Next?>(nil)

    func next(_ step: ExchangeStep, _ head: HTTPResponseHead) -> ExchangeStep.Next {
        if let known = state.withLock({ $0 }) { return known }
        let next = step.decide(head)
        return state.withLock { state in
            state = state ?? next
            return state ?? next
        }
    }
}
