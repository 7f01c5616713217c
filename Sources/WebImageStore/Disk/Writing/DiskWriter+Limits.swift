// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageCore

/// Size, age and free space; deletion in slices.
extension DiskWriter {
    /// Entries deleted at a time, and the seconds after which a slow file system ends the slice early.
    static let slice = 1_024
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

    private func readSpace() {
        guard let space = try? files.freeSpace(at: layout.root) else { return }
        freeBytes = space.free
        let fraction = state.configuration.minFreeFraction
        spaceFloor = Int(Double(space.total) * min(max(fraction.isNaN ? 0 : fraction, 0), 1))
    }

    /// Starts eviction of what is too old.
    func checkAge() {
        steps.ageChecked(now: uptime)
        if let index { try? index.clampTimes(now: now) }
        evict(to: EvictionGoal(bytes: .max, cutoff: now - state.configuration.maxAge))
    }

    func evict(to goal: EvictionGoal) {
        self.goal = self.goal?.combined(goal) ?? goal
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
            let victims = removeFiles(try victims(goal, index))
            guard !victims.isEmpty else {
                readSpace()
                return evictionDone()
            }
            try index.transaction { () throws(IndexFault) in try index.delete(ids: victims.map(\.id)) }
            state.shared.withLock { state in
                let waiting = Set(state.staging.digests)
                for victim in victims {
                    state.verified[victim.digest] = nil
                    if !waiting.contains(victim.digest) { state.known.remove(victim.digest) }
                }
                state.counters.evicted += victims.count
            }
            if freeBytes != .max { freeBytes += victims.reduce(0) { $0 + $1.size } }
            steps.sliceDone(again: true, now: uptime)
        } catch {
            evictionDone()
            indexFailed(error)
        }
    }

    /// Deletes the files of `victims` until the slice's time is over; those that are gone.
    private func removeFiles(_ victims: [EvictionCandidate]) -> [EvictionCandidate] {
        let end = uptime + Self.sliceSeconds
        for (index, victim) in victims.enumerated() {
            try? files.remove(layout.entry(victim.name))
            if index % 32 == 31, uptime > end { return Array(victims[...index]) }
        }
        return victims
    }

    private func victims(_ goal: EvictionGoal, _ index: CacheIndex) throws(IndexFault) -> [EvictionCandidate] {
        if let cutoff = goal.cutoff {
            let old = try index.expired(before: cutoff, limit: Self.slice)
            if !old.isEmpty { return old }
        }
        var excess = try index.totals().bytes - goal.bytes
        guard excess > 0 else { return [] }
        var victims: [EvictionCandidate] = []
        for candidate in try index.leastRecentlyUsed(limit: Self.slice) where excess > 0 {
            victims.append(candidate)
            excess -= candidate.size
        }
        return victims
    }

    private func evictionDone() {
        goal = nil
        steps.sliceDone(again: false, now: uptime)
        let waiters = goalWaiters
        goalWaiters = []
        for completion in waiters { completion() }
    }

    private func takeEvictorLock() -> Bool {
        if evictorFile == nil {
            evictorFile = try? files.openFile(layout.evictor, O_RDWR | O_CREAT, mode: 0o600)
        }
        guard let evictorFile else { return true }
        return (try? files.lock(evictorFile, LOCK_EX | LOCK_NB)) != nil
    }
}
