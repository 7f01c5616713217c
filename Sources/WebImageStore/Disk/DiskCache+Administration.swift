// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

extension DiskCache {
    /// Removes all entries.
    ///
    /// Reads miss the entries as soon as this method is called. When it returns, the entries are no longer in their
    /// location. The cache deletes the files gradually in the background.
    ///
    /// If ``Configuration/encryptionKey`` is set, the cache first overwrites random bytes without which the entries and
    /// the index can't be decrypted, even with the key. This also applies to copies of the files, such as backups that
    /// don't contain these bytes. On file systems that write data to new places, such as Btrfs, ZFS, and those with a
    /// data journal, and on solid-state disks, the previous bytes can remain on the medium until it reuses them. To make
    /// all entries unreadable there, too, discard the encryption key. Entries of other keys remain.
    public func removeAll() async {
        state.enqueue { state in
            guard !state.isClosed else { return nil }
            state.known = []
            state.updated = []
            return .staged(state.staging.removeAll())
        }
        await flush()
    }

    /// The reason why the last call of ``removeAll()`` left the entries on disk or didn't make encrypted ones unusable, or
    /// `nil` if it removed them.
    package var removalFailure: ImageError? {
        state.shared.withLock { $0.removalFailure }.map {
            .cache(.systemCallFailed(operation: $0.operation, path: state.layout.blobs, errno: $0.code))
        }
    }

    /// Checks whether the cache can write to its directory.
    ///
    /// - Throws: ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)`` if the directory is read-only, or
    ///   ``ImageError/RequestFailure/managerShutDown`` if the cache is closed.
    package func requireWritable() async throws(ImageError) {
        try await running { reader throws(SystemCallError) in
            try reader.state.layout.requireWritable(reader.state.files)
        }
    }

    /// Waits until all pending changes are on disk and in the index, or have failed.
    public func flush() async { await perform { .flush($0) } }

    /// Deletes the entries that are evicted first until the remaining ones occupy at most the given number of bytes.
    ///
    /// - Parameter size: The number of bytes that the remaining entries may occupy.
    public func trim(toSize size: Int) async { await trim(toSize: size, progress: nil) }

    /// Deletes the entries that are evicted first until the remaining ones occupy at most the given number of bytes.
    /// `progress` receives bytes.
    package func trim(toSize bytes: Int, progress: DiskProgress?) async {
        let before = progress == nil ? 0 : await info().size
        let excess = max(0, before - max(0, bytes))
        await perform { completion in
            let report = progress.map { progress in
                { @Sendable (_: Int, left: Int) in progress(min(excess, max(0, before - left)), excess) }
            }
            return .trim(EvictionTarget(bytes: max(0, bytes)), report, completion)
        }
    }

    /// Deletes the entries that are evicted first until at most the given number of entries remains.
    ///
    /// - Parameter count: The number of entries that may remain. A negative number becomes 0.
    public func trim(toCount count: Int) async {
        await perform { .trim(EvictionTarget(bytes: .max, entries: max(0, count)), nil, $0) }
    }

    /// Deletes the entries that were neither stored nor revalidated during the given time.
    ///
    /// If ``DiskCache/Configuration/expiration`` is ``CacheExpiration/sinceLastUse``, uses count, too.
    ///
    /// - Parameter maxAge: The age of the oldest entry that remains.
    public func trim(maxAge: Duration) async { await trim(maxAge: maxAge, progress: nil) }

    /// Deletes the entries that were neither stored nor revalidated during the given time. `progress` receives the
    /// number of deleted entries as both arguments, because the total isn't known in advance.
    package func trim(maxAge: Duration, progress: DiskProgress?) async {
        let before = progress == nil ? 0 : await info().entryCount
        await perform { completion in
            let report = progress.map { progress in
                { @Sendable (left: Int, _: Int) in progress(max(0, before - left), max(0, before - left)) }
            }
            return .trim(EvictionTarget(bytes: .max, maxAge: maxAge / .seconds(1)), report, completion)
        }
    }

    /// Waits until the files that ``removeAll()`` set aside are deleted. `progress` receives the number of deleted
    /// files as both arguments, because the total isn't known.
    package func deleteTrash(progress: DiskProgress? = nil) async {
        await perform { completion in
            .sweep(progress.map { progress in { @Sendable deleted in progress(deleted, deleted) } }, completion)
        }
    }

    /// Writes the pending changes and closes the cache. Later reads miss, and later writes have no effect.
    public func close() async {
        await withCheckedContinuation { continuation in
            var isOpen = false
            state.enqueue { state in
                isOpen = !state.isClosed
                state.isClosed = true
                return isOpen ? .close { continuation.resume() } : nil
            }
            if !isOpen { continuation.resume() }
        }
        readers.close()
    }

    /// Returns the statistics of the cache.
    public func info() async -> DiskCache.Info {
        let directory = state.configuration.directory
        let limit = state.limits.sizeLimit
        let clock = state.clock
        await settle()
        let (counters, pauseCode) = state.shared.withLock { ($0.counters, $0.pauseCode) }
        return await withCheckedContinuation { continuation in
            let accepted = state.enqueueIfOpen(
                .describe { index, pausedUntil in
                    let totals = try? index?.totals()
                    let left = pausedUntil.map { $0 - clock.uptime() } ?? 0
                    continuation.resume(
                        returning: DiskCache.Info(
                            entryCount: totals?.entries ?? 0, size: totals?.bytes ?? 0, sizeLimit: limit,
                            oldestEntryDate: (try? index?.oldest()) ?? nil, directory: directory, counters: counters,
                            hits: totals?.hits ?? 0, misses: totals?.misses ?? 0,
                            suspensionReason: left > 0
                                ? "writing is paused for \(Int(saturating: left.rounded(.up))) s after an error "
                                    + "(\(String(cString: strerror(pauseCode))))"
                                : nil))
                })
            if !accepted {
                continuation.resume(
                    returning: DiskCache.Info(
                        entryCount: 0, size: 0, sizeLimit: limit, oldestEntryDate: nil, directory: directory,
                        counters: counters,
                        suspensionReason: "the cache is closed"))
            }
        }
    }

    /// Reads every entry, verifies its checksum, deletes corrupt entries, and makes the index match the files.
    ///
    /// Canceling the current task ends the verification early.
    ///
    /// - Parameter progress: A closure that receives the progress in directories of entries. The cache calls it on one
    ///   of its threads, so it must not block. The default is `nil`.
    /// - Returns: A report of the files that were checked and repaired.
    public func verify(
        progress: (@Sendable (_ completed: Int, _ total: Int) -> Void)? = nil
    ) async -> DiskCache.MaintenanceReport {
        await settle()
        var report = DiskCache.MaintenanceReport()
        let shards = await readers.run({ $0.shards }) ?? []
        // Process one shard at a time so that reads of images can run in between.
        for (index, shard) in shards.enumerated() where !Task.isCancelled {
            let part = await readers.run { $0.verify(shard: shard) } ?? DiskCache.MaintenanceReport()
            report.entryCount += part.entryCount
            report.size += part.size
            report.corruptCount += part.corruptCount
            progress?(index + 1, shards.count)
        }
        let repaired = await withCheckedContinuation { continuation in
            let accepted = state.enqueueIfOpen(.reconcile { continuation.resume(returning: $0) })
            if !accepted { continuation.resume(returning: DiskCache.MaintenanceReport()) }
        }
        report.corruptCount += repaired.corruptCount
        report.recoveredCount = repaired.recoveredCount
        report.missingCount = max(0, repaired.missingCount)
        await flush()
        return report
    }

    func settle() async {
        await perform { .settle($0) }
        await flush()
    }

    /// Waits for a job of the writer. Returns immediately if the cache is closed.
    func perform(_ job: (@escaping DiskCacheState.Completion) -> DiskCacheState.Job) async {
        await withCheckedContinuation { continuation in
            if !state.enqueueIfOpen(job { continuation.resume() }) { continuation.resume() }
        }
    }
}

extension EntryReader {
    var shards: [String] {
        ((try? state.files.names(in: state.layout.blobs)) ?? []).map { "\(state.layout.blobs)/\($0)" }
    }

    /// Deletes the corrupt entries of a shard directory. This method blocks.
    func verify(shard: String) -> DiskCache.MaintenanceReport {
        var report = DiskCache.MaintenanceReport()
        for name in (try? state.files.names(in: shard)) ?? []
        where CacheLayout.isEntryName(name) {
            let path = state.layout.entry(name)
            guard let contents = try? state.contents(ofEntry: name, limit: .max) else { continue }
            report.entryCount += 1
            report.size += contents.status.size
            let inode = contents.status.inode
            let isWhole: Bool
            do throws(EntryFileError) {
                let key = try state.decode(contents.consumeBytes(), name: name, key: nil, verify: true).key
                isWhole = state.name(of: key) == name
            } catch {
                isWhole = false
            }
            guard !isWhole, (try? state.files.status(at: path))?.inode == inode else { continue }
            try? state.files.remove(path)
            report.corruptCount += 1
            state.enqueue { state in
                state.counters.corrupt += 1
                return .removeFromIndex(nil, name: name)
            }
        }
        return report
    }
}
