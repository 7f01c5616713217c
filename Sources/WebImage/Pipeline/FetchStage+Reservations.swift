// SPDX-License-Identifier: MIT

import WebImageConcurrency

extension FetchStage {
    /// Reserves the running loads that a request can probably join, until the request joins a load or ends. This method
    /// neither suspends nor calls code of the application.
    func reserve(_ plan: ResolvedRequest, for task: ImageTask, _ member: FetchAudience.Member) {
        guard plan.policy != .cacheOnly else { return }
        let loads = audience.loads(of: plan.keys.data)
        guard !loads.isEmpty else { return }
        let generation = plan.originalCache.generation(of: plan.keys.data)
        let actions = loads.compactMap { key -> (@Sendable () -> Void)? in
            guard key.mayServe(plan, generation), let reservation = jobs.reserve(key, priority: task.livePriority)
            else { return nil }
            audience.enter(key, member)
            return { [jobs, audience] in
                audience.leave(key, member)
                jobs.release(reservation)
            }
        }
        if !actions.isEmpty { task.keep(FetchReservation(actions)) }
    }
}

extension FetchKey {
    /// Returns whether a request can probably join the load. Its header fields depend on its lookups, so they aren't
    /// compared.
    fileprivate func mayServe(_ plan: ResolvedRequest, _ generation: CacheGeneration) -> Bool {
        self.generation == generation && revision == plan.settings.revision
            && timeouts == plan.request.network.timeouts && coder == plan.request.coder?.identifier
            && formatHint == plan.request.hintedOptions.formatHint
    }
}
