// SPDX-License-Identifier: MIT

/// The decisions of the watchdog of a ``WorkerPool``: which running work is unresponsive, and which new work must be
/// rejected because earlier work of the same kind still occupies threads.
///
/// It's a pure state machine without threads or clocks. All times are in seconds.
package struct WorkerWatchStateMachine: Sendable {
    /// The limits for threads that unresponsive work occupies.
    package struct Limits: Sendable, Hashable {
        /// The maximum number of such threads per subject.
        package var perSubject = 2
        /// The maximum number of such threads in total.
        package var total = 8

        /// Creates the default limits.
        package init() {}
    }

    /// The reason why work is rejected. Earlier work still occupies threads after its timeout.
    package struct Refusal: Error, Hashable {
        /// The subject whose limit is reached, or `nil` if the total limit is reached.
        package let subject: String?
        /// The maximum number of occupied threads.
        package let limit: Int
        /// The number of occupied threads.
        package let actual: Int
    }

    /// Work that became unresponsive.
    package struct Loss: Hashable, Sendable {
        /// The identifier of the work.
        package let id: Int
        /// The time that the work has taken, which is its processor time or, if the work is blocked, the elapsed time.
        package let seconds: Double
    }

    private struct Job {
        let subject: String?
        let patience: Double
        let processorStart: Double?
        /// The elapsed time in which the process could run.
        var elapsed = 0.0
        var lastCheck: Double
    }

    /// The time between two checks.
    package static let interval = 1.0
    /// The factor by which the elapsed time of slow work may exceed its patience, so that a busy machine doesn't
    /// interrupt work that makes progress.
    package static let elapsedFactor = 10.0
    /// The fraction of the elapsed time below which the processor time means that the work is blocked.
    package static let blockedFraction = 0.01

    private let limits: Limits
    private var running: [Int: Job] = [:]
    private var lost: [Int: String?] = [:]

    /// Creates a machine without work.
    package init(limits: Limits = Limits()) { self.limits = limits }

    /// The number of threads that unresponsive work occupies.
    package var lostCount: Int { lost.count }

    /// Whether work is running that must be checked.
    package var needsChecks: Bool { !running.isEmpty }

    /// Returns the processor time after which work with a timeout is unresponsive. Work that checks its limit
    /// regularly ends long before.
    package static func patience(limit: Double) -> Double { max(2 * limit, limit + 2, 2) }

    /// Returns the reason why work on a subject must be rejected, or `nil` if it can begin.
    package func refusal(of subject: String?) -> Refusal? {
        if lost.count >= limits.total { return Refusal(subject: nil, limit: limits.total, actual: lost.count) }
        guard let subject else { return nil }
        let count = lost.values.count { $0 == subject }
        guard count >= limits.perSubject else { return nil }
        return Refusal(subject: subject, limit: limits.perSubject, actual: count)
    }

    /// Begins to watch work. `subject` is `nil` if only the total limit applies. `processor` is the processor time of
    /// the thread, or `nil` if it's unknown.
    package mutating func begin(_ id: Int, subject: String?, limit: Double, processor: Double?, now: Double) {
        running[id] = Job(
            subject: subject, patience: Self.patience(limit: limit), processorStart: processor, lastCheck: now)
    }

    /// Ends work. Returns whether the work was unresponsive.
    package mutating func end(_ id: Int) -> Bool {
        running[id] = nil
        return lost.removeValue(forKey: id) != nil
    }

    /// Returns the work that has become unresponsive since the last check. `processor` returns the processor time of
    /// the thread of the work, or `nil` if it's unknown.
    package mutating func check(now: Double, processor: (Int) -> Double?) -> [Loss] {
        var losses: [Loss] = []
        for (id, job) in running {
            var job = job
            // A long time between two checks means that the process was stopped, so its work couldn't run either.
            job.elapsed += min(max(now - job.lastCheck, 0), 2 * Self.interval)
            job.lastCheck = now
            running[id] = job
            if let seconds = Self.excess(of: job, processor(id)) { losses.append(Loss(id: id, seconds: seconds)) }
        }
        for loss in losses {
            guard let job = running.removeValue(forKey: loss.id) else { continue }
            lost[loss.id] = job.subject
        }
        return losses.sorted { $0.id < $1.id }
    }

    /// Returns the time that unresponsive work has taken, or `nil` if the work may continue.
    private static func excess(of job: Job, _ processor: Double?) -> Double? {
        if job.elapsed >= job.patience * elapsedFactor { return job.elapsed }
        guard let processor, let start = job.processorStart else { return nil }
        let used = processor - start
        if used >= job.patience { return used }
        return job.elapsed >= job.patience && used < job.elapsed * blockedFraction ? job.elapsed : nil
    }
}
