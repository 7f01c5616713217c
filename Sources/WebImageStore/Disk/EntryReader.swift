// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// A reader of entries that runs on one thread of the pool and owns the connection of that thread to the index.
final class EntryReader {
    let state: DiskCacheState
    private var index: CacheIndex?
    private var indexGeneration: Int?

    init(_ state: DiskCacheState) { self.state = state }

    /// Applies newer values from memory and from the index. This method blocks.
    func read(_ key: CacheKey) -> CacheEntry? {
        let name = state.name(of: key)
        do throws(SystemCallError) {
            guard let contents = try state.contents(ofEntry: name, limit: state.readableFileSize) else {
                return missing(key, name)
            }
            let status = contents.status
            let digest = key.storedDigest
            let mustVerify = state.shared.withLock { $0.verified[digest]?.inode != status.inode }
            do throws(EntryFileError) {
                let entry = try state.decode(contents.consumeBytes(), name: name, key: key, verify: mustVerify)
                return found(entry, digest, name: name, DiskCacheState.VerifiedFile(status))
            } catch {
                return discardCorrupt(key, name, inode: status.inode)
            }
        } catch  where error.code == EFBIG || error.code == ESTALE {
            return discardCorrupt(key, name, inode: nil)
        } catch {
            return state.missed()
        }
    }

    /// Returns the metadata of a large entry from the beginning of its file, or `nil` if the entry must be read, because it's
    /// small, missing, or corrupt, or because it has changed. This method blocks.
    ///
    /// The first summary of a file reads and verifies the whole file for the digest of its data.
    func summary(_ key: CacheKey) -> EntrySummary? {
        let (name, digest) = (state.name(of: key), key.storedDigest)
        guard let file = try? state.openEntry(name) else { return nil }
        defer { state.files.close(file) }
        guard let status = try? state.files.status(of: file), state.trusts(status),
            DiskCacheState.VerifiedFile(status).isLarge
        else { return nil }
        let known = state.shared.withLock { $0.verified[digest] }
        let verified = known.flatMap { $0.isSame(as: status) && $0.content != nil ? $0 : nil } ?? digested(key, name)
        guard let verified, verified.isSame(as: status), let content = verified.content,
            let (stored, byteCount) = state.sections(of: file, size: status.size, name: name), stored.key == key
        else { return nil }
        let entry = found(stored, digest, name: name, verified)
        // The read of the data that follows counts instead.
        guard let entry, entry.data.isEmpty else {
            state.shared.withLock { state in
                if entry == nil { state.counters.misses -= 1 } else { state.counters.hits -= 1 }
            }
            return nil
        }
        return EntrySummary(head: entry.head, content: content, byteCount: byteCount)
    }

    /// Verifies the file of an entry and records the digest of its data. Returns `nil` if the file isn't intact.
    private func digested(_ key: CacheKey, _ name: String) -> DiskCacheState.VerifiedFile? {
        guard let contents = try? state.contents(ofEntry: name, limit: state.readableFileSize) else { return nil }
        let status = contents.status
        guard let entry = try? state.decode(contents.consumeBytes(), name: name, key: key, verify: true) else {
            return nil
        }
        let file = DiskCacheState.VerifiedFile(status, content: ContentDigest(of: entry.data))
        state.shared.withLock { $0.verified[key.storedDigest] = file }
        return file
    }

    /// This method blocks.
    func hasFile(of key: CacheKey) -> Bool {
        (try? state.files.status(at: state.layout.entry(state.name(of: key)))) != nil
    }

    /// The entry comes from the read-only directories. This method blocks.
    func extra(_ key: CacheKey) -> CacheEntry? {
        state.extras.entry(for: key, limit: state.readableFileSize)
    }

    /// Returns the entry of a key from the read-only directories and counts a hit instead of the previous miss.
    func readExtra(_ key: CacheKey) -> CacheEntry? {
        guard let entry = extra(key) else { return nil }
        state.shared.withLock { state in
            state.counters.hits += 1
            state.counters.misses -= 1
        }
        return entry
    }

    private func found(
        _ entry: CacheEntry, _ digest: CacheKey.StoredDigest, name: String, _ file: DiskCacheState.VerifiedFile
    ) -> CacheEntry? {
        var entry = entry
        let mustAsk = state.shared.withLock { $0.mustQueryIndex(for: digest) }
        if mustAsk, let update = update(name, stored: entry.storedAt) { update.apply(to: &entry) }
        return state.accept(entry, digest, name: name, file) { [self] in
            openIndex()
            return (try? index?.lastAccess(name: name)) ?? nil
        }
    }

    private func missing(_ key: CacheKey, _ name: String) -> CacheEntry? {
        state.enqueue { state in
            state.counters.misses += 1
            return state.known.contains(key.storedDigest) ? .removeFromIndex(key.storedDigest, name: name) : nil
        }
        return nil
    }

    private func discardCorrupt(_ key: CacheKey, _ name: String, inode: UInt64?) -> CacheEntry? {
        let path = state.layout.entry(name)
        // Another process or the writer of this process may have already replaced the file with an intact entry.
        if let now = try? state.files.status(at: path), inode == nil || now.inode == inode {
            try? state.files.remove(path)
        }
        state.enqueue { state in
            state.counters.misses += 1
            state.counters.corrupt += 1
            state.verified[key.storedDigest] = nil
            return .removeFromIndex(key.storedDigest, name: name)
        }
        return nil
    }

    func update(_ name: String, stored: Date) -> EntryMetadataUpdate? {
        openIndex()
        return try? index?.update(name: name, stored: stored.timeIntervalSince1970)
    }

    private func openIndex() {
        let generation = state.shared.withLock { $0.indexGeneration }
        if index == nil || generation != indexGeneration {
            indexGeneration = generation
            index = state.indexFiles.withLock { [state] _ in Self.openedIndex(state) }
        }
    }

    /// Performs one query, with which SQLite opens the log and the shared memory of the index by their paths.
    ///
    /// If the writer replaced the index before that query, SQLite would truncate the shared memory of the new index,
    /// which ends the process. For the same reason, a connection whose first query fails must not be used again.
    private static func openedIndex(_ state: DiskCacheState) -> CacheIndex? {
        do throws(IndexError) {
            let index = try CacheIndex(reading: state.layout.index, cipher: state.cipher)
            _ = try index.lastAccess(name: "")
            return index
        } catch {
            return nil
        }
    }
}
