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

/// The constraints that coders and transformers obey while they work: limits, a timeout, and cancellation.
public struct ImageProcessingContext: Sendable {
    /// The limits of this request.
    public let limits: ImageLimits
    /// The number of pixels per point. Lengths in points are multiplied by it.
    public let scale: Double
    private let isCancelled: @Sendable () -> Bool
    /// The timer, or `nil` if the limits have no timeout.
    private let timer: WorkTimer?
    /// A Boolean value that indicates whether the timeout for encoding applies instead of the timeout for decoding.
    package let isEncoding: Bool

    /// Creates a context. The timeout ``ImageLimits/maxDecodingTime`` starts immediately.
    ///
    /// The timeout counts the processor time of the current thread. If the work runs on another thread, the time of
    /// that thread counts from its first call of ``checkCancellation()``.
    ///
    /// - Parameters:
    ///   - limits: The limits. The default is ``ImageLimits/desktop``.
    ///   - scale: The number of pixels per point. The default is 1.
    ///   - isCancelled: A function that returns whether the work was canceled. It's called every few rows on the thread
    ///     that does the work, so it must be fast. The default returns `false`.
    public init(
        limits: ImageLimits = .desktop, scale: Double = 1, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.init(limits: limits, scale: scale, clock: .system, isCancelled: isCancelled)
    }

    /// Creates a context whose timeouts use other clocks.
    package init(
        limits: ImageLimits, scale: Double = 1, clock: WorkClock,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        // Without timeouts, don't read the clocks.
        let hasTimeout = limits.maxDecodingTime < .unlimited || limits.maxEncodingTime < .unlimited
        self.init(
            limits: limits, scale: scale, timer: hasTimeout ? WorkTimer(clock) : nil, isEncoding: false,
            isCancelled: isCancelled)
    }

    private init(
        limits: ImageLimits, scale: Double, timer: WorkTimer?, isEncoding: Bool,
        isCancelled: @escaping @Sendable () -> Bool
    ) {
        self.limits = limits
        self.scale = scale
        self.timer = timer
        self.isEncoding = isEncoding
        self.isCancelled = isCancelled
    }

    /// Returns the context with another number of pixels per point. The timeout continues.
    package func with(scale: Double) -> ImageProcessingContext {
        ImageProcessingContext(
            limits: limits, scale: scale, timer: timer, isEncoding: isEncoding, isCancelled: isCancelled)
    }

    /// Returns the context with the timeout ``ImageLimits/maxEncodingTime``, which starts immediately. If the timeout
    /// already applies, it continues.
    package func forEncoding() -> ImageProcessingContext {
        guard !isEncoding else { return self }
        return ImageProcessingContext(
            limits: limits, scale: scale, timer: timer.map { WorkTimer($0.clock) }, isEncoding: true,
            isCancelled: isCancelled)
    }

    /// The processor time that the operation may use, or ``Duration/unlimited``.
    package var timeLimit: Duration { isEncoding ? limits.maxEncodingTime : limits.maxDecodingTime }

    /// The processor time that remains, at least zero, or ``Duration/unlimited``.
    package var remainingTime: Duration {
        let limit = timeLimit
        guard limit < .unlimited, let timer else { return .unlimited }
        return max(.zero, limit - timer.time)
    }

    /// Adds processor time that another process used for the operation.
    package func charge(_ time: Duration) { timer?.charge(time) }

    /// Checks for cancellation and for the timeout. Long-running work calls this method every few rows.
    ///
    /// - Throws: ``ImageError/cancelled``, or an ``ImageError/LimitFailure`` of the kind
    ///   ``ImageError/LimitFailure/Kind/decodingTime`` or, while an image is encoded,
    ///   ``ImageError/LimitFailure/Kind/encodingTime``.
    public func checkCancellation() throws(ImageError) {
        if isCancelled() { throw .cancelled }
        let limit = timeLimit
        guard limit < .unlimited, let time = timer?.timeExceeding(limit) else { return }
        throw .limitExceeded(
            ImageError.LimitFailure(
                isEncoding ? .encodingTime : .decodingTime, limit: Int(saturating: limit / .milliseconds(1)),
                actual: Int(saturating: time / .milliseconds(1))))
    }
}
