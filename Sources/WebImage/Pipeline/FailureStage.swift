// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageNet
import WebImageStore

/// Remembered failures: the negative cache. A failure answers only requests that would be sent, accepted, and decoded
/// as the one that failed.
struct FailureStage: Sendable {
    /// What produced a failure of the load.
    private struct Load: Hashable {
        let exchange: ExchangeKey
        let loader: LoaderIdentity
        let alternatives: [String]
    }

    /// What produced a failure of the bytes.
    private struct Bytes: Hashable {
        let load: Load
        let coder: String?
        let allowsPartial: Bool
        let formatHint: String?
        let limits: Limits
    }

    let memory: FailureMemory
    let rules: ExchangeRules

    /// The failure that answers `plan` without anything being asked.
    func failure(_ plan: RequestPlan) -> ImageError? {
        guard !plan.request.ignoresFailures, plan.policy != .reload, plan.policy != .refresh,
            memory.failure(for: plan.keys.data) != nil
        else { return nil }
        return memory.failure(for: plan.keys.data, in: contexts(plan))?.answer
    }

    /// Remembers why there is no image, where that will still hold for a while.
    func note(_ error: ImageError, _ plan: RequestPlan) {
        guard !plan.isLocal else { return }
        let (load, bytes) = (self.load(plan), self.bytes(plan))
        switch error {
        case .decode: memory.note(error, for: plan.keys.data, in: FailureContext(bytes))
        case .network(let failure) where [401, 403, 407].contains(failure.status ?? 0) && !load.exchange.access.isAnonymous:
            // Signing in changes it, here or elsewhere.
            break
        default: memory.note(error, for: plan.keys.data, in: FailureContext(load))
        }
    }

    /// The same request succeeded.
    func forget(_ plan: RequestPlan) {
        guard memory.failure(for: plan.keys.data) != nil else { return }
        memory.forget(plan.keys.data, in: contexts(plan))
    }

    private func contexts(_ plan: RequestPlan) -> [FailureContext] {
        [FailureContext(load(plan)), FailureContext(bytes(plan))]
    }

    private func load(_ plan: RequestPlan) -> Load {
        Load(
            exchange: ExchangeKey(plan.loadRequest(plan.request.fields), rules: rules),
            loader: plan.request.loaderIdentity, alternatives: plan.request.alternatives.map(\.absoluteString))
    }

    private func bytes(_ plan: RequestPlan) -> Bytes {
        let options = plan.request.hintedOptions
        return Bytes(
            load: load(plan), coder: plan.request.coder?.identifier, allowsPartial: options.allowsPartial,
            formatHint: options.formatHint?.rawValue, limits: plan.limits)
    }
}
