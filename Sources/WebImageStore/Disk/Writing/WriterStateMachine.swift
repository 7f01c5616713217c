// SPDX-License-Identifier: MIT

import Glibc

/// A state machine that decides the next step of the writer thread.
///
/// It decides when to commit a batch of index rows, when to pause writing, and when to check the limits. It performs no
/// I/O. Its inputs are events with their times, and its output is the next step.
struct WriterStateMachine {
    enum Step: Equatable {
        case job
        case commit
        case checkSpace
        case checkAge
        case evict
        case reconcile
        case sweep
        /// Wait until the given number of seconds has passed or a job arrives.
        case wait(Double)
    }

    static let batchSeconds = 0.25
    static let batchRows = 256
    static let accessSeconds = 30.0
    static let retrySeconds = 1.0
    static let spaceSeconds = 60.0
    static let spaceBytes = 64 << 20
    static let ageSeconds = 3_600.0
    static let shortestPause = 60.0
    static let longestPause = 900.0
    /// The number of jobs between two eviction slices. A long eviction must not delay jobs, and a long queue must not
    /// delay the eviction.
    static let jobsPerSlice = 16

    private(set) var rows = 0
    private var rowsSince = 0.0
    private var rowBytes = 0
    private var accesses = 0
    private var accessesSince = 0.0
    private var lastSpaceCheck = -Double.infinity
    private var bytesSinceSpaceCheck = 0
    private var lastAgeCheck = -Double.infinity
    private var nextPause = Self.shortestPause
    private(set) var pausedUntil: Double?
    private var commitAfter = -Double.infinity
    private var jobsSinceSlice = 0
    private var evictAfter: Double?
    private var sweepAfter: Double?
    /// The total entry size in bytes that completes a batch, so that one batch can't exceed the limit of a small cache
    /// by much.
    private(set) var batchBytes: Int
    var isReconciling = false

    init(sizeLimit: Int) { batchBytes = Self.batchBytes(sizeLimit: sizeLimit) }

    private static func batchBytes(sizeLimit: Int) -> Int { max(1, sizeLimit / 20) }

    // MARK: Events

    mutating func setSizeLimit(_ limit: Int) { batchBytes = Self.batchBytes(sizeLimit: limit) }

    mutating func rowAdded(bytes: Int = 0, now: Double) {
        if rows == 0 { rowsSince = now }
        rows += 1
        rowBytes += bytes
        bytesSinceSpaceCheck += bytes
    }

    mutating func accessed(count: Int, now: Double) {
        if accesses == 0, count > 0 { accessesSince = now }
        accesses = count
    }

    mutating func committed() {
        rows = 0
        rowBytes = 0
        accesses = 0
    }

    mutating func commitFailed(now: Double) { commitAfter = now + Self.retrySeconds }

    /// Records that an entry was dropped because of insufficient space, so that the writer checks the free space again.
    mutating func spaceMissed() { bytesSinceSpaceCheck = max(1, bytesSinceSpaceCheck) }

    mutating func jobDone() { jobsSinceSlice += 1 }

    mutating func spaceChecked(now: Double) {
        lastSpaceCheck = now
        bytesSinceSpaceCheck = 0
    }

    mutating func ageChecked(now: Double) { lastAgeCheck = now }

    mutating func recordOverLimit(now: Double) { evictAfter = evictAfter ?? now }

    /// Records a deleted slice. If another one follows, other processes can continue during a delay in seconds.
    mutating func sliceDone(again: Bool, delay: Double = 0, now: Double) {
        jobsSinceSlice = 0
        evictAfter = again ? now + delay : nil
    }

    /// The pauses between slices are then over, even if the uptime remains the same because a test sets it. They're
    /// shorter than all other delays.
    mutating func waited() {
        if evictAfter != nil { evictAfter = -.infinity }
        if sweepAfter != nil { sweepAfter = -.infinity }
    }

    mutating func trashFound(now: Double) { sweepAfter = now }

    mutating func sweepDone(again: Bool, now: Double) { sweepAfter = again ? now + 0.002 : nil }

    /// Records a failed write. Returns `true` if the cause is insufficient space, which an eviction may resolve.
    mutating func writeFailed(_ code: Int32, now: Double) -> Bool {
        switch code {
        case ENOSPC, EDQUOT, EROFS, EACCES, EPERM, EIO:
            pausedUntil = now + nextPause
            nextPause = min(nextPause * 2, Self.longestPause)
            return code == ENOSPC || code == EDQUOT
        default: return false
        }
    }

    mutating func writeSucceeded() {
        pausedUntil = nil
        nextPause = Self.shortestPause
    }

    /// Returns `false` while writing is paused. After the pause, the writer tries to write again.
    func acceptsWrites(now: Double) -> Bool { pausedUntil.map { now >= $0 } ?? true }

    // MARK: Next step

    func next(now: Double, hasJob: Bool) -> Step {
        if batchIsDue(now: now) { return .commit }
        if let evictAfter, now >= evictAfter, !hasJob || jobsSinceSlice >= Self.jobsPerSlice { return .evict }
        if hasJob { return .job }
        if bytesSinceSpaceCheck >= Self.spaceBytes
            || (bytesSinceSpaceCheck > 0 && now >= lastSpaceCheck + Self.spaceSeconds)
        {
            return .checkSpace
        }
        if now >= lastAgeCheck + Self.ageSeconds { return .checkAge }
        if isReconciling { return .reconcile }
        if let sweepAfter, now >= sweepAfter { return .sweep }
        return .wait(secondsToNextDeadline(now: now))
    }

    private func batchIsDue(now: Double) -> Bool {
        guard rows > 0 || accesses > 0 else { return false }
        // The causes that pause writing also prevent changes of the index.
        guard acceptsWrites(now: now), now >= commitAfter else { return false }
        return rows >= Self.batchRows || rowBytes >= batchBytes || (rows > 0 && now >= rowsSince + Self.batchSeconds)
            || accesses >= Self.batchRows || (accesses > 0 && now >= accessesSince + Self.accessSeconds)
    }

    private func secondsToNextDeadline(now: Double) -> Double {
        var deadline = lastAgeCheck + Self.ageSeconds
        let batches = min(
            rows > 0 ? rowsSince + Self.batchSeconds : .infinity,
            accesses > 0 ? accessesSince + Self.accessSeconds : .infinity)
        deadline = min(deadline, max(batches, pausedUntil ?? 0, commitAfter))
        if let evictAfter { deadline = min(deadline, evictAfter) }
        if let sweepAfter { deadline = min(deadline, sweepAfter) }
        return max(0.001, deadline - now)
    }
}
