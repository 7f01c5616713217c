// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageHTTP

/// What was decided on the answer of one step: asked on the network thread for the body's sake, and later for
/// the next step's. Keeps the first decision, so that the policy is asked once.
final class StepDecision: Sendable {
    private let state = Lock<ExchangeStep.Next?>(nil)

    func next(_ step: ExchangeStep, _ head: ResponseHead) -> ExchangeStep.Next {
        if let known = state.withLock({ $0 }) { return known }
        let next = step.decide(head)
        return state.withLock { state in
            state = state ?? next
            return state ?? next
        }
    }
}
