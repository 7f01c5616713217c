// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

extension ImageDownloader {
    /// The load from its URL, then from the alternatives in their order. What is decided on the way is decided in
    /// functions that are not async, so that it takes no room in the frames of thousands of waiting tasks.
    func loadAnywhere(_ basis: DownloadBasis, _ run: LoadRun) async throws(ImageError) -> LoadResponse {
        guard !basis.request.alternatives.isEmpty else { return try await loadWithRetries(basis, run) }
        return try await loadSequence(AlternativeSequence(basis.request, canLoad: mayLoad), basis, run)
    }

    func mayLoad(_ url: URL) -> Bool { canLoad(url) && url.hasScheme(in: configuration.allowedSchemes) }

    /// By itself, so that its frame is not part of every waiting load's.
    @inline(never)
    private func loadSequence(
        _ sequence: AlternativeSequence, _ basis: DownloadBasis, _ run: LoadRun
    ) async throws(ImageError) -> LoadResponse {
        var sequence = sequence
        while true {
            do {
                let basis = basis.with(sequence.current, source: basis.source)
                return sequence.completing(try await loadWithRetries(basis, run))
            } catch {
                try sequence.advance(after: error)
                run.beginSource()
            }
        }
    }

    func loadWithRetries(_ first: DownloadBasis, _ run: LoadRun) async throws(ImageError) -> LoadResponse {
        let attempts = Attempts(first, first.rules.retry, start: waits.now)
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
            throw .network(error.telling(run.failures.dropLast()))
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
