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
    public let limits: Limits
    private let cancellation: CancellationFlag?
    private let start: ContinuousClock.Instant

    /// Creates a context. The timeout ``Limits/maxSeconds`` starts immediately.
    public init(limits: Limits = .desktop, cancellation: CancellationFlag? = nil) {
        self.limits = limits
        self.cancellation = cancellation
        self.start = ContinuousClock.now
    }

    /// Checks for cancellation and for the deadline. Long-running work calls this method every few rows.
    ///
    /// - Throws: ``RequestError/cancelled``, or a ``LimitError`` of the kind ``LimitError/Kind/seconds``.
    public func checkpoint() throws(ImageError) {
        if cancellation?.isCancelled == true { throw .request(.cancelled) }
        guard limits.maxSeconds.isFinite else { return }
        let elapsed = start.duration(to: .now) / .milliseconds(1)
        let allowed = limits.maxSeconds * 1_000
        if elapsed > allowed {
            throw .limit(LimitError(.seconds, limit: Int(saturating: allowed), actual: Int(saturating: elapsed)))
        }
    }
}
