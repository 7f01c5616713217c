// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// Encoded pictures on disk: one self-describing file per entry, and an index beside them that can be made again
/// from the files. The formats are described in `EntryFile` and `CacheLayout`.
///
/// - An entry that is given back is, byte for byte, one that was stored under that very key.
/// - A process killed at any moment loses at most what it was writing.
/// - Limits hold while running. Several processes may use one folder.
/// - A full, read-only or failing disk is never an error of a request: reads miss, writes are dropped and pause.
///
/// All methods may be called from any thread. None blocks: small files that the kernel has in memory are read where
/// they are asked for, all others on two threads of the cache's own, the most urgent first; a third writes. What was
/// stored, updated or removed is seen by every later read at once.
public final class DiskCache: Sendable {
    let state: StoreState
    let readers: ReaderThreads

    /// Opens the cache and makes its folder where it is missing. The index is loaded in the background.
    ///
    /// - Throws: ``CacheError/unsafeDirectory(path:reason:)``, ``CacheError/system(operation:path:errno:)``.
    public init(configuration: DiskCacheConfiguration) throws(ImageError) {
        try CacheLayout(root: configuration.directory).prepare(configuration.fileSystem)
        let state = StoreState(configuration)
        self.state = state
        readers = ReaderThreads(name: "webimage-read", threads: 2) { EntryReader(state) }
        let writer = Thread { DiskWriter(state).run() }
        writer.name = "webimage-write"
        writer.start()
        if !state.extras.isEmpty { _ = readers.submit { $0.state.extras.load() } }
    }

    deinit {
        state.enqueue { state in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            return .close {}
        }
    }

    /// False when there is certainly no entry of `key`. True while the index is not loaded. Costs no I/O.
    public func mayContain(_ key: CacheKey) -> Bool {
        if mayContainItself(key) { return true }
        return !state.extras.isEmpty && state.extras.mayContain(key.fileName)
    }

    private func mayContainItself(_ key: CacheKey) -> Bool {
        state.shared.withLock { state in
            guard !state.isClosed else { return false }
            switch state.staging.overlay(for: key) {
            case .removed: return false
            case .entry: return true
            case .update, nil: return !state.isLoaded || state.known.contains(key.storedDigest)
            }
        }
    }

    /// The entry of `key`; nil where there is none, or none that is whole.
    ///
    /// If the current task is canceled while the read waits for a thread, the read is withdrawn, and this method
    /// returns `nil` immediately.
    public func entry(for key: CacheKey) async -> DiskEntry? { await read(key) ?? nil }

    /// The entry of `key`, also if the current task is canceled. A change of what is stored depends on it.
    func entryToChange(for key: CacheKey) async -> DiskEntry? { await read(key, isWithdrawable: false) ?? nil }

    /// The entry of `key`. The outer `nil` says nothing about the entry: the read was withdrawn because the current
    /// task is canceled, or the cache is closed.
    func read(_ key: CacheKey, isWithdrawable: Bool = true) async -> DiskEntry?? {
        let read = await ownEntry(key, isWithdrawable)
        guard case .some(nil) = read, !state.extras.isEmpty, state.extras.mayContain(key.fileName) else { return read }
        return await readers.read(isWithdrawable: isWithdrawable) { $0.readExtra(key) }
    }

    /// News that is written while the entry is being read is neither in memory any more nor in what was read.
    private func entryWithNews(_ key: CacheKey, _ isWithdrawable: Bool) async -> DiskEntry?? {
        guard let entry = await readers.read(isWithdrawable: isWithdrawable, { $0.read(key) }) else { return nil }
        let isWritten = state.shared.withLock { state -> Bool in
            guard case nil = state.staging.overlay(for: key) else { return false }
            if entry != nil { state.counters.hits -= 1 } else { state.counters.misses -= 1 }
            return true
        }
        return isWritten ? await readers.read(isWithdrawable: isWithdrawable) { $0.read(key) } : .some(entry)
    }

    private func ownEntry(_ key: CacheKey, _ isWithdrawable: Bool) async -> DiskEntry?? {
        switch lookUp(key) {
        case .entry(let entry): return .some(entry)
        case .absent: return .some(nil)
        case .inMemory(let verified):
            if let answer = state.readCached(key, verified: verified) { return .some(answer) }
        case .onDisk: break
        case .onDiskWithNews: return await entryWithNews(key, isWithdrawable)
        }
        return await readers.read(isWithdrawable: isWithdrawable) { $0.read(key) }
    }

    /// Stores `entry` in place of any older one of its key. Returns at once; the bytes are written behind.
    /// Dropped, and counted, when it is too large, when too many are waiting, or while writing pauses.
    public func store(_ entry: DiskEntry) {
        let now = state.clock.uptime()
        let tooLarge = entry.payload.count > state.configuration.entryLimit || !EntryFile.canHold(entry)
        state.enqueue { state in
            guard !state.isClosed else { return nil }
            let paused = state.pausedUntil.map { now < $0 } ?? false
            guard !tooLarge, !paused, let job = state.staging.stage(entry) else {
                state.counters.dropped += 1
                // The older entry is out of date; better none.
                guard state.isLoaded ? state.known.contains(entry.key.storedDigest) : !paused else { return nil }
                state.known.remove(entry.key.storedDigest)
                return .staged(state.staging.remove(entry.key))
            }
            state.known.insert(entry.key.storedDigest)
            state.updated.remove(entry.key.storedDigest)
            return .staged(job)
        }
    }

    /// Replaces the HTTP head of `key`'s entry after a 304; nothing happens where there is no entry.
    public func updateHead(_ head: StoredHead, for key: CacheKey) { update(EntryUpdate(head: head), for: key) }

    /// Replaces the app's own value of `key`'s entry, or removes it; the picture is not written again. Nothing happens
    /// where there is no entry. The value is kept in the index: should that be lost, the one the entry was stored with
    /// comes back. Dropped, and counted, when it has more than 1 MiB.
    public func setAttachment(_ value: Data?, for key: CacheKey) {
        guard (value?.count ?? 0) <= EntryUpdate.attachmentLimit else {
            return state.shared.withLock { $0.counters.dropped += 1 }
        }
        update(EntryUpdate(attachment: value.map { .value($0) } ?? .removed), for: key)
    }

    /// The app's own value of `key`'s entry; nil where there is none.
    public func attachment(for key: CacheKey) async -> Data? { await entry(for: key)?.attachment }

    private func update(_ update: EntryUpdate, for key: CacheKey) {
        if !state.extras.isEmpty, !mayContainItself(key), state.extras.mayContain(key.fileName) {
            return copyExtra(key, with: update)
        }
        state.enqueue { state in
            guard !state.isClosed, !state.isLoaded || state.known.contains(key.storedDigest) else { return nil }
            return state.staging.stage(update, for: key).map { .staged($0) }
        }
    }

    /// What is news of an entry in a read-only folder is kept with a copy of it.
    private func copyExtra(_ key: CacheKey, with update: EntryUpdate) {
        _ = readers.submit { [self] reader in
            guard !mayContainItself(key), var entry = reader.extra(key) else { return }
            update.apply(to: &entry)
            entry.stored = state.clock.now()
            store(entry)
        }
    }

    /// Removes the entry of `key`.
    public func remove(_ key: CacheKey) {
        state.enqueue { state in
            guard !state.isClosed else { return nil }
            state.known.remove(key.storedDigest)
            return .staged(state.staging.remove(key))
        }
    }

    private enum LookUp {
        case entry(DiskEntry)
        case absent
        case onDisk
        /// On disk, with news of it that is not written yet.
        case onDiskWithNews
        /// On disk, and worth trying without it. The inode whose checksum was compared.
        case inMemory(verified: UInt64?)
    }

    /// What memory says.
    private func lookUp(_ key: CacheKey) -> LookUp {
        let now = state.clock.uptime()
        var answer = LookUp.absent
        var hasNews = false
        state.enqueue { state in
            guard !state.isClosed else { return nil }
            switch state.staging.overlay(for: key) {
            case .entry(let entry):
                state.counters.hits += 1
                answer = .entry(entry)
                return nil
            case .removed:
                state.counters.misses += 1
                return nil
            case .update: hasNews = true
            case nil: break
            }
            guard state.isLoaded, !state.known.contains(key.storedDigest) else {
                let mayBeCached = state.readsCached && !state.mustAskIndex(for: key)
                answer = mayBeCached ? .inMemory(verified: state.verified[key.storedDigest]) : .onDisk
                if hasNews { answer = .onDiskWithNews }
                return nil
            }
            state.counters.misses += 1
            // Another process may have stored it; asking the index once a second is enough to learn that.
            guard now >= state.lastRefresh + 1 else { return nil }
            state.lastRefresh = now
            return .refresh
        }
        return answer
    }
}

extension EntryFile {
    /// Whether the sections before the payload are within their bounds.
    static func canHold(_ entry: DiskEntry) -> Bool {
        let tagBytes = entry.tags.reduce(4) { $0 + $1.utf8.count + 4 }
        guard entry.key.canonical.utf8.count <= 64 << 10, entry.tags.count <= DiskEntry.tagLimit, tagBytes <= 64 << 10,
            (entry.attachment?.count ?? 0) + tagBytes <= sectionLimit
        else { return false }
        let lines = (entry.head?.head.fields.lines ?? []) + (entry.head?.varying.lines ?? [])
        return lines.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 8 } <= 1 << 20
    }
}
