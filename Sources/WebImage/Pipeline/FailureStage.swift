// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// Remembered failures: the negative cache. A failure answers only requests that would be sent, accepted, and decoded
/// as the one that failed.
struct FailureStage: Sendable {
    /// What produced a failure of the load: what was sent and accepted.
    private struct Load: Hashable {
        let exchange: ExchangeKey
        let loader: LoaderIdentity
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

    /// The failure that answers `plan` without anything being asked. A request with alternatives has more to ask.
    func failure(_ plan: RequestPlan) -> ImageError? {
        guard !plan.request.ignoresFailures, plan.request.alternatives.isEmpty, plan.policy != .reload,
            plan.policy != .refresh, memory.failure(for: plan.keys.data) != nil
        else { return nil }
        let load = load(plan, plan.loadRequest(plan.request.fields))
        let contexts = [FailureContext(load), FailureContext(bytes(plan, load))]
        return memory.failure(for: plan.keys.data, in: contexts)?.answer
    }

    /// Remembers why `source` gave no image, where that will still hold for a while. `source` is nil for bytes that
    /// were loaded and make no image.
    func note(_ error: ImageError, _ plan: RequestPlan, _ source: LoadRequest?) {
        guard !plan.isLocal else { return }
        if case .decode = error {
            // Which source the bytes came from would have to be known too.
            guard plan.request.alternatives.isEmpty else { return }
            let load = load(plan, plan.loadRequest(plan.request.fields))
            return memory.note(error, for: plan.keys.data, in: FailureContext(bytes(plan, load)))
        }
        let load = load(plan, source ?? plan.loadRequest(plan.request.fields))
        if case .network(let failure) = error, [401, 403, 407].contains(failure.status ?? 0),
            !load.exchange.access.isAnonymous
        {
            // Signing in changes it, here or elsewhere.
            return
        }
        memory.note(error, for: plan.keys.data, in: FailureContext(load))
    }

    /// `source` answered: what it failed with before no longer holds.
    func forget(_ plan: RequestPlan, _ source: LoadRequest) {
        guard memory.failure(for: plan.keys.data) != nil else { return }
        let load = load(plan, source)
        memory.forget(plan.keys.data, in: [FailureContext(load), FailureContext(bytes(plan, load))])
    }

    /// Conditions and what is told to caches on the way do not matter for what fails.
    private func load(_ plan: RequestPlan, _ source: LoadRequest) -> Load {
        var request = source
        request.fields = HTTPFields(
            source.fields.lines.filter { !HTTPFields.namesWithoutEffectOnData.contains($0.name.lowercased()) })
        request.acceptsNotModified = false
        request.alternatives = []
        return Load(exchange: ExchangeKey(request, rules: rules), loader: plan.request.loaderIdentity)
    }

    private func bytes(_ plan: RequestPlan, _ load: Load) -> Bytes {
        let options = plan.request.hintedOptions
        return Bytes(
            load: load, coder: plan.request.coder?.identifier, allowsPartial: options.allowsPartial,
            formatHint: options.formatHint?.rawValue, limits: plan.limits)
    }
}
