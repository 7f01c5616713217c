// SPDX-License-Identifier: MIT

import Glibc
import Synchronization
import WebImageConcurrency

/// The changes of entry files and of the shared state that callers requested.
///
/// The methods return the resulting change of the index, which the writer adds to its batch.
struct EntryFiles {
    let state: DiskCacheState
    let writer: EntryWriter

    private var files: any FileSystem { state.files }
    private var layout: CacheLayout { state.layout }

    var isEmpty: Bool { (try? files.names(in: layout.blobs).isEmpty) ?? true }

    func write(_ entry: CacheEntry) throws(SystemCallError) -> IndexRow {
        let name = state.name(of: entry.key)
        return IndexRow(entry, name: name, size: try writer.write(entry, name: name))
    }

    func finishWrite(of key: CacheKey, _ ticket: UInt64) {
        state.shared.withLock { state in
            state.counters.written += 1
            state.known.insert(key.storedDigest)
            // The checksum of the new file hasn't been verified, and an earlier file may have had the same inode
            // number.
            state.verified[key.storedDigest] = nil
            state.pausedUntil = nil
            state.staging.finish(key, ticket: ticket)
        }
    }

    /// Discards an entry that can't be written, and removes the previous one for its key, or reads return outdated data.
    func drop(_ key: CacheKey, _ ticket: UInt64) -> IndexChange {
        let change = removeFile(state.name(of: key))
        state.shared.withLock { state in
            state.counters.dropped += 1
            // If a newer change is pending, it decides whether the entry exists.
            if state.staging.finish(key, ticket: ticket) { state.known.remove(key.storedDigest) }
        }
        return change
    }

    func remove(_ key: CacheKey, _ ticket: UInt64) -> IndexChange? {
        guard state.shared.withLock({ $0.staging.current(key, ticket: ticket) }) != nil else { return nil }
        let change = removeFile(state.name(of: key))
        state.shared.withLock { state in
            guard state.staging.finish(key, ticket: ticket) else { return }
            state.known.remove(key.storedDigest)
            state.updated.remove(key.storedDigest)
            state.verified[key.storedDigest] = nil
        }
        return change
    }

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

    /// Writes an update into the file because there is no index on disk.
    func rewrite(_ key: CacheKey, _ update: EntryMetadataUpdate) throws(SystemCallError) -> IndexChange? {
        let name = state.name(of: key)
        // Verify the file, because a corrupt payload would get a valid checksum when it's written again.
        guard let contents = try? state.contents(ofEntry: name, limit: state.readableFileSize),
            var entry = try? state.decode(contents.consumeBytes(), name: name, key: key, verify: true)
        else { return nil }
        update.apply(to: &entry)
        var row = try write(entry)
        row.accessed = state.now
        state.shared.withLock { $0.verified[key.storedDigest] = nil }
        return .insert(row)
    }

    /// Removes an entry from the shared state unless its file exists again.
    func forget(_ digest: CacheKey.StoredDigest?, _ name: String) -> IndexChange? {
        guard (try? files.status(at: layout.entry(name))) == nil else { return nil }
        if let digest { state.shared.withLock { $0.forget([digest]) } }
        return .delete(name: name)
    }

    /// Moves all entries aside, so that they can be deleted in the background, and replaces the salt of encrypted ones.
    /// Returns the reason if the entries remain in their location or can still be decrypted.
    func setAllAside() -> SystemCallError? {
        var failure: SystemCallError?
        // Without the salt, the files can't be decrypted even if they can't be moved or deleted.
        do throws(SystemCallError) { try state.cipher?.wipe() } catch { failure = error }
        do throws(SystemCallError) {
            // A full disk may have no space for another directory, so don't create one.
            try files.rename(layout.blobs, to: layout.newTrash)
        } catch {
            if error.code != ENOENT { failure = error }
        }
        try? layout.makeDirectory(layout.blobs, files)
        return failure
    }

    func finishRemoveAll(_ failure: SystemCallError?) {
        state.shared.withLock { state in
            state.staging.finishRemoveAll()
            // Entries that were stored after the removal was requested remain.
            state.known = Set(state.staging.digests)
            state.updated = []
            state.verified = [:]
            state.accesses = [:]
            state.removalFailure = failure
            if failure != nil { state.hasUndeletedFiles = true }
        }
    }
}
