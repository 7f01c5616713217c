// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// What loads have in common that can be one.
struct DownloadKey: Hashable, Sendable {
    let exchange: ExchangeKey
    /// The URL under which parts of the body are kept.
    let source: URL
}

extension ImageDownloader {
    /// The load from its URL, then from the alternatives in their order, each shared with equal requests.
    @inline(never)
    func loadShared(_ basis: DownloadBasis, _ context: LoadContext) async throws(ImageError) -> LoadResponse {
        let listener = ReportListener(context)
        var sequence = AlternativeSequence(basis.request, canLoad: canLoad)
        while true {
            do {
                let present = basis.with(sequence.current, source: basis.source)
                let key = DownloadKey(exchange: ExchangeKey(present.request, rules: basis.shared), source: basis.source)
                let landing = try await flights.value(for: key, listener: listener) {
                    [self] context async throws(ImageError) -> LoadResponse in
                    try await loadWithRetries(present, LoadRun(context))
                }
                listener.complete(landing.value)
                return sequence.completing(landing.value)
            } catch {
                try sequence.advance(after: error)
                listener.beginSource()
            }
        }
    }
}
