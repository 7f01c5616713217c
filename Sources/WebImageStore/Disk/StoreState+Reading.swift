// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// Reading where it was asked for, and what every read ends with.
extension StoreState {
    /// Bytes of the largest file that is read on the caller's thread: copying it takes some ten microseconds, less than
    /// waking another thread and coming back.
    static let cachedReadLimit = 256 << 10

    /// What reading `key` gives, if its file is whole and the kernel has all of it in memory. The outer nil says nothing:
    /// the readers' threads have to look. Never waits for the disk.
    ///
    /// - Parameter verified: the inode of the file whose checksum was compared.
    func readCached(_ key: CacheKey, verified: UInt64?) -> DiskEntry?? {
        let name = key.fileName
        do throws(FileFailure) {
            let contents = try files.cachedContents(layout.entry(name), limit: Self.cachedReadLimit)
            let inode = contents.status.inode
            guard let entry = try? EntryFile.decode(contents.takeBytes(), key: key, verify: verified != inode) else {
                return nil
            }
            return .some(accept(entry, name: name, inode: inode))
        } catch {
            // Without either of the two calls there is no use in trying again.
            if [ENOSYS, EOPNOTSUPP, EPERM, EINVAL].contains(error.code) {
                shared.withLock { $0.readsCached = false }
            }
            return nil
        }
    }

    private func isExpired(_ entry: DiskEntry, now: Date) -> Bool {
        let renewed = max(entry.stored, entry.head?.responseTime ?? entry.stored)
        return now.timeIntervalSince(renewed) > configuration.maxAge
    }

    /// What a read that found the whole `entry` on disk gives back; counts it.
    func accept(_ entry: DiskEntry, name: String, inode: UInt64) -> DiskEntry? {
        let now = clock.now()
        guard !isExpired(entry, now: now) else {
            enqueue { state in
                guard case nil = state.staging.overlay(for: entry.key) else { return nil }
                state.known.remove(entry.key.digest)
                return .staged(state.staging.remove(entry.key))
            }
            return missed()
        }
        return shared.withLock { state -> DiskEntry? in
            var entry = entry
            state.verified[entry.key.digest] = inode
            // The disk may have been overtaken while it was read.
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
                state.accesses[entry.key.digest] = Access(name: name, time: now.timeIntervalSince1970)
            }
            return entry
        }
    }

    /// Counts a read that found nothing.
    func missed() -> DiskEntry? {
        shared.withLock { $0.counters.misses += 1 }
        return nil
    }
}
