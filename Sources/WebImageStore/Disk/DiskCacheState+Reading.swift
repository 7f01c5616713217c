// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// Reads on the calling thread, and the final step of every read.
extension DiskCacheState {
    /// The maximum size in bytes of a file that the calling thread reads. Copying such a file takes about 10
    /// microseconds, which is less than waking another thread and returning.
    static let cachedReadLimit = 256 << 10

    /// Returns the entry if its file is intact and completely in the page cache of the kernel.
    ///
    /// The outer value is `nil` if a reader thread has to read the file. This method never waits for the disk. It
    /// doesn't verify the checksum of the file with the inode `verified` again.
    func readCached(_ key: CacheKey, _ digest: CacheKey.StoredDigest, verified: UInt64?) -> CacheEntry?? {
        let path = relativePath(of: key)
        do throws(SystemCallError) {
            let contents = try cachedContents(at: path, limit: Self.cachedReadLimit)
            let status = contents.status
            let entry = try? decode(
                contents.consumeBytes(), name: CacheLayout.name(atPath: path), key: key,
                verify: verified != status.inode, mayBlock: false)
            guard let entry else { return nil }
            // Only the index contains the last use, and a reader thread reads it.
            guard configuration.expiration == .sinceStored || !isExpired(entry, now: clock.now()) else { return nil }
            return .some(accept(entry, digest, name: CacheLayout.name(atPath: path), VerifiedFile(status)))
        } catch {
            // If the system doesn't support one of the two calls, don't try them again.
            if [ENOSYS, EOPNOTSUPP, EPERM, EINVAL].contains(error.code) {
                shared.withLock { $0.readsCached = false }
            }
            return nil
        }
    }

    /// Returns whether an entry has expired, given its last use in seconds since 1970 if that counts.
    private func isExpired(_ entry: CacheEntry, lastUse: Double? = nil, now: Date) -> Bool {
        let stored = max(entry.storedAt, entry.head?.responseTime ?? entry.storedAt).timeIntervalSince1970
        let age = now.timeIntervalSince1970 - max(stored, lastUse ?? stored)
        return age > min(maxAge, entry.lifetime ?? maxAge)
    }

    /// If uses count, `lastUse` returns the last use that the index contains.
    private func isExpired(_ entry: CacheEntry, now: Date, lastUse: () -> Double?) -> Bool {
        guard isExpired(entry, now: now) else { return false }
        guard configuration.expiration == .sinceLastUse else { return true }
        // Without an index on disk, only the writer knows the last uses, and it deletes the expired entries.
        guard shared.withLock({ $0.hasIndexFile }) else { return false }
        let recent = shared.withLock { $0.accesses[entry.key.storedDigest]?.time }
        return isExpired(entry, lastUse: [recent, lastUse()].compactMap { $0 }.max(), now: now)
    }

    /// The name is needed only for the first read since the last batch. `lastUse` returns the last use that the index
    /// contains, in seconds since 1970.
    func accept(
        _ entry: CacheEntry, _ digest: CacheKey.StoredDigest, name: @autoclosure () -> String, _ file: VerifiedFile,
        lastUse: () -> Double? = { nil }
    ) -> CacheEntry? {
        let now = clock.now()
        guard !isExpired(entry, now: now, lastUse: lastUse) else {
            enqueue { state in
                guard case nil = state.staging.overlay(for: entry.key) else { return nil }
                state.known.remove(digest)
                return .staged(state.staging.remove(entry.key))
            }
            return missed()
        }
        return shared.withLock { state -> CacheEntry? in
            var entry = entry
            if state.verified[digest]?.inode != file.inode { state.verified[digest] = file }
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
            // Another process stored an unknown entry, and its row may not be in the index yet.
            state.known.insert(digest)
            if state.accesses.count < 4_096 {
                let time = now.timeIntervalSince1970
                state.accesses[digest, default: Access(name: name(), time: time)].recordRead(at: time)
            }
            return entry
        }
    }

    func missed() -> CacheEntry? {
        shared.withLock { $0.counters.misses += 1 }
        return nil
    }
}
