// SPDX-License-Identifier: MIT

import Synchronization

/// A flag that one side raises and long work looks at. Thread-safe.
public final class CancellationFlag: Sendable {
    private let raised = Atomic<Bool>(false)

    /// Creates a lowered flag.
    public init() {}

    /// True once ``cancel()`` was called.
    public var isCancelled: Bool { raised.load(ordering: .relaxed) }

    /// Raises the flag; it never goes down again.
    public func cancel() { raised.store(true, ordering: .relaxed) }
}

/// What coders obey while they work: limits, a deadline, cancellation.
public struct CodingContext: Sendable {
    /// The limits of this request.
    public let limits: Limits
    private let cancellation: CancellationFlag?
    private let start: ContinuousClock.Instant

    /// Creates a context; the clock of ``Limits/maxSeconds`` starts now.
    public init(limits: Limits = .desktop, cancellation: CancellationFlag? = nil) {
        self.limits = limits
        self.cancellation = cancellation
        self.start = ContinuousClock.now
    }

    /// To be called every few rows by work that takes long.
    ///
    /// - Throws: ``RequestError/cancelled`` or a ``LimitError`` of kind seconds.
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
