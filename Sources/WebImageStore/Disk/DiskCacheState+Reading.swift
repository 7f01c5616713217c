// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// Reads on the calling thread, and the final step of every read.
extension DiskCacheState {
    /// The maximum size in bytes of a file that the calling thread reads.
    ///
    /// Copying such a file takes about 10 microseconds, which is less than waking another thread and returning.
    static let cachedReadLimit = 256 << 10

    /// Returns the entry of a key if its file is intact and completely in the page cache of the kernel.
    ///
    /// The outer value is `nil` if a reader thread has to read the file. This method never waits for the disk.
    ///
    /// - Parameters:
    ///   - key: The key of the entry.
    ///   - verified: The inode of the file whose checksum was verified.
    func readCached(_ key: CacheKey, verified: UInt64?) -> CacheEntry?? {
        let name = key.fileName
        do throws(SystemCallError) {
            let contents = try files.cachedContents(layout.entry(name), limit: Self.cachedReadLimit)
            let inode = contents.status.inode
            guard let entry = try? EntryFile.decode(contents.consumeBytes(), key: key, verify: verified != inode) else {
                return nil
            }
            return .some(accept(entry, name: name, inode: inode))
        } catch {
            // If the system doesn't support one of the two calls, don't try them again.
            if [ENOSYS, EOPNOTSUPP, EPERM, EINVAL].contains(error.code) {
                shared.withLock { $0.readsCached = false }
            }
            return nil
        }
    }

    private func isExpired(_ entry: CacheEntry, now: Date) -> Bool {
        let renewed = max(entry.storedAt, entry.head?.responseTime ?? entry.storedAt)
        return now.timeIntervalSince(renewed) > maxAge
    }

    /// Returns the result of a read that found an intact entry on disk, and counts the read.
    func accept(_ entry: CacheEntry, name: String, inode: UInt64) -> CacheEntry? {
        let now = clock.now()
        guard !isExpired(entry, now: now) else {
            enqueue { state in
                guard case nil = state.staging.overlay(for: entry.key) else { return nil }
                state.known.remove(entry.key.storedDigest)
                return .staged(state.staging.remove(entry.key))
            }
            return missed()
        }
        return shared.withLock { state -> CacheEntry? in
            var entry = entry
            state.verified[entry.key.storedDigest] = inode
            // The entry may have changed in memory during the read.
            switch state.staging.overlay(for: entry.key) {
            case .removed:
                state.counters.misses += 1
                return nil
            case .entry(let newer): entry = newer
            case .update(let update): update.apply(to: &entry)
            case nil: break
            }
            state.counters.hits += 1
            if state.accesses.count < 4_096 {
                state.accesses[entry.key.storedDigest] = Access(name: name, time: now.timeIntervalSince1970)
            }
            return entry
        }
    }

    /// Counts a miss and returns `nil`.
    func missed() -> CacheEntry? {
        shared.withLock { $0.counters.misses += 1 }
        return nil
    }
}
