// SPDX-License-Identifier: MIT

extension Engine {
    /// Has the download of `key` decoded for `plan` while it runs, where that can be; until the result is ended.
    func wish(_ key: FetchKey, _ plan: RequestPlan) -> StreamWish? {
        guard configuration.decodesWhileLoading, StreamedDecode.suits(plan) else { return nil }
        return streams.wish(key, plan)
    }
}
