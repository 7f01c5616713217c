// SPDX-License-Identifier: MIT

import Glibc

/// Decides what the writer thread does next: when a batch of index lines is committed, when writing pauses, when
/// limits are looked after. A pure state machine: it is told what happened and at what time, and says the next step.
struct WriterState {
    /// The next thing to do.
    enum Step: Equatable {
        /// Take the next job of the queue.
        case job
        /// Write the waiting lines to the index.
        case commit
        /// Ask how much space the file system has.
        case checkSpace
        /// Look for entries that are too old.
        case checkAge
        /// Delete one slice of what is over a limit.
        case evict
        /// Compare one more shard of files with the index.
        case reconcile
        /// Delete one slice of what was set aside.
        case sweep
        /// Nothing to do before that many seconds have passed or a job comes.
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
    /// Jobs between two slices of eviction: entries must not wait for a long eviction, nor the limit for a long queue.
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
    /// Bytes of lines that make a batch full, so that a small cache's limit is not overrun by one batch.
    let batchBytes: Int
    /// Set while a comparison of files and index is under way.
    var isReconciling = false

    init(sizeLimit: Int) { batchBytes = max(1, sizeLimit / 20) }

    var isEvicting: Bool { evictAfter != nil }

    // MARK: What happened

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

    /// The index refused the batch; it is tried again after a while.
    mutating func commitFailed(now: Double) { commitAfter = now + Self.retrySeconds }

    /// An entry was dropped for want of space; space is to be asked for again.
    mutating func spaceMissed() { bytesSinceSpaceCheck = max(1, bytesSinceSpaceCheck) }

    mutating func jobDone() { jobsSinceSlice += 1 }

    mutating func spaceChecked(now: Double) {
        lastSpaceCheck = now
        bytesSinceSpaceCheck = 0
    }

    mutating func ageChecked(now: Double) { lastAgeCheck = now }

    /// Something is over a limit.
    mutating func overLimit(now: Double) { evictAfter = evictAfter ?? now }

    /// A slice was deleted; `again` says whether there is more, `delay` how long to leave others alone.
    mutating func sliceDone(again: Bool, delay: Double = 0, now: Double) {
        jobsSinceSlice = 0
        evictAfter = again ? now + delay : nil
    }

    mutating func trashFound(now: Double) { sweepAfter = now }

    mutating func sweepDone(again: Bool, now: Double) { sweepAfter = again ? now + 0.002 : nil }

    /// The system refused a write. True when it was a lack of space, which eviction may cure.
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

    /// False while writing pauses. After the pause one write is tried.
    func acceptsWrites(now: Double) -> Bool { pausedUntil.map { now >= $0 } ?? true }

    // MARK: What is next

    /// The next step.
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
        guard acceptsWrites(now: now), now >= commitAfter else { return false }
        return rows >= Self.batchRows || rowBytes >= batchBytes || (rows > 0 && now >= rowsSince + Self.batchSeconds)
            || accesses >= Self.batchRows || (accesses > 0 && now >= accessesSince + Self.accessSeconds)
    }

    private func secondsToNextDeadline(now: Double) -> Double {
        var deadline = lastAgeCheck + Self.ageSeconds
        let batches =
            [
                rows > 0 ? rowsSince + Self.batchSeconds : .infinity,
                accesses > 0 ? accessesSince + Self.accessSeconds : .infinity,
            ].min() ?? .infinity
        deadline = min(deadline, max(batches, pausedUntil ?? 0, commitAfter))
        if let evictAfter { deadline = min(deadline, evictAfter) }
        if let sweepAfter { deadline = min(deadline, sweepAfter) }
        return max(0.001, deadline - now)
    }
}
