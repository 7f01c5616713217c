// SPDX-License-Identifier: MIT

import CSQLite
import Foundation
import Glibc
import Synchronization
import WebImageConcurrency

/// The writer, which runs on the only thread that changes the directory and the index.
///
/// The writer performs the steps that ``WriterStateMachine`` selects, one at a time. Each part of the work belongs to an
/// object with private state. The writer passes these objects the index and handles its errors, because they can affect
/// every part. All objects are confined to its thread.
final class DiskCacheWriter {
    private let state: DiskCacheState
    /// The number under which the index lists this writer while it runs. A number that is still listed after its process
    /// ended indicates that the process was killed.
    private let session = Int(UInt64.random(in: 1...(1 << 62)))
    private let locks: DirectoryLocks
    private let trash: TrashSweeper
    private let indexFile: IndexFile
    private let batch: IndexBatch
    private let known: KnownEntryPublisher
    private let space: SpaceReserve
    private let evictor: Evictor
    private let reconciler: Reconciler
    private let temporary: EntryWriter
    private let entries: EntryFiles
    private var steps: WriterStateMachine
    private var isClosing = false

    init(_ state: DiskCacheState) {
        self.state = state
        locks = DirectoryLocks(state)
        trash = TrashSweeper(state)
        indexFile = IndexFile(state, locks, trash)
        space = SpaceReserve(state)
        batch = IndexBatch(state, space)
        known = KnownEntryPublisher(state)
        evictor = Evictor(state, space)
        reconciler = Reconciler(state)
        temporary = EntryWriter(state, session: session)
        entries = EntryFiles(state: state, writer: temporary)
        steps = WriterStateMachine(sizeLimit: state.limits.sizeLimit)
    }

    private var uptime: Double { state.uptime }
    private var index: CacheIndex? { indexFile.index }

    func run() {
        start()
        while !isClosing {
            let (hasJob, accesses) = state.shared.withLock { (!$0.jobs.isEmpty, $0.accesses.count) }
            steps.accessed(count: accesses, now: uptime)
            if evictor.isRunning { steps.recordOverLimit(now: uptime) }
            if trash.takeRequest() { steps.trashFound(now: uptime) }
            steps.isReconciling = reconciler.isRunning
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
        case .sweep: steps.sweepDone(again: trash.sweepSlice(), now: uptime)
        case .wait(let seconds): if state.sleep(seconds: seconds) { steps.waited() }
        }
    }

    private func perform(_ job: DiskCacheState.Job) {
        switch job {
        case .staged(.write(let key, let ticket)): write(key, ticket)
        case .staged(.remove(let key, let ticket)): add(entries.remove(key, ticket))
        case .staged(.update(let key, let ticket)): update(key, ticket)
        case .staged(.removeAll): removeAll()
        case .removeFromIndex(let digest, let name): add(entries.forget(digest, name))
        case .refresh: refresh()
        case .flush(let completion):
            commit()
            completion()
        case .settle(let completion): reconciler.settle(completion)
        case .checkLimits: checkLimits()
        case .trim(let goal, let progress, let completion):
            evictor.addWaiter(progress, completion)
            evictor.evict(to: goal, of: index)
        case .discard(let ids, let completion): completion(discard(ids))
        case .sweep(let progress, let completion): trash.requestSweep(progress, completion)
        case .reconcile(let completion): reconcile(completion)
        case .describe(let body): body(index, steps.pausedUntil)
        case .close(let completion): close(completion)
        }
    }

    // MARK: Entries

    private func write(_ key: CacheKey, _ ticket: UInt64) {
        guard case .entry(let entry) = state.shared.withLock({ $0.staging.current(key, ticket: ticket) }) else {
            return
        }
        guard steps.acceptsWrites(now: uptime) else { return add(entries.drop(key, ticket)) }
        guard space.hasRoom(for: entry.data.count) else {
            steps.spaceMissed()
            evictor.makeRoom(for: entry.data.count, in: index)
            return add(entries.drop(key, ticket))
        }
        do throws(SystemCallError) {
            let row = try entries.write(entry)
            steps.writeSucceeded()
            // The open index belongs to the deleted directory, and the rows of the batch describe files that were
            // deleted with it.
            if temporary.takeReplacement(), indexFile.reopenIfDeleted() {
                batch.removeAll()
                reopened()
            }
            space.add(-row.size)
            // The file precedes its row. If the process is killed in between, the comparison at the next start adds the
            // row.
            add(.insert(row))
            entries.finishWrite(of: key, ticket)
        } catch {
            add(entries.drop(key, ticket))
            failed(error.code)
        }
    }

    private func failed(_ code: Int32) {
        if steps.writeFailed(code, now: uptime) {
            // The disk can be full although the cache is within its limit, so evicting down to the limit could free
            // nothing. If the cache is smaller than this goal, the next write evicts for the missing space.
            evictor.evict(to: EvictionTarget(bytes: state.limits.sizeLimit / 2))
        }
        state.shared.withLock { state in
            state.pausedUntil = steps.pausedUntil
            state.pauseCode = code
        }
    }

    private func update(_ key: CacheKey, _ ticket: UInt64) {
        guard case .update(let update) = state.shared.withLock({ $0.staging.current(key, ticket: ticket) }) else {
            return
        }
        guard index == nil || state.isFilesOnly else {
            // A row is enough, so the file isn't written again. The update is pending until the row is committed.
            return add(.update(key: key, name: state.name(of: key), ticket: ticket, update, renewed: state.now))
        }
        do throws(SystemCallError) {
            if steps.acceptsWrites(now: uptime) { add(try entries.rewrite(key, update)) }
        } catch {
            failed(error.code)
        }
        state.shared.withLock { _ = $0.staging.finish(key, ticket: ticket) }
    }

    private func removeAll() {
        // Rows that are committed after the removal would describe files that were set aside.
        commit()
        let failure = entries.setAllAside()
        withIndex { index throws(IndexError) in try index.removeAll() }
        entries.finishRemoveAll(failure)
        known.recordRemoval(from: index)
        trash.find()
    }

    private func discard(_ ids: [Int]) -> DiskCache.MaintenanceReport {
        // An entry that was stored again has a row with another id, so it isn't deleted. Its row must be in the index
        // for this.
        commit()
        var report = DiskCache.MaintenanceReport()
        withIndex { index throws(IndexError) in try evictor.discard(ids, from: index, &report) }
        return report
    }

    // MARK: Index

    private func withIndex(_ body: (CacheIndex) throws(IndexError) -> Void) {
        guard let index else { return }
        do throws(IndexError) { try body(index) } catch { indexFailed(error) }
    }

    private func add(_ change: IndexChange?) {
        guard let change else { return }
        batch.add(change)
        steps.rowAdded(bytes: change.addedBytes, now: uptime)
    }

    private func commit() {
        do throws(IndexError) {
            let isWritten = try batch.commit(to: index, isLast: isClosing)
            steps.committed()
            if isWritten { evictor.checkSize(of: index) }
        } catch {
            return indexFailed(error)
        }
        if index == nil, indexFile.retry() { reopened() }
    }

    private func indexFailed(_ fault: IndexError) {
        steps.commitFailed(now: uptime)
        switch fault.code {
        // Another process has the lock. The batch remains, and the writer retries it after a delay.
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_INTERRUPT: break
        case SQLITE_FULL:
            batch.discardUnindexedFiles()
            failed(ENOSPC)
        case SQLITE_IOERR, SQLITE_CANTOPEN: failed(EIO)
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: failed(EACCES)
        default: if fault.isDamage { replaceIndex() }
        }
        if batch.removeExcess(), !reconciler.isRunning { reconciler.start(isPublishing: false) }
    }

    private func refresh() {
        guard !reconciler.isRunning else { return }
        withIndex { index throws(IndexError) in
            if try !known.refresh(from: index) { publishKnown() }
        }
    }

    private func publishKnown() {
        commit()
        withIndex { index throws(IndexError) in try known.publishAll(of: index) }
    }

    private func reconcile(_ completion: @escaping Reconciler.Completion) {
        guard index != nil else { return completion(DiskCache.MaintenanceReport()) }
        reconciler.start(isPublishing: false, completion)
    }

    private func reconcileShard() {
        guard index != nil else { return endReconciliation() }
        commit()
        // If the commit replaced the index, the comparison has started again.
        withIndex { index throws(IndexError) in
            for change in try reconciler.compareShard(with: index) { add(change) }
        }
        if reconciler.isComplete { endReconciliation() }
    }

    private func endReconciliation() {
        guard let comparison = reconciler.end() else { return }
        commit()
        if comparison.isPublishing { publishKnown() }
        comparison.finish()
    }

    // MARK: Limits

    private func checkLimits() {
        steps.setSizeLimit(state.limits.sizeLimit)
        // Entries that aren't in the index yet count too.
        commit()
        evictor.checkSize(of: index)
        checkAge()
    }

    private func checkSpace() {
        steps.spaceChecked(now: uptime)
        evictor.checkSpace(for: index)
    }

    private func checkAge() {
        steps.ageChecked(now: uptime)
        evictor.evict(to: EvictionTarget(bytes: .max, maxAge: state.maxAge, includesExpired: true), of: index)
    }

    private func evictSlice() {
        guard evictor.isRunning, index != nil else { return endEviction() }
        guard locks.acquireEviction() else { return steps.sliceDone(again: true, delay: 0.02, now: uptime) }
        defer { locks.releaseEviction() }
        // The commit writes the uses up to now. Read the time first, because later uses aren't in the index yet.
        let time = state.now
        commit()
        guard let index else { return endEviction() }
        do throws(IndexError) {
            guard try evictor.deleteSlice(of: index, at: time) else { return endEviction() }
            steps.sliceDone(again: true, now: uptime)
        } catch {
            endEviction()
            indexFailed(error)
        }
    }

    private func endEviction() {
        steps.sliceDone(again: false, now: uptime)
        evictor.finish()
    }

    // MARK: Opening and closing

    /// Opens the lock and the index, repairs the state after an unclean shutdown, and loads the known entries.
    private func start() {
        let leftovers = LeftoverRemover(state: state, trash: trash)
        let isAlone = locks.acquire()
        leftovers.removeLinkedShards()
        indexFile.open(isAlone: isAlone)
        let mustCompare = mustReconcile(isAlone: isAlone)
        beginSession()
        // Until now, other processes that start wait for the lock, because the index may need repair and doesn't list
        // this writer.
        locks.share()
        // The index may lack entries, so reads check the files until the comparison publishes its result.
        if mustCompare, index != nil { reconciler.start(isPublishing: true) } else { publishKnown() }
        temporary.removeAbandonedFiles(isAlone: isAlone, now: state.now)
        leftovers.setAsideEntries()
        checkSpace()
    }

    /// Returns whether the index may lack entries. Replaces a corrupt index after a process was killed.
    private func mustReconcile(isAlone: Bool) -> Bool {
        guard let index else { return true }
        var wasKilled = false
        do throws(IndexError) {
            if isAlone, try index.hasOpenSessions() {
                wasKilled = true
                // The check reads the complete index, so perform it only after a process was killed.
                if try !index.isSound() { replaceIndex(isAlone: true) }
                try self.index?.removeSessions()
            }
            // If there are files, an index without rows is new, because the previous one was lost or replaced.
            if try index.totals().entries == 0 { return !entries.isEmpty }
        } catch {
            indexFailed(error)
        }
        return wasKilled
    }

    private func beginSession() {
        withIndex { index throws(IndexError) in try index.beginSession(session) }
    }

    private func replaceIndex(isAlone: Bool = false) {
        guard indexFile.replace(isAlone: isAlone) else {
            // Another process uses the corrupt index. The known entries may be incomplete, so reads check the files.
            return state.shared.withLock { $0.isLoaded = false }
        }
        reopened()
    }

    private func reopened() {
        // The directory may have been deleted and created again. The new index has no values that are newer than the
        // files.
        state.closeRoot()
        state.shared.withLock { state in
            state.isLoaded = false
            state.updated = []
        }
        if !isClosing { beginSession() }
        if index != nil { reconciler.start(isPublishing: true) }
    }

    private func close(_ completion: DiskCacheState.Completion) {
        isClosing = true
        commit()
        // The session ends after the last commit. If the process is killed before, the next start compares the files.
        try? index?.endSession(session)
        indexFile.close()
        state.closeRoot()
        locks.close()
        let rest = state.shared.withLock { state -> [DiskCacheState.Job] in
            var rest: [DiskCacheState.Job] = []
            while let job = state.jobs.pop() { rest.append(job) }
            return rest
        }
        evictor.notifyWaiters()
        trash.notifyWaiters()
        reconciler.end()?.finish()
        // No thread performs these jobs, and callers wait for some of them.
        for job in rest { job.cancel() }
        completion()
    }
}
