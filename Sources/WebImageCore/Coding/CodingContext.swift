// SPDX-License-Identifier: MIT

import Synchronization

/// A thread-safe flag that cancels long-running work, which checks the flag regularly.
public final class CancellationFlag: Sendable {
    private let raised = Atomic<Bool>(false)

    /// Creates a flag that isn't set.
    public init() {}

    /// A Boolean value that indicates whether ``cancel()`` was called.
    public var isCancelled: Bool { raised.load(ordering: .relaxed) }

    /// Sets the flag. A flag can't be reset.
    public func cancel() { raised.store(true, ordering: .relaxed) }
}

/// The constraints that coders obey while they work: limits, a deadline, and cancellation.
public struct CodingContext: Sendable {
    /// The limits of this request.
    public let limits: ImageLimits
    private let cancellation: CancellationFlag?
    private let start: ContinuousClock.Instant

    /// Creates a context. The timeout ``ImageLimits/maxDecodingTime`` starts immediately.
    public init(limits: ImageLimits = .desktop, cancellation: CancellationFlag? = nil) {
        self.limits = limits
        self.cancellation = cancellation
        self.start = ContinuousClock.now
    }

    /// Checks for cancellation and for the deadline. Long-running work calls this method every few rows.
    ///
    /// - Throws: ``ImageError/cancelled``, or an ``ImageError/LimitFailure`` of the kind
    ///   ``ImageError/LimitFailure/Kind/decodingTime``.
    public func checkCancellation() throws(ImageError) {
        if cancellation?.isCancelled == true { throw .cancelled }
        guard limits.maxDecodingTime.isFinite else { return }
        let elapsed = start.duration(to: .now) / .milliseconds(1)
        let allowed = limits.maxDecodingTime * 1_000
        if elapsed > allowed {
            throw .limitExceeded(
                ImageError.LimitFailure(
                    .decodingTime, limit: Int(saturating: allowed), actual: Int(saturating: elapsed)))
        }
    }
}
