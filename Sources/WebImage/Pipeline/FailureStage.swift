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
        let loaders: Int
    }

    /// The context of data that couldn't be decoded or that exceeded a limit.
    private struct Bytes: Hashable {
        let load: Load
        let coder: String?
        let coders: Int
        let allowsPartial: Bool
        let formatHint: String?
        let limits: ImageLimits
    }

    let memory: FailureCache

    /// A request with alternatives always contacts its sources.
    func failure(_ plan: RequestPlan) -> ImageError? {
        guard !plan.request.caching.bypassesFailureCache, plan.request.network.alternativeURLs.isEmpty,
            plan.policy.usesUnconfirmed, memory.failure(for: plan.keys.data) != nil
        else { return nil }
        let load = load(plan, plan.loadRequest(plan.request.headers))
        let contexts = [FailureContext(load), FailureContext(bytes(plan, load))]
        return memory.failure(for: plan.keys.data, in: contexts)?.rememberedError
    }

    /// `source` is `nil` for loaded data that couldn't be decoded. A limit is remembered only if it ended the download,
    /// because the manager stores complete data.
    func record(_ error: ImageError, _ plan: RequestPlan, _ source: LoadRequest?) {
        guard !plan.isLocal, plan.request.mayBeCached else { return }
        if error.isOfData {
            // With alternatives, the source of the data is unknown.
            guard plan.request.network.alternativeURLs.isEmpty else { return }
            let load = load(plan, plan.loadRequest(plan.request.headers))
            return memory.record(error, for: plan.keys.data, in: FailureContext(bytes(plan, load)))
        }
        let load = load(plan, source ?? plan.loadRequest(plan.request.headers))
        if case .network(let failure) = error, [401, 403, 407].contains(failure.statusCode ?? 0),
            mayIdentify(load, plan)
        {
            // The result may change when the user signs in, here or elsewhere.
            return
        }
        memory.record(error, for: plan.keys.data, in: FailureContext(load))
    }

    /// Returns whether credentials may be sent that the request itself doesn't set: from a cookie jar, a credential
    /// store, an interceptor of the downloader, or a loader of the application.
    private func mayIdentify(_ load: Load, _ plan: RequestPlan) -> Bool {
        !load.exchange.access.isAnonymous || plan.settings.rules.hasInterceptors
            || !plan.settings.ownLoaders.isEmpty || plan.request.loader != nil
    }

    func remove(_ plan: RequestPlan, _ source: LoadRequest) {
        guard memory.failure(for: plan.keys.data) != nil else { return }
        let load = load(plan, source)
        memory.remove(plan.keys.data, in: [FailureContext(load), FailureContext(bytes(plan, load))])
    }

    /// Conditional header fields and cache directives don't affect failures.
    private func load(_ plan: RequestPlan, _ source: LoadRequest) -> Load {
        var request = source
        request.headers = HTTPHeaderFields(
            source.headers.lines.filter { !HTTPHeaderFields.namesWithoutEffectOnData.contains($0.name.lowercased()) })
        request.acceptsNotModified = false
        request.network.alternativeURLs = []
        let settings = plan.settings
        return Load(
            exchange: ExchangeKey(request, rules: settings.rules), loader: plan.request.loaderIdentity,
            loaders: settings.revision.loaders)
    }

    private func bytes(_ plan: RequestPlan, _ load: Load) -> Bytes {
        let options = plan.request.hintedOptions
        return Bytes(
            load: load, coder: plan.request.coder?.identifier, coders: plan.settings.revision.coders,
            allowsPartial: options.allowsPartialData,
            formatHint: options.formatHint?.rawValue, limits: plan.limits)
    }
}

extension ImageError {
    /// Whether the error depends on the settings with which the data is decoded.
    fileprivate var isOfData: Bool {
        switch self {
        case .decoding, .limitExceeded: true
        case .cancelled, .request, .network, .cache, .processing: false
        }
    }

    /// Whether the data caused the error, so loading it again could help.
    ///
    /// The value is `false` for errors that the same file would cause again, such as a missing coder, an exceeded
    /// limit, a failed transformer, or a canceled request. It's also `false` for a failure from the negative cache.
    var blamesBytes: Bool {
        guard case .decoding(let failure) = self, rememberedUntil == nil else { return false }
        return failure.blamesBytes
    }

    /// Returns this error with the response if its data isn't an image.
    func addingResponse(_ head: HTTPResponseHead?) -> ImageError {
        guard case .decoding(let error) = self, error.isForeignData, let head else { return self }
        var failure = error.adding(head)
        if failure.reason == .notAnImage {
            failure.statusCode = head.statusCode
            failure.contentType = head.headers["Content-Type"]
        }
        return .decoding(failure)
    }

    /// Returns this error with the network failures that preceded the data.
    func after(_ metrics: NetworkMetrics?) -> ImageError {
        guard case .decoding(var failure) = self, let metrics, !metrics.failures.isEmpty else { return self }
        failure.attempts = metrics.failures
        return .decoding(failure)
    }
}
