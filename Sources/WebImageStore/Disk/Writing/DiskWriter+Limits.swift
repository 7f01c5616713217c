// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// Size, age and free space; deletion in slices.
extension DiskWriter {
    /// Entries deleted at a time, and the seconds after which a slow file system ends the slice early.
    static let slice = 2_048
    static let sliceSeconds = 0.02

    /// Starts eviction when the entries of all processes are over the limit.
    func checkSize() {
        guard let bytes = try? index?.totals().bytes, bytes > state.configuration.sizeLimit else { return }
        evict(to: EvictionGoal(bytes: state.configuration.sizeLimit / 10 * 9))
    }

    /// Starts eviction when too little of the file system is free.
    func checkSpace() {
        steps.spaceChecked(now: uptime)
        readSpace()
        guard freeBytes < spaceFloor, let bytes = try? index?.totals().bytes, bytes > 0 else { return }
        evict(to: EvictionGoal(bytes: max(0, bytes - (spaceFloor - freeBytes))))
    }

    /// An entry of `count` bytes was dropped because it does not fit: so that those after it do, a tenth leaves and what
    /// is missing.
    func makeRoom(for count: Int) {
        steps.spaceMissed()
        guard goal == nil, let bytes = try? index?.totals().bytes, bytes > 0 else { return }
        evict(to: EvictionGoal(bytes: max(0, bytes / 10 * 9 - (spaceFloor + count - freeBytes))))
    }

    /// Whether `count` bytes leave the free space that others are to have. Asks the system before it says no: others
    /// may have made room.
    func hasRoom(for count: Int) -> Bool {
        if freeBytes - count >= spaceFloor { return true }
        readSpace()
        return freeBytes - count >= spaceFloor
    }

    func readSpace() {
        guard let space = try? files.freeSpace(at: layout.root) else { return }
        freeBytes = space.free
        let fraction = state.configuration.minFreeFraction
        spaceFloor = Int(saturating: Double(space.total) * min(max(fraction.isNaN ? 0 : fraction, 0), 1))
    }

    /// Starts eviction of what is too old.
    func checkAge() {
        steps.ageChecked(now: uptime)
        trim(to: EvictionGoal(bytes: .max, cutoff: now - state.configuration.maxAge))
    }

    /// Starts eviction that looks at ages.
    func trim(to goal: EvictionGoal) {
        if goal.cutoff != nil, let index { try? index.clampTimes(now: now) }
        evict(to: goal)
    }

    func evict(to goal: EvictionGoal) {
        self.goal = self.goal?.combined(goal) ?? goal
        if goal.cutoff != nil { victims.reset() }
        steps.overLimit(now: uptime)
    }

    /// Deletes one slice of entries, unless another process is at it.
    func evictSlice() {
        guard goal != nil, index != nil else { return evictionDone() }
        guard takeEvictorLock() else { return steps.sliceDone(again: true, delay: 0.02, now: uptime) }
        defer { if let evictorFile { try? files.lock(evictorFile, LOCK_UN) } }
        commit()
        guard let goal, let index else { return evictionDone() }
        do throws(IndexFault) {
            let gone = try index.transaction { () throws(IndexFault) in try evictSlice(goal, index) }
            guard !gone.isEmpty else {
                readSpace()
                return evictionDone()
            }
            forget(gone)
            state.shared.withLock { $0.counters.evicted += gone.count }
            steps.sliceDone(again: true, now: uptime)
            report(index)
        } catch {
            evictionDone()
            indexFailed(error)
        }
    }

    /// Files go first: a line without a file is found out by the next read, a file without its line by nobody for long.
    private func evictSlice(
        _ goal: EvictionGoal, _ index: CacheIndex
    ) throws(IndexFault) -> ArraySlice<EvictionCandidate> {
        // What was stored again since the last slice stays.
        if !pendingVictims.isEmpty { pendingVictims = try index.candidates(pendingVictims.map(\.id)) }
        if pendingVictims.isEmpty { pendingVictims = try victims.next(goal, index, limit: Self.slice) }
        let count = removeFiles(pendingVictims, until: uptime + Self.sliceSeconds)
        let gone = pendingVictims[..<count]
        try index.delete(gone)
        pendingVictims = Array(pendingVictims[count...])
        return gone
    }

    private func report(_ index: CacheIndex) {
        guard goalWaiters.contains(where: { $0.progress != nil }), let left = try? index.totals() else { return }
        for waiter in goalWaiters { waiter.progress?(left.entries, left.bytes) }
    }

    /// Deletes the entries of those lines of the index that are still there.
    func discard(_ ids: [Int]) -> DiskRemoval {
        commit()
        guard let index else { return DiskRemoval() }
        var removal = DiskRemoval()
        let ids = ids.sorted()
        do throws(IndexFault) {
            // In slices: other processes wait for the index meanwhile.
            for start in stride(from: 0, to: ids.count, by: Self.slice) {
                let slice = ids[start..<min(start + Self.slice, ids.count)]
                let found = try index.transaction { () throws(IndexFault) in
                    let found = try index.candidates(slice)
                    _ = removeFiles(found, until: .infinity)
                    try index.delete(found)
                    return found
                }
                forget(found[...])
                removal.entries += found.count
                removal.bytes += found.reduce(0) { $0 + $1.size }
            }
        } catch {
            indexFailed(error)
        }
        return removal
    }

    /// Deletes files until the time is over; how many.
    private func removeFiles(_ victims: [EvictionCandidate], until end: Double) -> Int {
        guard !victims.isEmpty else { return 0 }
        // From the open folder the way to a file is shorter.
        let folder = try? files.openFile(layout.blobs, O_RDONLY | O_DIRECTORY)
        defer { if let folder { files.close(folder) } }
        for (index, victim) in zip(0..., victims) {
            if let folder {
                try? files.remove(victim.place, in: folder)
            } else {
                try? files.remove("\(layout.blobs)/\(victim.place.text)")
            }
            if index % 32 == 31, uptime > end { return index + 1 }
        }
        return victims.count
    }

    /// Takes entries whose files are gone out of memory.
    private func forget(_ gone: ArraySlice<EvictionCandidate>) {
        state.shared.withLock { state in
            let waiting = Set(state.staging.digests)
            // What is empty is not asked: hashing is most of the work here.
            let (hasVerified, hasUpdated) = (!state.verified.isEmpty, !state.updated.isEmpty)
            for entry in gone {
                if hasVerified { state.verified[entry.digest] = nil }
                if hasUpdated { state.updated.remove(entry.digest) }
                if waiting.isEmpty || !waiting.contains(entry.digest) { state.known.remove(entry.digest) }
            }
        }
        if freeBytes != .max { freeBytes += gone.reduce(0) { $0 + $1.size } }
    }

    private func evictionDone() {
        goal = nil
        victims.reset()
        pendingVictims = []
        steps.sliceDone(again: false, now: uptime)
        let waiters = goalWaiters
        goalWaiters = []
        for waiter in waiters { waiter.completion() }
    }

    /// The file whose lock keeps two processes from deleting at once.
    func openEvictor() {
        guard evictorFile == nil else { return }
        evictorFile = try? files.openFile(layout.evictor, O_RDWR | O_CREAT, mode: 0o600)
    }

    private func takeEvictorLock() -> Bool {
        openEvictor()
        guard let evictorFile else { return true }
        return (try? files.lock(evictorFile, LOCK_EX | LOCK_NB)) != nil
    }
}
