// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// The writer, which runs on the only thread that changes the directory and the index.
///
/// The writer performs the steps that ``WriterStateMachine`` selects, one at a time. All properties are confined to its
/// thread.
final class DiskCacheWriter {
    let state: DiskCacheState
    let layout: CacheLayout
    let files: any FileSystem
    let entries: EntryWriter
    /// The number under which the index lists this writer while it runs. A number that is still listed after its process
    /// ended indicates that the process was killed.
    let session = Int(UInt64.random(in: 1...(1 << 62)))
    var steps: WriterStateMachine
    var index: CacheIndex?
    var indexInode: UInt64?
    var changes: [IndexChange] = []
    var lockFile: Int32?
    var evictorFile: Int32?
    var target: EvictionTarget?
    var targetWaiters: [(progress: EvictionProgress?, completion: DiskCacheState.Completion)] = []
    var victims = EvictionQueue()
    /// The entries left over from an eviction slice that ran out of time.
    var pendingVictims: [EvictionCandidate] = []
    /// A Boolean value that indicates whether the thread is scheduled as a batch job during an eviction.
    var isBatch = false
    var sweepWaiters: [(progress: SweepProgress?, completion: DiskCacheState.Completion)] = []
    var swept = 0
    var reconciliation: IndexReconciliation?
    var freeBytes = Int.max
    var spaceFloor = 0
    var retryIndexAfter = 0.0
    var seenVersion = 0
    var seenEpoch = 0
    var seenID = 0
    /// The reads that the index already includes.
    var countedReads = (hits: 0, misses: 0)
    var isClosing = false

    init(_ state: DiskCacheState) {
        self.state = state
        layout = state.layout
        files = state.files
        entries = EntryWriter(state, session: session)
        steps = WriterStateMachine(sizeLimit: state.limits.sizeLimit)
    }

    var uptime: Double { state.clock.uptime() }
    var now: Double { state.clock.now().timeIntervalSince1970 }

    /// Runs until the cache is closed.
    func run() {
        start()
        while !isClosing {
            let (hasJob, accesses) = state.shared.withLock { (!$0.jobs.isEmpty, $0.accesses.count) }
            steps.accessed(count: accesses, now: uptime)
            perform(steps.next(now: uptime, hasJob: hasJob))
        }
    }

    private func perform(_ step: WriterStateMachine.Step) {
        switch step {
        case .job:
            if let job = state.shared.withLock({ $0.jobs.pop() }) { perform(job) }
            steps.jobDone()
        case .commit: commit()
        case .checkSpace: checkSpace()
        case .checkAge: checkAge()
        case .evict: evictSlice()
        case .reconcile: reconcileShard()
        case .sweep: sweepSlice()
        case .wait(let seconds): if state.sleep(seconds: seconds) { steps.waited() }
        }
    }

    private func perform(_ job: DiskCacheState.Job) {
        switch job {
        case .staged(.write(let key, let ticket)): write(key, ticket)
        case .staged(.remove(let key, let ticket)): remove(key, ticket)
        case .staged(.update(let key, let ticket)): update(key, ticket)
        case .staged(.removeAll): removeAll()
        case .removeFromIndex(let digest, let name): removeFromIndex(digest, name)
        case .refresh: refresh()
        case .flush(let completion):
            commit()
            completion()
        case .settle(let completion): settle(completion)
        case .checkLimits: checkLimits()
        case .trim(let goal, let progress, let completion):
            targetWaiters.append((progress, completion))
            trim(to: goal)
        case .discard(let ids, let completion): completion(discard(ids))
        case .sweep(let progress, let completion):
            sweepWaiters.append((progress, completion))
            steps.trashFound(now: uptime)
        case .reconcile(let completion): startReconciliation(publishing: false, completion)
        case .describe(let body): body(index, steps.pausedUntil)
        case .close(let completion): close(completion)
        }
    }

    // MARK: Jobs

    private func write(_ key: CacheKey, _ ticket: UInt64) {
        guard case .entry(let entry) = state.shared.withLock({ $0.staging.current(key, ticket: ticket) }) else {
            return
        }
        guard steps.acceptsWrites(now: uptime) else { return drop(key, ticket) }
        guard hasRoom(for: entry.data.count) else {
            makeRoom(for: entry.data.count)
            return drop(key, ticket)
        }
        let name = state.name(of: key)
        do throws(SystemCallError) {
            let size = try entries.write(entry, name: name)
            steps.writeSucceeded()
            if entries.directoryWasReplaced { reopenAfterDirectoryVanished() }
            if freeBytes != .max { freeBytes -= size }
            add(.insert(row(of: entry, name: name, size: size)), bytes: size)
            state.shared.withLock { state in
                state.counters.written += 1
                state.known.insert(key.storedDigest)
                state.verified[key.storedDigest] = nil
                state.pausedUntil = nil
                state.staging.finish(key, ticket: ticket)
            }
        } catch {
            drop(key, ticket)
            failed(error.code)
        }
    }

    private func drop(_ key: CacheKey, _ ticket: UInt64) {
        // Remove the previous entry for the key, or the next read returns outdated data.
        let name = state.name(of: key)
        add(removeFile(name))
        state.shared.withLock { state in
            state.counters.dropped += 1
            if state.staging.finish(key, ticket: ticket) { state.known.remove(key.storedDigest) }
        }
    }

    /// Pauses writing if the system has no space or denies permission.
    func failed(_ code: Int32) {
        if steps.writeFailed(code, now: uptime) {
            evict(to: EvictionTarget(bytes: state.limits.sizeLimit / 2))
        }
        state.shared.withLock { state in
            state.pausedUntil = steps.pausedUntil
            state.pauseCode = code
        }
    }

    private func remove(_ key: CacheKey, _ ticket: UInt64) {
        guard state.shared.withLock({ $0.staging.current(key, ticket: ticket) }) != nil else { return }
        let name = state.name(of: key)
        add(removeFile(name))
        state.shared.withLock { state in
            guard state.staging.finish(key, ticket: ticket) else { return }
            state.known.remove(key.storedDigest)
            state.updated.remove(key.storedDigest)
            state.verified[key.storedDigest] = nil
        }
    }

    /// Deletes the file of an outdated or removed entry, which may not exist, and returns the change of the index.
    private func removeFile(_ name: String) -> IndexChange {
        do throws(SystemCallError) {
            try files.remove(layout.entry(name))
            return .delete(name: name)
        } catch  where error.code == ENOENT {
            return .delete(name: name)
        } catch {
            state.shared.withLock { $0.hasUndeletedFiles = true }
            return .hide(name: name)
        }
    }

    private func update(_ key: CacheKey, _ ticket: UInt64) {
        guard case .update(let update) = state.shared.withLock({ $0.staging.current(key, ticket: ticket) }) else {
            return
        }
        guard index == nil || state.isFilesOnly else {
            return add(.update(key: key, name: state.name(of: key), ticket: ticket, update, renewed: now))
        }
        rewrite(key, update)
        state.shared.withLock { _ = $0.staging.finish(key, ticket: ticket) }
    }

    /// Writes an update into the file because there is no index on disk.
    private func rewrite(_ key: CacheKey, _ update: EntryMetadataUpdate) {
        let name = state.name(of: key)
        guard steps.acceptsWrites(now: uptime),
            let contents = try? state.contents(ofEntry: name, limit: state.readableFileSize),
            var entry = try? state.decode(contents.consumeBytes(), name: name, key: key, verify: true)
        else { return }
        update.apply(to: &entry)
        do throws(SystemCallError) {
            let size = try entries.write(entry, name: name)
            var row = row(of: entry, name: name, size: size)
            row.accessed = now
            add(.insert(row), bytes: size)
            state.shared.withLock { $0.verified[key.storedDigest] = nil }
        } catch {
            failed(error.code)
        }
    }

    private func removeFromIndex(_ digest: CacheKey.StoredDigest?, _ name: String) {
        guard (try? files.status(at: layout.entry(name))) == nil else { return }
        add(.delete(name: name))
        guard let digest else { return }
        state.shared.withLock { state in
            if !state.staging.digests.contains(digest) { state.known.remove(digest) }
        }
    }

    func add(_ change: IndexChange, bytes: Int = 0) {
        changes.append(change)
        steps.rowAdded(bytes: bytes, now: uptime)
    }

    func row(of entry: CacheEntry, name: String, size: Int) -> IndexRow {
        let stored = entry.storedAt.timeIntervalSince1970
        let renewed = max(stored, entry.head?.responseTime.timeIntervalSince1970 ?? stored)
        return IndexRow(
            name: name, digest: entry.key.storedDigest, key: entry.key.canonical, size: size,
            payload: entry.data.count,
            stored: stored, renewed: renewed, accessed: stored, expires: entry.head?.expiry?.timeIntervalSince1970,
            lifetime: entry.lifetime,
            format: entry.format?.rawValue, tags: entry.tags)
    }
}
