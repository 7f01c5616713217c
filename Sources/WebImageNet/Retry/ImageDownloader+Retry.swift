// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

extension ImageDownloader {
    /// The load from its URL, then from the alternatives in their order.
    func loadAnywhere(_ basis: DownloadBasis, _ run: LoadRun) async throws(ImageError) -> LoadResponse {
        var rest = basis.request.alternatives.filter { canLoad($0) }[...]
        var present = basis
        while true {
            do {
                return run.finished(try await loadWithRetries(present, run))
            } catch .network(let error) {
                guard let next = rest.popFirst() else { throw .network(error.telling(run.failures.dropLast())) }
                present = basis.changed { request in
                    if Origin(next) != Origin(request.url) { request.fields = Redirect.withoutSecrets(request.fields) }
                    request.url = next
                }
            }
        }
    }

    private func loadWithRetries(_ first: DownloadBasis, _ run: LoadRun) async throws(ImageError) -> LoadResponse {
        let policy = first.request.retry ?? configuration.retry
        let start = waits.now
        var basis = first
        var retries = RetryState(policy)
        while true {
            do {
                return try await follow(basis, policy, run)
            } catch .network(let failure) {
                let error = run.add(failure)
                if error.reason == .contentCodingFailed, basis.request.fields["Accept-Encoding"] == nil {
                    // Some servers name a coding and do not apply it: once more, without any.
                    basis = basis.changed { $0.fields["Accept-Encoding"] = "identity" }
                    continue
                }
                noteRetryAfter(error, policy)
                guard case .again(let seconds) = retries.decide(error, elapsed: waits.now - start) else {
                    throw .network(error)
                }
                try await waits.wait(seconds)
            }
        }
    }

    /// Other requests to the host wait too.
    private func noteRetryAfter(_ error: NetworkError, _ policy: RetryPolicy) {
        guard let seconds = error.retryAfter, seconds > 0, seconds <= policy.maxRetryAfter,
            error.status == 429 || error.status == 503, let url = URL(string: error.url)
        else { return }
        waits.leaveAlone(Origin(url).description, for: seconds)
    }
}

extension NetworkError {
    /// Most earlier failures that are told.
    private static let mostTold = 5

    /// This error with what was tried before it.
    func telling(_ earlier: some BidirectionalCollection<NetworkError>) -> NetworkError {
        guard !earlier.isEmpty else { return self }
        let told = earlier.suffix(Self.mostTold).map { failure in
            let what = failure.status.map { "status \($0)" } ?? "\(failure.reason)"
            return failure.url == url ? what : "\(what) at \(failure.url)"
        }
        var error = self
        let before = "tried before: \(told.joined(separator: ", "))"
        error.detail = detail.isEmpty ? before : "\(detail); \(before)"
        return error
    }
}
