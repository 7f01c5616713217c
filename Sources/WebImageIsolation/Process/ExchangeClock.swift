// SPDX-License-Identifier: MIT

import CSandbox

/// The time of a request to a helper, without the times in which the helper could work but may not.
///
/// One thread uses it, like the exchange that has it.
final class ExchangeClock {
    private let start = ContinuousClock.now
    private let id: Int32
    /// The time in which the helper waited for this program.
    private var paused = Duration.zero
    /// The time for which the threads of the helper had waited for a processor at the first look.
    private var firstWait: Duration?

    /// The time after which the first look is worth its system calls. Most requests are complete before.
    private static let firstLook = Duration.milliseconds(50)

    /// Starts a clock for the process with the number `id`.
    init(id: Int32) { self.id = id }

    var elapsed: Duration { start.duration(to: .now) }

    /// The time since the start without the time in which the helper waited for a processor or for this program. It's the
    /// elapsed time if the system doesn't report the time that processes wait for a processor.
    var activeTime: Duration {
        let wait = Self.wait(of: id)
        return max(.zero, elapsed - paused - max(.zero, wait - (firstWait ?? wait)))
    }

    /// Notes the times before a request that takes longer. Call this method regularly.
    func look() {
        if firstWait == nil, elapsed >= Self.firstLook { firstWait = Self.wait(of: id) }
    }

    /// Calls a closure for whose result the helper waits.
    func pause<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let begin = ContinuousClock.now
        defer { paused += begin.duration(to: .now) }
        return try body()
    }

    private static func wait(of id: Int32) -> Duration {
        let time = wi_sandbox_wait_time(id)
        return time < 0 ? .zero : .nanoseconds(time)
    }
}
