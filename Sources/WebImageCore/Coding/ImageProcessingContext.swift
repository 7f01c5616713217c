// SPDX-License-Identifier: MIT

import Synchronization

/// A thread-safe flag that cancels long-running work, which checks the flag regularly.
package final class CancellationFlag: Sendable {
    private let raised = Atomic<Bool>(false)

    /// Creates a flag that isn't set.
    package init() {}

    /// A Boolean value that indicates whether ``cancel()`` was called.
    package var isCancelled: Bool { raised.load(ordering: .relaxed) }

    /// Sets the flag. A flag can't be reset.
    package func cancel() { raised.store(true, ordering: .relaxed) }
}

/// The constraints that coders and transformers obey while they work: limits, a deadline, and cancellation.
public struct ImageProcessingContext: Sendable {
    /// The limits of this request.
    public let limits: ImageLimits
    /// The number of pixels per point. Lengths in points are multiplied by it.
    public let scale: Double
    private let isCancelled: @Sendable () -> Bool
    private let start: ContinuousClock.Instant

    /// Creates a context. The timeout ``ImageLimits/maxDecodingTime`` starts immediately.
    ///
    /// - Parameters:
    ///   - limits: The limits. The default is ``ImageLimits/desktop``.
    ///   - scale: The number of pixels per point. The default is 1.
    ///   - isCancelled: A function that returns whether the work was canceled. It's called every few rows on the thread
    ///     that does the work, so it must be fast. The default returns `false`.
    public init(
        limits: ImageLimits = .desktop, scale: Double = 1, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.init(limits: limits, scale: scale, start: ContinuousClock.now, isCancelled: isCancelled)
    }

    private init(
        limits: ImageLimits, scale: Double, start: ContinuousClock.Instant, isCancelled: @escaping @Sendable () -> Bool
    ) {
        self.limits = limits
        self.scale = scale
        self.start = start
        self.isCancelled = isCancelled
    }

    /// Returns the context with another number of pixels per point. The timeout continues.
    package func with(scale: Double) -> ImageProcessingContext {
        ImageProcessingContext(limits: limits, scale: scale, start: start, isCancelled: isCancelled)
    }

    /// Checks for cancellation and for the deadline. Long-running work calls this method every few rows.
    ///
    /// - Throws: ``ImageError/cancelled``, or an ``ImageError/LimitFailure`` of the kind
    ///   ``ImageError/LimitFailure/Kind/decodingTime``.
    public func checkCancellation() throws(ImageError) {
        if isCancelled() { throw .cancelled }
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
