// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The stage that remembers failures in the negative cache. An entry applies only to requests that would be sent,
/// accepted, and decoded like the request that failed.
struct FailureStage: Sendable {
    /// The context of a failed load, which consists of the sent request, the criteria for accepting its response, and
    /// the loader.
    private struct Load: Hashable {
        let exchange: ExchangeKey
        let loader: LoaderIdentity
    }

    /// The context of data that couldn't be decoded.
    private struct Bytes: Hashable {
        let load: Load
        let coder: String?
        let allowsPartial: Bool
        let formatHint: String?
        let limits: Limits
    }

    let memory: FailureMemory
    let rules: ExchangeRules
    /// A Boolean value that indicates whether the manager has loaders of the application.
    let hasOwnLoaders: Bool

    /// Returns the failure of `plan` in the negative cache, or `nil` if the request must contact the source. A request
    /// with alternatives always contacts its sources.
    func failure(_ plan: RequestPlan) -> ImageError? {
        guard !plan.request.ignoresFailures, plan.request.alternatives.isEmpty, plan.policy != .reload,
            plan.policy != .refresh, memory.failure(for: plan.keys.data) != nil
        else { return nil }
        let load = load(plan, plan.loadRequest(plan.request.fields))
        let contexts = [FailureContext(load), FailureContext(bytes(plan, load))]
        return memory.failure(for: plan.keys.data, in: contexts)?.answer
    }

    /// Remembers the failure of `source` if the policy allows it. `source` is `nil` for loaded data that couldn't be
    /// decoded.
    func note(_ error: ImageError, _ plan: RequestPlan, _ source: LoadRequest?) {
        guard !plan.isLocal else { return }
        if case .decode = error {
            // With alternatives, the source of the data is unknown.
            guard plan.request.alternatives.isEmpty else { return }
            let load = load(plan, plan.loadRequest(plan.request.fields))
            return memory.note(error, for: plan.keys.data, in: FailureContext(bytes(plan, load)))
        }
        let load = load(plan, source ?? plan.loadRequest(plan.request.fields))
        if case .network(let failure) = error, [401, 403, 407].contains(failure.status ?? 0), mayIdentify(load, plan) {
            // The result may change when the user signs in, here or elsewhere.
            return
        }
        memory.note(error, for: plan.keys.data, in: FailureContext(load))
    }

    /// Returns whether credentials may be sent that the request itself doesn't set: from a cookie jar, a credential
    /// store, an interceptor of the downloader, or a loader of the application.
    private func mayIdentify(_ load: Load, _ plan: RequestPlan) -> Bool {
        !load.exchange.access.isAnonymous || rules.hasInterceptors || hasOwnLoaders || plan.request.loader != nil
    }

    /// Removes the failures of `source` after it responded.
    func forget(_ plan: RequestPlan, _ source: LoadRequest) {
        guard memory.failure(for: plan.keys.data) != nil else { return }
        let load = load(plan, source)
        memory.forget(plan.keys.data, in: [FailureContext(load), FailureContext(bytes(plan, load))])
    }

    /// Returns the context of a load. Conditional header fields and cache directives don't affect failures.
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
