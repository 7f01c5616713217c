// SPDX-License-Identifier: MIT

import Synchronization

/// A thread-safe flag that cancels long-running work, which checks the flag regularly.
package final class CancellationFlag: Sendable {
    private let raised = Atomic<Bool>(false)

    /// Creates a flag that isn't set.
    package init() {}

    /// Whether ``cancel()`` was called.
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
    /// The maximum number of threads that a coder uses at the same time, including its own. The minimum is 1.
    ///
    /// The manager raises it for large images while worker threads are idle. See
    /// `ImageManager.Configuration.maxThreadsPerDecode`.
    public let threadCount: Int
    private let isCancelled: @Sendable () -> Bool
    /// The timer, or `nil` if the limits have no timeout.
    private let timer: WorkTimer?
    /// Whether the timeout for encoding applies instead of the timeout for decoding.
    package let isEncoding: Bool
    /// The curve of the samples, which determines averages of light. The default is that of sRGB.
    package private(set) var lightCurve = LightCurve.sRGB

    /// Creates a context. The timeout ``ImageLimits/maxDecodingTime`` starts immediately.
    ///
    /// The timeout counts the processor time of the current thread. If the work runs on another thread, the time of
    /// that thread counts from its first call of ``checkCancellation()``.
    ///
    /// - Parameters:
    ///   - limits: The limits. The default is ``ImageLimits/desktop``.
    ///   - scale: The number of pixels per point. The default is 1.
    ///   - threadCount: The maximum number of threads that a coder uses at the same time, including its own. The default
    ///     is 1, and smaller values mean 1.
    ///   - isCancelled: A function that returns whether the work was canceled. It's called every few rows on the thread
    ///     that does the work, so it must be fast. The default returns `false`.
    public init(
        limits: ImageLimits = .desktop, scale: Double = 1, threadCount: Int = 1,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.init(limits: limits, scale: scale, threadCount: threadCount, clock: .system, isCancelled: isCancelled)
    }

    /// Creates a context whose timeouts use other clocks.
    package init(
        limits: ImageLimits, scale: Double = 1, threadCount: Int = 1, clock: WorkClock,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        // Without timeouts, don't read the clocks.
        let hasTimeout = limits.maxDecodingTime < .unlimited || limits.maxEncodingTime < .unlimited
        self.init(
            limits: limits, scale: scale, threadCount: max(1, threadCount), timer: hasTimeout ? WorkTimer(clock) : nil,
            isEncoding: false, isCancelled: isCancelled)
    }

    private init(
        limits: ImageLimits, scale: Double, threadCount: Int, timer: WorkTimer?, isEncoding: Bool,
        isCancelled: @escaping @Sendable () -> Bool
    ) {
        self.limits = limits
        self.scale = scale
        self.threadCount = threadCount
        self.timer = timer
        self.isEncoding = isEncoding
        self.isCancelled = isCancelled
    }

    /// Returns the context with another number of pixels per point. The timeout continues.
    package func with(scale: Double) -> ImageProcessingContext {
        ImageProcessingContext(
            limits: limits, scale: scale, threadCount: threadCount, timer: timer, isEncoding: isEncoding,
            isCancelled: isCancelled
        ).with(lightCurve: lightCurve)
    }

    /// Returns the context for pixels whose samples have another curve. The timeout continues.
    package func with(lightCurve: LightCurve) -> ImageProcessingContext {
        var context = self
        context.lightCurve = lightCurve
        return context
    }

    /// Returns the context with the timeout ``ImageLimits/maxEncodingTime``, which starts immediately. If the timeout
    /// already applies, it continues.
    package func forEncoding() -> ImageProcessingContext {
        guard !isEncoding else { return self }
        return ImageProcessingContext(
            limits: limits, scale: scale, threadCount: threadCount, timer: timer.map { WorkTimer($0.clock) },
            isEncoding: true, isCancelled: isCancelled)
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

    /// Runs `body`, in which a library may use ``threadCount`` threads, and charges the processor time of these threads.
    ///
    /// The threads of a library have no clocks that this process can find. The charge is therefore the processor time of
    /// the process, but at most the elapsed time of ``threadCount`` threads.
    package func countingThreads<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard threadCount > 1, let timer else { return try body() }
        let start = timer.clock.usage()
        defer {
            let end = timer.clock.usage()
            let process = min(end.process - start.process, (end.elapsed - start.elapsed) * threadCount)
            // The timer itself counts the time of this thread.
            charge(max(.zero, process - (end.thread - start.thread)))
        }
        return try body()
    }

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
