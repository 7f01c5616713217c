// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// What callers, reader threads and the writer thread of one disk cache share. Every access is short and under
/// one lock; nobody does I/O or resumes anybody while holding it.
final class StoreState: Sendable {
    /// Work for the writer.
    enum Job: Sendable {
        case staged(Staging.Job)
        /// Reading found no file where the index has one, or a damaged one that is gone now.
        case forget(CacheKey.StoredDigest?, name: String)
        /// Reading missed: other processes may have added entries.
        case refresh
        case flush(Completion)
        /// Waits until the index is loaded, also where it has to be made again from the files.
        case settle(Completion)
        case trim(EvictionGoal, EvictionProgress?, Completion)
        /// Deletes the entries of those lines of the index; gives what was deleted.
        case discard([Int], @Sendable (DiskRemoval) -> Void)
        /// Deletes what was set aside.
        case sweep(SweepProgress?, Completion)
        case reconcile(@Sendable (VerifyReport) -> Void)
        case describe(@Sendable (CacheIndex?, Double?) -> Void)
        case close(Completion)
    }
    typealias Completion = @Sendable () -> Void

    /// When an entry was read last, in seconds since 1970.
    struct Access {
        var name: String
        var time: Double
    }

    struct Shared {
        var staging: Staging
        var jobs = FIFO<Job>()
        var writerSleeps = false
        /// Digests of the entries on disk; not to be relied on before `isLoaded`.
        var known: Set<CacheKey.StoredDigest> = []
        /// Entries of which the index knows something newer than their files.
        var updated: Set<CacheKey.StoredDigest> = []
        var isLoaded = false
        /// Inode of each file whose checksum has been compared.
        var verified: [CacheKey.StoredDigest: UInt64] = [:]
        /// Reads since the last batch.
        var accesses: [CacheKey.StoredDigest: Access] = [:]
        var counters = DiskCacheInfo.Counters()
        /// Uptime until which writing pauses.
        var pausedUntil: Double?
        var lastRefresh = -Double.infinity
        /// Grows when the index's file is replaced.
        var indexGeneration = 0
        var isClosed = false
        /// Whether system and file system can read what is in memory without waiting for the disk.
        var readsCached = true

        /// Whether readers find the index on disk.
        var hasIndexFile = true

        /// Whether the index may know something newer than the file of `key`.
        func mustAskIndex(for key: CacheKey) -> Bool {
            hasIndexFile && (!isLoaded || updated.contains(key.storedDigest))
        }
    }

    let configuration: DiskCacheConfiguration
    let layout: CacheLayout
    /// Whether the folder is on another machine: SQLite's locks cannot be relied on there, so that the index is kept
    /// in memory, the files say everything, and other processes' entries are found by looking.
    let isFilesOnly: Bool
    let extras: ExtraDirectories
    let shared: Lock<Shared>
    private let wake = DispatchSemaphore(value: 0)

    var files: any FileSystem { configuration.fileSystem }
    var clock: TimeSource { configuration.clock }

    /// Of a folder that is there.
    init(_ configuration: DiskCacheConfiguration) {
        self.configuration = configuration
        layout = CacheLayout(root: configuration.directory)
        isFilesOnly = (try? configuration.fileSystem.isRemote(configuration.directory)) ?? false
        extras = ExtraDirectories(configuration.extraDirectories, files: configuration.fileSystem)
        shared = Lock(
            Shared(
                staging: Staging(
                    entryLimit: configuration.stagingLimit.entries, byteLimit: configuration.stagingLimit.bytes),
                hasIndexFile: !isFilesOnly))
    }

    /// Changes the shared state and queues the jobs `body` gives; wakes the writer if it sleeps.
    func enqueue(_ body: (inout Shared) -> Job?) {
        let mustWake = shared.withLock { state -> Bool in
            guard let job = body(&state) else { return false }
            state.jobs.push(job)
            defer { state.writerSleeps = false }
            return state.writerSleeps
        }
        if mustWake { wake.signal() }
    }

    /// Queues `job`; false when the cache is closed, and then the job is not done.
    func enqueueIfOpen(_ job: Job) -> Bool {
        var isOpen = false
        enqueue { state in
            isOpen = !state.isClosed
            return isOpen ? job : nil
        }
        return isOpen
    }

    /// Called by the writer: waits until a job comes or `seconds` have passed.
    func sleep(seconds: Double) {
        let mayStay = shared.withLock { state -> Bool in
            state.writerSleeps = state.jobs.isEmpty
            return state.writerSleeps
        }
        guard mayStay else { return }
        let timedOut = wake.wait(timeout: .now() + min(seconds, 86_400)) == .timedOut
        guard timedOut else { return }
        // Somebody may have signalled in between; then the signal must not wake the next sleep for nothing.
        let signalled = shared.withLock { state -> Bool in
            defer { state.writerSleeps = false }
            return !state.writerSleeps
        }
        if signalled { wake.wait() }
    }
}

/// How far eviction goes.
struct EvictionGoal: Sendable, Equatable {
    /// Bytes that may stay.
    var bytes: Int
    /// Seconds since 1970; what was neither stored nor revalidated since leaves. Nil: age does not matter.
    var cutoff: Double?

    /// Both goals in one.
    func combined(_ other: EvictionGoal) -> EvictionGoal {
        EvictionGoal(
            bytes: min(bytes, other.bytes), cutoff: [cutoff, other.cutoff].compactMap { $0 }.max())
    }
}

/// Called on the writer's thread with the entries and bytes that are left.
typealias EvictionProgress = @Sendable (_ entries: Int, _ bytes: Int) -> Void

/// Called on the writer's thread with the number of files deleted so far.
typealias SweepProgress = @Sendable (_ deleted: Int) -> Void
