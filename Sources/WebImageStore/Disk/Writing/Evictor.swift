// SPDX-License-Identifier: MIT

import CFiles
import Glibc
import Synchronization
import WebImageConcurrency

/// The deletion of entries that exceed the limits of size, age, and free space, or that callers selected in the index.
///
/// Files are deleted before their rows. The next read detects a row without a file, but a file without a row would remain
/// undetected for a long time.
final class Evictor {
    /// The maximum number of entries per slice of an eviction, and the number of seconds after which a slow file system
    /// ends the slice early. Jobs and other processes wait for the end of a slice. The kernel deletes about 256 files in
    /// 5 milliseconds, so few entries are left over and queried again.
    private static let slice = 256
    private static let sliceSeconds = 0.005
    /// The maximum number of entries that a requested deletion removes at a time.
    private static let discardSlice = 2_048
    private static let sharedStep = 128

    private let state: DiskCacheState
    private let space: SpaceReserve
    private var target: EvictionTarget?
    private var waiters: [(progress: EvictionProgress?, completion: DiskCacheState.Completion)] = []
    private var victims = EvictionQueue()
    /// The entries left over from a slice that ran out of time.
    private var pendingVictims: [EvictionCandidate] = []
    private var isBatch = false

    init(_ state: DiskCacheState, _ space: SpaceReserve) {
        self.state = state
        self.space = space
    }

    var isRunning: Bool { target != nil }

    func checkSize(of index: CacheIndex?) {
        guard let totals = try? index?.totals() else { return }
        let limits = state.limits
        var goal = EvictionTarget(bytes: .max)
        // Evict to 90% of a limit, so that the next batch doesn't exceed it again.
        if totals.bytes > limits.sizeLimit { goal.bytes = limits.sizeLimit / 10 * 9 }
        if totals.entries > limits.countLimit { goal.entries = limits.countLimit - limits.countLimit / 10 }
        if goal != EvictionTarget(bytes: .max) { evict(to: goal) }
    }

    func checkSpace(for index: CacheIndex?) {
        space.read()
        let shortage = space.shortage()
        guard shortage > 0, let bytes = try? index?.totals().bytes, bytes > 0 else { return }
        evict(to: EvictionTarget(bytes: max(0, bytes - shortage)))
    }

    /// The eviction deletes one tenth of the entries and additionally the missing space, so that the following entries
    /// fit.
    func makeRoom(for count: Int, in index: CacheIndex?) {
        guard target == nil, let bytes = try? index?.totals().bytes, bytes > 0 else { return }
        evict(to: EvictionTarget(bytes: max(0, bytes / 10 * 9 - space.shortage(for: count))))
    }

    func evict(to goal: EvictionTarget, of index: CacheIndex? = nil) {
        if goal.maxAge != nil, let index { try? index.clampTimes(now: state.now) }
        target = target?.combined(goal) ?? goal
        if goal.maxAge != nil { victims.reset() }
        // Callers and reader threads come first.
        if !isBatch { isBatch = wi_begin_batch() != 0 }
    }

    func addWaiter(_ progress: EvictionProgress?, _ completion: @escaping DiskCacheState.Completion) {
        waiters.append((progress, completion))
    }

    /// Returns `false` if the goal is reached. The index contains all uses up to `time`.
    func deleteSlice(of index: CacheIndex, at time: Double) throws(IndexError) -> Bool {
        let gone = try index.transaction { () throws(IndexError) in try deleteVictims(of: index, at: time) }
        guard !gone.isEmpty else {
            space.read()
            return false
        }
        removeFromShared(gone)
        state.shared.withLock { $0.counters.evicted += gone.count }
        report(index)
        return true
    }

    private func deleteVictims(
        of index: CacheIndex, at time: Double
    ) throws(IndexError) -> ArraySlice<EvictionCandidate> {
        guard let target else { return [] }
        // Entries that were stored again since the last slice remain.
        if let isExpired = pendingVictims.first?.isExpired {
            pendingVictims = try index.candidates(pendingVictims.map(\.id))
            for index in pendingVictims.indices { pendingVictims[index].isExpired = isExpired }
        }
        if pendingVictims.isEmpty {
            pendingVictims = try victims.next(
                target, index, state.configuration.expiration, now: time, limit: Self.slice)
        }
        let count = removeFiles(pendingVictims, until: state.uptime + Self.sliceSeconds)
        let gone = pendingVictims[..<count]
        try index.delete(gone)
        // Expired entries don't raise the floor of the ranks, because they're evicted by their ages instead.
        if gone.first?.isExpired == false { try index.recordEvictions(gone) }
        pendingVictims = Array(pendingVictims[count...])
        return gone
    }

    private func report(_ index: CacheIndex) {
        guard waiters.contains(where: { $0.progress != nil }), let left = try? index.totals() else { return }
        for waiter in waiters { waiter.progress?(left.entries, left.bytes) }
    }

    func finish() {
        target = nil
        if isBatch { wi_end_batch() }
        isBatch = false
        victims.reset()
        pendingVictims = []
        notifyWaiters()
    }

    func notifyWaiters() {
        let waiters = waiters
        self.waiters = []
        for waiter in waiters { waiter.completion() }
    }

    private func removeFiles(_ victims: [EvictionCandidate], until end: Double) -> Int {
        guard !victims.isEmpty else { return 0 }
        let (files, blobs) = (state.files, state.layout.blobs)
        // Paths relative to an open directory are shorter to resolve.
        let folder = try? files.openFile(blobs, O_RDONLY | O_DIRECTORY)
        defer { if let folder { files.close(folder) } }
        for (index, victim) in zip(0..., victims) {
            if let folder {
                try? files.remove(victim.path, in: folder)
            } else {
                try? files.remove("\(blobs)/\(victim.path.text)")
            }
            if index % 32 == 31, state.uptime > end { return index + 1 }
        }
        return victims.count
    }

    private func removeFromShared(_ gone: ArraySlice<EvictionCandidate>) {
        // Calls of the cache wait for this lock, so hold it only for a few microseconds at a time.
        for start in stride(from: gone.startIndex, to: gone.endIndex, by: Self.sharedStep) {
            let part = gone[start..<min(start + Self.sharedStep, gone.endIndex)]
            state.shared.withLock { $0.forget(part.lazy.map(\.digest)) }
        }
        space.add(gone.reduce(0) { $0 + $1.size })
    }

    /// Rows that no longer exist are skipped.
    func discard(
        _ ids: [Int], from index: CacheIndex, _ report: inout DiskCache.MaintenanceReport
    ) throws(IndexError) {
        let ids = ids.sorted()
        // Delete in slices because other processes may be waiting for the index.
        for start in stride(from: 0, to: ids.count, by: Self.discardSlice) {
            let slice = ids[start..<min(start + Self.discardSlice, ids.count)]
            let found = try index.transaction { () throws(IndexError) in
                let found = try index.candidates(slice)
                _ = removeFiles(found, until: .infinity)
                try index.delete(found)
                return found
            }
            removeFromShared(found[...])
            report.entryCount += found.count
            report.size += found.reduce(0) { $0 + $1.size }
        }
    }
}
