// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

extension ImageDownloader {
    /// The load from its URL, then from the alternatives in their order. What is decided on the way is decided in
    /// functions that are not async, so that it takes no room in the frames of thousands of waiting tasks.
    func loadAnywhere(_ basis: DownloadBasis, _ run: LoadRun) async throws(ImageError) -> LoadResponse {
        var tried = 0
        var present = basis
        while true {
            do {
                return try await loadWithRetries(present, run)
            } catch {
                present = try alternative(to: basis, &tried, after: error, run)
            }
        }
    }

    @inline(never)
    private func alternative(
        to basis: DownloadBasis, _ tried: inout Int, after error: ImageError, _ run: LoadRun
    ) throws(ImageError) -> DownloadBasis {
        guard case .network(let error) = error else { throw error }
        let rest = basis.request.alternatives.filter { canLoad($0) }.dropFirst(tried)
        guard let next = rest.first else { throw .network(error.telling(run.failures.dropLast())) }
        tried += 1
        return basis.changed { request in
            if Origin(next) != Origin(request.url) { request.fields = Redirect.withoutSecrets(request.fields) }
            request.url = next
        }
    }

    private func loadWithRetries(_ first: DownloadBasis, _ run: LoadRun) async throws(ImageError) -> LoadResponse {
        let attempts = Attempts(first, first.request.retry ?? configuration.retry, start: waits.now)
        while true {
            do {
                return try await follow(attempts.basis, attempts.policy, run, mayRepeat: attempts.retries.mayRepeat)
            } catch {
                if let seconds = try wait(after: error, attempts, run) { try await waits.wait(seconds) }
            }
        }
    }

    /// How long to wait before the next attempt; nil for not at all.
    @inline(never)
    private func wait(after error: ImageError, _ attempts: Attempts, _ run: LoadRun) throws(ImageError) -> Double? {
        guard case .network(let failure) = error else { throw error }
        let error = run.add(failure)
        if error.reason == .contentCodingFailed, attempts.basis.request.fields["Accept-Encoding"] == nil {
            // Some servers name a coding and do not apply it: once more, without any.
            attempts.basis = attempts.basis.changed { $0.fields["Accept-Encoding"] = "identity" }
            return nil
        }
        noteRetryAfter(error, attempts.policy)
        guard
            case .again(let seconds) = attempts.retries.decide(
                error, sends: failure.attempt, elapsed: waits.now - attempts.start)
        else {
            throw .network(error)
        }
        return seconds
    }

    /// Other requests to the host wait too.
    private func noteRetryAfter(_ error: NetworkError, _ policy: RetryPolicy) {
        guard let seconds = error.retryAfter, seconds > 0, seconds <= policy.maxRetryAfter,
            error.status == 429 || error.status == 503, let url = URL(string: error.url)
        else { return }
        waits.leaveAlone(Origin(url).description, for: seconds)
    }
}

/// The attempts at one URL. Belongs to the task of its load.
private final class Attempts {
    var basis: DownloadBasis
    var retries: RetryState
    let policy: RetryPolicy
    /// Seconds of the clock.
    let start: Double

    init(_ basis: DownloadBasis, _ policy: RetryPolicy, start: Double) {
        self.basis = basis
        self.policy = policy
        self.start = start
        retries = RetryState(policy)
    }
}

extension NetworkError {
    /// Most earlier failures that are told in words.
    private static let mostTold = 5
    /// Most earlier failures that are handed on.
    private static let mostKept = 16

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
        error.earlier = Array(earlier.suffix(Self.mostKept))
        return error
    }
}
