// SPDX-License-Identifier: MIT

import CFiles
import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// Limits of size, age, and free space, and deletion in slices.
extension DiskCacheWriter {
    /// The maximum number of files that a sweep or a requested deletion removes at a time.
    static let slice = 2_048
    /// The maximum number of entries per slice of an eviction, and the number of seconds after which a slow file system
    /// ends the slice early. Jobs and other processes wait for the end of a slice. The kernel deletes about 256 files in
    /// 5 milliseconds, so few entries are left over and queried again.
    private static let evictionSlice = 256
    private static let evictionSliceSeconds = 0.005

    /// Starts an eviction if the entries of all processes exceed the limit for their size or their number.
    func checkSize() {
        guard let totals = try? index?.totals() else { return }
        let limits = state.limits
        var goal = EvictionTarget(bytes: .max)
        if totals.bytes > limits.sizeLimit { goal.bytes = limits.sizeLimit / 10 * 9 }
        if totals.entries > limits.countLimit { goal.entries = limits.countLimit - limits.countLimit / 10 }
        if goal != EvictionTarget(bytes: .max) { evict(to: goal) }
    }

    /// Applies changed limits.
    func checkLimits() {
        steps.setSizeLimit(state.limits.sizeLimit)
        // Entries that aren't in the index yet count too.
        commit()
        checkSize()
        checkAge()
    }

    /// Starts an eviction if the file system has too little free space.
    func checkSpace() {
        steps.spaceChecked(now: uptime)
        readSpace()
        guard freeBytes < spaceFloor, let bytes = try? index?.totals().bytes, bytes > 0 else { return }
        evict(to: EvictionTarget(bytes: max(0, bytes - (spaceFloor - freeBytes))))
    }

    /// Starts an eviction after an entry of `count` bytes was dropped because it didn't fit.
    ///
    /// The eviction deletes one tenth of the entries and additionally the missing space, so that the following entries
    /// fit.
    func makeRoom(for count: Int) {
        steps.spaceMissed()
        guard target == nil, let bytes = try? index?.totals().bytes, bytes > 0 else { return }
        evict(to: EvictionTarget(bytes: max(0, bytes / 10 * 9 - (spaceFloor + count - freeBytes))))
    }

    /// Returns a Boolean value that indicates whether the required free space remains after writing `count` bytes.
    ///
    /// Before this method returns `false`, it queries the file system because other processes may have freed space.
    func hasRoom(for count: Int) -> Bool {
        if freeBytes - count >= spaceFloor { return true }
        readSpace()
        return freeBytes - count >= spaceFloor
    }

    func readSpace() {
        guard let space = try? files.freeSpace(at: layout.root) else { return }
        freeBytes = space.free
        let fraction = state.configuration.minimumFreeFraction
        spaceFloor = Int(saturating: Double(space.total) * min(max(fraction.isNaN ? 0 : fraction, 0), 1))
    }

    /// Starts an eviction of expired entries.
    func checkAge() {
        steps.ageChecked(now: uptime)
        trim(to: EvictionTarget(bytes: .max, maxAge: state.maxAge, includesExpired: true))
    }

    /// Starts an eviction whose goal may include a maximum age.
    func trim(to goal: EvictionTarget) {
        if goal.maxAge != nil, let index { try? index.clampTimes(now: now) }
        evict(to: goal)
    }

    func evict(to goal: EvictionTarget) {
        self.target = self.target?.combined(goal) ?? goal
        if goal.maxAge != nil { victims.reset() }
        // Callers and reader threads come first.
        if !isBatch { isBatch = wi_begin_batch() != 0 }
        steps.recordOverLimit(now: uptime)
    }

    /// Deletes one slice of entries unless another process is evicting entries.
    func evictSlice() {
        guard target != nil, index != nil else { return evictionDone() }
        guard acquireEvictorLock() else { return steps.sliceDone(again: true, delay: 0.02, now: uptime) }
        defer { if let evictorFile { try? files.lock(evictorFile, LOCK_UN) } }
        // The commit writes the uses up to now. Read the time first, because later uses aren't in the index yet.
        let time = now
        commit()
        guard let target, let index else { return evictionDone() }
        do throws(IndexError) {
            let gone = try index.transaction { () throws(IndexError) in try evictSlice(target, index, time) }
            guard !gone.isEmpty else {
                readSpace()
                return evictionDone()
            }
            removeFromShared(gone)
            state.shared.withLock { $0.counters.evicted += gone.count }
            steps.sliceDone(again: true, now: uptime)
            report(index)
        } catch {
            evictionDone()
            indexFailed(error)
        }
    }

    /// Deletes the files of one slice and then their rows.
    ///
    /// The order matters. The next read detects a row without a file, but a file without a row would remain undetected
    /// for a long time.
    private func evictSlice(
        _ goal: EvictionTarget, _ index: CacheIndex, _ time: Double
    ) throws(IndexError) -> ArraySlice<EvictionCandidate> {
        // Entries that were stored again since the last slice remain.
        if let isExpired = pendingVictims.first?.isExpired {
            pendingVictims = try index.candidates(pendingVictims.map(\.id))
            for index in pendingVictims.indices { pendingVictims[index].isExpired = isExpired }
        }
        if pendingVictims.isEmpty {
            pendingVictims = try victims.next(
                goal, index, state.configuration.expiration, now: time, limit: Self.evictionSlice)
        }
        let count = removeFiles(pendingVictims, until: uptime + Self.evictionSliceSeconds)
        let gone = pendingVictims[..<count]
        try index.delete(gone)
        if gone.first?.isExpired == false { try index.recordEvictions(gone) }
        pendingVictims = Array(pendingVictims[count...])
        return gone
    }

    private func report(_ index: CacheIndex) {
        guard targetWaiters.contains(where: { $0.progress != nil }), let left = try? index.totals() else { return }
        for waiter in targetWaiters { waiter.progress?(left.entries, left.bytes) }
    }

    /// Deletes the entries of the index rows with the given ids that still exist.
    func discard(_ ids: [Int]) -> DiskCache.MaintenanceReport {
        commit()
        guard let index else { return DiskCache.MaintenanceReport() }
        var removal = DiskCache.MaintenanceReport()
        let ids = ids.sorted()
        do throws(IndexError) {
            // Delete in slices because other processes may be waiting for the index.
            for start in stride(from: 0, to: ids.count, by: Self.slice) {
                let slice = ids[start..<min(start + Self.slice, ids.count)]
                let found = try index.transaction { () throws(IndexError) in
                    let found = try index.candidates(slice)
                    _ = removeFiles(found, until: .infinity)
                    try index.delete(found)
                    return found
                }
                removeFromShared(found[...])
                removal.entryCount += found.count
                removal.size += found.reduce(0) { $0 + $1.size }
            }
        } catch {
            indexFailed(error)
        }
        return removal
    }

    /// Deletes files until the given uptime and returns the number of deleted files.
    private func removeFiles(_ victims: [EvictionCandidate], until end: Double) -> Int {
        guard !victims.isEmpty else { return 0 }
        // Paths relative to an open directory are shorter to resolve.
        let folder = try? files.openFile(layout.blobs, O_RDONLY | O_DIRECTORY)
        defer { if let folder { files.close(folder) } }
        for (index, victim) in zip(0..., victims) {
            if let folder {
                try? files.remove(victim.path, in: folder)
            } else {
                try? files.remove("\(layout.blobs)/\(victim.path.text)")
            }
            if index % 32 == 31, uptime > end { return index + 1 }
        }
        return victims.count
    }

    /// Removes entries whose files were deleted from the shared state.
    private func removeFromShared(_ gone: ArraySlice<EvictionCandidate>) {
        // Calls of the cache wait for this lock, so hold it only for a few microseconds at a time.
        for start in stride(from: gone.startIndex, to: gone.endIndex, by: Self.sharedStep) {
            let part = gone[start..<min(start + Self.sharedStep, gone.endIndex)]
            state.shared.withLock { state in
                let waiting = Set(state.staging.digests)
                // Skip empty collections because hashing takes most of the time here.
                let (hasVerified, hasUpdated) = (!state.verified.isEmpty, !state.updated.isEmpty)
                for entry in part {
                    if hasVerified { state.verified[entry.digest] = nil }
                    if hasUpdated { state.updated.remove(entry.digest) }
                    if waiting.isEmpty || !waiting.contains(entry.digest) { state.known.remove(entry.digest) }
                }
            }
        }
        if freeBytes != .max { freeBytes += gone.reduce(0) { $0 + $1.size } }
    }

    /// The number of entries that are removed from the shared state at a time.
    private static let sharedStep = 128

    private func evictionDone() {
        target = nil
        if isBatch { wi_end_batch() }
        isBatch = false
        victims.reset()
        pendingVictims = []
        steps.sliceDone(again: false, now: uptime)
        let waiters = targetWaiters
        targetWaiters = []
        for waiter in waiters { waiter.completion() }
    }

    /// Opens the file whose lock prevents two processes from evicting at the same time.
    func openEvictor() {
        guard evictorFile == nil else { return }
        evictorFile = try? files.openFile(layout.evictor, O_RDWR | O_CREAT, mode: 0o600)
    }

    private func acquireEvictorLock() -> Bool {
        openEvictor()
        guard let evictorFile else { return true }
        do throws(SystemCallError) {
            try files.lock(evictorFile, LOCK_EX | LOCK_NB)
            return true
        } catch {
            // On a file system without locks, limits must hold, too.
            return !error.isTemporaryLockFailure
        }
    }
}
