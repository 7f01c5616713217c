// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// The state that callers, reader threads, and the writer thread of one disk cache share.
///
/// Each access is short and uses the same lock. No code performs I/O or resumes a task while it holds the lock.
final class DiskCacheState: Sendable {
    enum Job: Sendable {
        case staged(PendingWrites.Job)
        /// Removes an entry from the index because a read found that its file was missing, or was corrupt and has been
        /// deleted.
        case removeFromIndex(CacheKey.StoredDigest?, name: String)
        /// Refreshes the index before a possible miss, because other processes may have added entries.
        case refresh
        case flush(Completion)
        /// Waits until the index is loaded or, if necessary, rebuilt from the files.
        case settle(Completion)
        /// Evicts the entries that exceed the limits, because the limits changed.
        case checkLimits
        case trim(EvictionTarget, EvictionProgress?, Completion)
        case discard([Int], @Sendable (DiskCache.MaintenanceReport) -> Void)
        case sweep(SweepProgress?, Completion)
        case reconcile(@Sendable (DiskCache.MaintenanceReport) -> Void)
        case describe(@Sendable (CacheIndex?, Double?) -> Void)
        case close(Completion)

        /// Ends a job that the writer can't perform because the cache is closed.
        func cancel() {
            switch self {
            case .flush(let completion), .settle(let completion), .trim(_, _, let completion),
                .sweep(_, let completion), .close(let completion):
                completion()
            case .discard(_, let completion), .reconcile(let completion): completion(DiskCache.MaintenanceReport())
            case .describe(let body): body(nil, nil)
            case .staged, .removeFromIndex, .refresh, .checkLimits: break
            }
        }
    }
    typealias Completion = @Sendable () -> Void

    /// The reads of an entry since the last batch.
    struct Access {
        var name: String
        /// The time of the last read, in seconds since 1970.
        var time: Double
        var count = 0

        mutating func recordRead(at time: Double) {
            self.time = time
            count += 1
        }
    }

    /// A file whose checksum was verified, so that later reads needn't do it again.
    struct VerifiedFile: Sendable {
        let inode: UInt64
        /// The digest of the data, or `nil` if no summary of the entry has been necessary.
        let content: ContentDigest?
        private let size: Int
        private let modified: Double

        init(_ status: FileStatus, content: ContentDigest? = nil) {
            (inode, size, modified) = (status.inode, status.size, status.modified)
            self.content = content
        }

        /// Whether only reader threads read the file, so that its metadata alone is worth a separate read.
        var isLarge: Bool { size > cachedReadLimit }

        /// Returns whether a file with this status has the data of the verified file. A replaced file has another inode,
        /// which a third file can have again.
        func isSame(as status: FileStatus) -> Bool {
            inode == status.inode && size == status.size && modified == status.modified
        }
    }

    struct Shared {
        var staging: PendingWrites
        var jobs = FIFOQueue<Job>()
        var writerSleeps = false
        /// The digests of the entries on disk. The set is complete only after `isLoaded` is `true`.
        var known: Set<CacheKey.StoredDigest> = []
        /// The digests of the entries for which the index has newer values than the files.
        var updated: Set<CacheKey.StoredDigest> = []
        var isLoaded = false
        /// The files whose checksums were verified.
        var verified: [CacheKey.StoredDigest: VerifiedFile] = [:]
        var accesses: [CacheKey.StoredDigest: Access] = [:]
        var counters = DiskCache.Info.Counters()
        /// The uptime until which writing is paused.
        var pausedUntil: Double?
        /// The error number of the last failed write, or 0 if none failed.
        var pauseCode: Int32 = 0
        /// Whether the file of a removed entry couldn't be deleted. Such entries must not return, so only the index
        /// then proves that an entry exists.
        var hasUndeletedFiles = false
        /// The reason why the last removal of all entries left them on disk, or `nil` if it removed them.
        var removalFailure: SystemCallError?
        /// The uptime at which a refresh of the index was last requested.
        var lastRefresh = -Double.infinity
        /// The uptime at which the index was last read, together with all changes of other processes.
        var refreshed = -Double.infinity
        /// A number that increases when the index file is replaced.
        var indexGeneration = 0
        var isClosed = false
        /// Whether the kernel and the file system support reads from the page cache that don't wait for the disk.
        var readsCached = true

        var hasIndexFile = true

        /// Returns whether the index may have newer values than the file of a key.
        func mustQueryIndex(for digest: CacheKey.StoredDigest) -> Bool {
            guard hasIndexFile, isLoaded else { return hasIndexFile }
            // There are usually no such entries. An unknown entry comes from another process, which may have updated it.
            return !updated.isEmpty && updated.contains(digest) || !known.contains(digest)
        }

        /// Returns whether there's certainly no entry on disk, given the ``DiskCache/Configuration/refreshInterval``.
        func isAbsent(_ digest: CacheKey.StoredDigest, now: Double, interval: Double) -> Bool {
            isLoaded && !known.contains(digest) && (now < refreshed + interval || hasUndeletedFiles)
        }

        /// Removes entries whose files were deleted, except those that wait to be written.
        mutating func forget(_ digests: some Sequence<CacheKey.StoredDigest>) {
            let waiting = Set(staging.digests)
            // Skip empty collections because hashing takes most of the time here.
            let (hasVerified, hasUpdated) = (!verified.isEmpty, !updated.isEmpty)
            for digest in digests {
                if hasVerified { verified[digest] = nil }
                if hasUpdated { updated.remove(digest) }
                if waiting.isEmpty || !waiting.contains(digest) { known.remove(digest) }
            }
        }

        /// Returns `nil` if the index isn't too old to prove that an entry doesn't exist, or if a refresh was requested
        /// recently.
        mutating func refreshIfOld(now: Double, interval: Double) -> Job? {
            guard isLoaded, now >= refreshed + interval, now >= lastRefresh + interval else { return nil }
            lastRefresh = now
            return .refresh
        }
    }

    let configuration: DiskCache.Configuration
    let layout: CacheLayout
    /// Whether the directory is on a remote file system.
    ///
    /// SQLite's locks are unreliable there. The index is therefore stored in memory, the files are the only source of
    /// information, and the cache finds entries of other processes by checking the files.
    let isFilesOnly: Bool
    let extras: ExtraDirectories
    let selectorDigests: SelectorDigests
    /// The encryption of the files, or `nil` if they aren't encrypted.
    let cipher: CacheCipher?
    private let currentLimits: Lock<(limits: DiskCache.Limits, largestEntry: Int)>
    /// Guards the opening and the replacement of the files of the index.
    let indexFiles = Lock(())
    let shared: Lock<Shared>
    private let wake = DispatchSemaphore(value: 0)
    /// The directory of the cache, which stays open because resolving its path takes as long as reading a small file.
    private let root = Lock<OpenFolder?>(nil)

    var files: any FileSystem { configuration.fileSystem }
    var clock: TimeSource { configuration.clock }
    var uptime: Double { clock.uptime() }
    /// The current time in seconds since 1970.
    var now: Double { clock.now().timeIntervalSince1970 }

    /// Without a salt, responses that depend on private request header fields are found only by this process.
    init(_ configuration: DiskCache.Configuration, salt: [UInt8]? = nil, cipher: CacheCipher? = nil) {
        self.configuration = configuration
        self.cipher = cipher
        selectorDigests = SelectorDigests(key: salt ?? KeyedHash.random(count: CacheSalt.count))
        layout = CacheLayout(configuration)
        let limits = DiskCache.Limits(configuration)
        currentLimits = Lock((limits, limits.effectiveEntrySizeLimit))
        isFilesOnly = (try? configuration.fileSystem.isRemote(layout.root)) ?? false
        extras = ExtraDirectories(
            configuration.readOnlyDirectories.map(\.absoluteFilePath), files: configuration.fileSystem)
        shared = Lock(
            Shared(
                staging: PendingWrites(
                    entryLimit: configuration.maxPendingEntries, byteLimit: configuration.maxPendingBytes),
                hasIndexFile: !isFilesOnly))
    }

    var limits: DiskCache.Limits { currentLimits.withLock { $0.limits } }
    /// The maximum size of one entry in bytes.
    var entrySizeLimit: Int { currentLimits.withLock { $0.limits.effectiveEntrySizeLimit } }
    /// The maximum size in bytes of an entry that can be read, which is the highest limit for stored entries so far.
    var readableEntrySize: Int { currentLimits.withLock { $0.largestEntry } }
    /// The number of seconds after which an entry that was neither stored nor revalidated expires.
    var maxAge: Double { currentLimits.withLock { $0.limits.maxAge / .seconds(1) } }

    func setLimits(_ limits: DiskCache.Limits) {
        currentLimits.withLock { $0 = (limits, max($0.largestEntry, limits.effectiveEntrySizeLimit)) }
    }

    func openRoot() throws(SystemCallError) -> OpenFolder {
        if let folder = root.withLock({ $0 }) { return folder }
        let folder = try OpenFolder(layout.root, files)
        root.withLock { $0 = folder }
        return folder
    }

    /// Closes the directory of the cache after the reads that use it. The next read opens it again.
    func closeRoot() {
        let folder = root.withLock { folder in
            defer { folder = nil }
            return folder
        }
        _ = consume folder
    }

    /// Wakes the writer if it sleeps.
    func enqueue(_ body: (inout Shared) -> Job?) {
        let mustWake = shared.withLock { state -> Bool in
            guard let job = body(&state) else { return false }
            state.jobs.push(job)
            defer { state.writerSleeps = false }
            return state.writerSleeps
        }
        if mustWake { wake.signal() }
    }

    /// Enqueues a job. Returns `false` without enqueuing it if the cache is closed.
    func enqueueIfOpen(_ job: Job) -> Bool {
        var isOpen = false
        enqueue { state in
            isOpen = !state.isClosed
            return isOpen ? job : nil
        }
        return isOpen
    }

    /// Returns `true` if the time passed without a job. The writer calls this method.
    func sleep(seconds: Double) -> Bool {
        let mayStay = shared.withLock { state -> Bool in
            state.writerSleeps = state.jobs.isEmpty
            return state.writerSleeps
        }
        guard mayStay else { return false }
        let timedOut = wake.wait(timeout: .now() + min(seconds, 86_400)) == .timedOut
        guard timedOut else { return false }
        // If another thread signaled after the timeout, consume the signal so that it doesn't end the next sleep.
        let signalled = shared.withLock { state -> Bool in
            defer { state.writerSleeps = false }
            return !state.writerSleeps
        }
        if signalled { wake.wait() }
        return !signalled
    }
}

struct EvictionTarget: Sendable, Equatable {
    var bytes: Int
    var entries = Int.max
    /// The number of seconds after which entries that were neither stored nor revalidated are evicted, or `nil` to
    /// ignore the age. The writer measures the age when it reads the index, because the clock may be set back after the
    /// request.
    var maxAge: Double?
    /// Whether entries whose own time to live has passed are evicted, too.
    var includesExpired = false

    func combined(_ other: EvictionTarget) -> EvictionTarget {
        EvictionTarget(
            bytes: min(bytes, other.bytes), entries: min(entries, other.entries),
            maxAge: [maxAge, other.maxAge].compactMap { $0 }.min(),
            includesExpired: includesExpired || other.includesExpired)
    }
}

/// A closure that receives the number of remaining entries and bytes. The writer calls it on its thread.
typealias EvictionProgress = @Sendable (_ entries: Int, _ bytes: Int) -> Void

/// A closure that receives the number of deleted files. The writer calls it on its thread.
typealias SweepProgress = @Sendable (_ deleted: Int) -> Void
