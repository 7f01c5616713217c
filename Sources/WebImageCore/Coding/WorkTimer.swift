// SPDX-License-Identifier: MIT

import Glibc
import Synchronization
import WebImageConcurrency

/// The clocks that measure the work of threads.
package struct WorkClock: Sendable {
    /// Returns the elapsed time since a fixed point.
    package var elapsedTime: @Sendable () -> Duration
    /// Returns the processor time of the current thread.
    package var processorTime: @Sendable () -> Duration
    /// Returns a number that identifies the current thread.
    package var thread: @Sendable () -> UInt
    /// Returns the processor time of all threads of the process.
    package var processTime: @Sendable () -> Duration = { WorkClock.reading(of: CLOCK_PROCESS_CPUTIME_ID) }

    /// Creates clocks.
    package init(
        elapsedTime: @escaping @Sendable () -> Duration, processorTime: @escaping @Sendable () -> Duration,
        thread: @escaping @Sendable () -> UInt
    ) {
        self.elapsedTime = elapsedTime
        self.processorTime = processorTime
        self.thread = thread
    }

    /// The clocks of the system.
    package static let system = WorkClock(
        elapsedTime: { WorkClock.reading(of: CLOCK_MONOTONIC) }, processorTime: { WorkClock.threadTime },
        thread: { UInt(pthread_self()) })

    /// The processor time of the current thread.
    package static var threadTime: Duration { reading(of: CLOCK_THREAD_CPUTIME_ID) }

    func usage() -> (elapsed: Duration, process: Duration, thread: Duration) {
        (elapsedTime(), processTime(), processorTime())
    }

    private static func reading(of clock: clockid_t) -> Duration {
        .nanoseconds(SystemClock.nanoseconds(of: clock) ?? 0)
    }
}

/// A timer for the processor time of an operation, summed over the threads on which the operation runs.
///
/// The time of the thread that creates the timer counts from then on. The time of any other thread counts from the
/// first measurement on it.
final class WorkTimer: Sendable {
    /// The processor time of one thread.
    private struct Usage {
        let thread: UInt
        let start: Duration
        var last: Duration

        var time: Duration { last - start }
    }

    private struct State {
        /// The thread of the last measurement.
        var current: Usage
        var others: [Usage] = []
        /// The elapsed time at which the processor time was last read.
        var readAt = Duration.zero

        var time: Duration { others.reduce(current.time) { $0 + $1.time } }

        mutating func record(_ time: Duration, on thread: UInt) {
            if current.thread != thread {
                others.append(current)
                let known = others.firstIndex { $0.thread == thread }
                current = known.map { others.remove(at: $0) } ?? Usage(thread: thread, start: time, last: time)
            }
            current.last = max(current.last, time)
        }
    }

    let clock: WorkClock
    private let start: Duration
    private let state: Lock<State>

    /// The elapsed time between two readings of the processor time, which take a system call.
    private static let interval = Duration.milliseconds(10)

    init(_ clock: WorkClock) {
        self.clock = clock
        start = clock.elapsedTime()
        let time = clock.processorTime()
        state = Lock(State(current: Usage(thread: clock.thread(), start: time, last: time)))
    }

    var time: Duration {
        let (thread, time) = (clock.thread(), clock.processorTime())
        return state.withLock { state in
            state.record(time, on: thread)
            return state.time
        }
    }

    /// Adds processor time that another process used for the operation.
    func charge(_ time: Duration) {
        // No thread has the number 0, so no later measurement changes this usage.
        state.withLock { $0.others.append(Usage(thread: 0, start: .zero, last: time)) }
    }

    /// Returns the processor time of the operation if it exceeds `limit`, and otherwise `nil`. If the limit is zero or
    /// negative, every time exceeds it.
    func timeExceeding(_ limit: Duration) -> Duration? {
        let thread = clock.thread()
        let elapsed = clock.elapsedTime() - start
        return state.withLock { state in
            // A thread can't use more processor time than has elapsed, so a recent reading is sufficient until then.
            if thread != state.current.thread || elapsed > limit || elapsed - state.readAt >= Self.interval {
                state.record(clock.processorTime(), on: thread)
                state.readAt = elapsed
            }
            let time = state.time
            return limit <= .zero || time > limit ? time : nil
        }
    }
}
