// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The key of a fetch. It contains everything that affects the sent request, the accepted response, and the check of
/// the data.
///
/// It's a class because the tables of running fetches and the frames of suspended functions copy it often.
final class FetchKey: Hashable, Sendable {
    let data: CacheKey
    let exchange: ExchangeKey
    let loader: LoaderIdentity
    let timeouts: NetworkOptions.Timeouts
    /// The identifier of the coder that checks the data, or `nil` if the registry does.
    let coder: String?
    let formatHint: ImageFormat?
    let revision: SettingsSnapshot.Revision
    /// The last removal of the key before the fetch, so that removed data is loaded again.
    let generation: CacheGeneration

    init(
        data: CacheKey, exchange: ExchangeKey, loader: LoaderIdentity, timeouts: NetworkOptions.Timeouts,
        coder: String?, formatHint: ImageFormat?, revision: SettingsSnapshot.Revision, generation: CacheGeneration
    ) {
        self.data = data
        self.exchange = exchange
        self.loader = loader
        self.timeouts = timeouts
        self.coder = coder
        self.formatHint = formatHint
        self.revision = revision
        self.generation = generation
    }

    /// The header fields depend on the lookups of the request, so they aren't compared.
    func mayServe(_ plan: RequestPlan, _ generation: CacheGeneration) -> Bool {
        self.generation == generation && revision == plan.settings.revision
            && timeouts == plan.request.network.timeouts && coder == plan.request.coder?.identifier
            && formatHint == plan.request.hintedOptions.formatHint
    }

    static func == (left: FetchKey, right: FetchKey) -> Bool {
        left === right
            || (left.data == right.data && left.exchange == right.exchange && left.loader == right.loader
                && left.timeouts == right.timeouts && left.coder == right.coder && left.formatHint == right.formatHint
                && left.revision == right.revision && left.generation == right.generation)
    }

    /// Hashes the data and the exchange, which differ between almost all fetches.
    func hash(into hasher: inout Hasher) {
        hasher.combine(data)
        hasher.combine(exchange)
    }
}
