// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

extension ImageDownloader {
    /// Synchronous functions make the decisions, so their variables take no space in the frames of thousands of waiting
    /// tasks.
    func loadAnywhere(_ downloadContext: DownloadContext, _ session: LoadSession) async throws(ImageError)
        -> LoadResponse
    {
        guard !downloadContext.request.network.alternativeURLs.isEmpty else {
            return try await loadWithRetries(downloadContext, session)
        }
        return try await loadSequence(
            AlternativeSequence(downloadContext.request, canLoad: mayLoad), downloadContext, session)
    }

    func mayLoad(_ url: URL) -> Bool { canLoad(url) && url.hasScheme(in: configuration.allowedSchemes) }

    /// Keep this function separate, so that its stack frame isn't part of each waiting load.
    @inline(never)
    private func loadSequence(
        _ sequence: AlternativeSequence, _ downloadContext: DownloadContext, _ session: LoadSession
    ) async throws(ImageError) -> LoadResponse {
        var sequence = sequence
        while true {
            do {
                let downloadContext = downloadContext.with(sequence.current, source: downloadContext.source)
                return sequence.completing(try await loadWithRetries(downloadContext, session))
            } catch {
                try sequence.advance(after: error)
                session.beginSource()
            }
        }
    }

    func loadWithRetries(_ first: DownloadContext, _ session: LoadSession) async throws(ImageError) -> LoadResponse {
        let attempts = RetryLoop(first, first.retry, start: waits.now)
        while true {
            do {
                return try await follow(
                    attempts.downloadContext, attempts.policy, session, mayRepeat: attempts.retries.mayRepeat)
            } catch {
                if let seconds = try wait(after: error, attempts, session) {
                    try await waits.wait(seconds, for: session)
                }
            }
        }
    }

    /// Returns the delay before the next attempt, or `nil` for an attempt without delay.
    @inline(never)
    private func wait(after error: ImageError, _ attempts: RetryLoop, _ session: LoadSession) throws(ImageError)
        -> Double?
    {
        guard case .network(let failure) = error else { throw error }
        let error = session.add(failure)
        let request = attempts.downloadContext.request
        if error.reason == .contentDecodingFailed, request.mayBeRetried, request.headers["Accept-Encoding"] == nil {
            // Some servers declare a coding that they don't apply. Retry once and request no coding.
            attempts.downloadContext = attempts.downloadContext.changed { $0.headers["Accept-Encoding"] = "identity" }
            configuration.exchangeLog?(.retry(error, seconds: 0))
            return nil
        }
        recordRetryAfter(error, attempts.policy)
        guard
            case .again(let seconds) = attempts.retries.decide(
                error, sends: failure.attempt, elapsed: waits.now - attempts.start)
        else {
            throw .network(error.telling(session.failures.dropLast()))
        }
        configuration.exchangeLog?(.retry(error, seconds: seconds))
        return seconds
    }

    /// Delays other requests to the same host, too.
    private func recordRetryAfter(_ error: ImageError.NetworkFailure, _ policy: RetryPolicy) {
        guard let seconds = error.retryAfter.map({ $0 / .seconds(1) }), seconds > 0,
            seconds <= policy.maxRetryAfter / .seconds(1), error.statusCode == 429 || error.statusCode == 503
        else { return }
        waits.leaveAlone(Origin(error.url).description, for: seconds)
    }
}

/// The attempts for one URL. Only the task of the load uses it.
private final class RetryLoop {
    var downloadContext: DownloadContext
    var retries: RetryStateMachine
    let policy: RetryPolicy
    /// The start time in seconds of the clock.
    let start: Double

    init(_ downloadContext: DownloadContext, _ policy: RetryPolicy, start: Double) {
        self.downloadContext = downloadContext
        self.policy = policy
        self.start = start
        retries = RetryStateMachine(policy)
    }
}
