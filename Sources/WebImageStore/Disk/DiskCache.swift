// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// A cache of encoded images on disk.
///
/// Each entry is a self-describing file, and an index can be rebuilt from the files. `EntryFile` and `CacheLayout`
/// describe the formats.
///
/// - A returned entry is byte for byte equal to an entry that was stored under the same key.
/// - If a process is killed at any moment, the cache loses at most the entries that the process was writing.
/// - The cache enforces its limits while it runs. Several processes can use the same directory.
/// - With ``Configuration/encryptionKey``, all files are encrypted.
/// - A full, read-only, or failing disk never causes a request to fail. Reads miss, and writes are dropped and then
///   paused.
///
/// You can call all methods from any thread, and none of them blocks. The calling thread reads small files that are in
/// the page cache of the kernel. Two dedicated threads read all other files, beginning with the most urgent request,
/// and a third thread writes. Every later read immediately sees a stored, updated, or removed entry.
public final class DiskCache: Sendable {
    let state: DiskCacheState
    let readers: ReaderThreads

    /// Opens the cache and creates its directory if it doesn't exist. The index is loaded in the background.
    ///
    /// - Parameter configuration: The location and the limits of the cache.
    /// - Throws: ``ImageError/CacheFailure/unsafeDirectory(path:reason:)`` or
    ///   ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)``.
    public init(configuration: Configuration = Configuration()) throws(ImageError) {
        let layout = CacheLayout(configuration)
        try layout.prepare(configuration.fileSystem)
        let salt = try? CacheSalt.load(layout.salt, configuration.fileSystem)
        let cipher = try Self.cipher(configuration, layout)
        let state = DiskCacheState(configuration, salt: salt, cipher: cipher)
        self.state = state
        readers = ReaderThreads(name: "webimage-read", threads: 2) { EntryReader(state) }
        let writer = Thread { DiskCacheWriter(state).run() }
        writer.name = "webimage-write"
        writer.start()
        if !state.extras.isEmpty { _ = readers.submit { $0.state.extras.load() } }
    }

    private static func cipher(
        _ configuration: Configuration, _ layout: CacheLayout
    ) throws(ImageError) -> CacheCipher? {
        guard let key = configuration.encryptionKey else { return nil }
        do throws(SystemCallError) {
            return try CacheCipher(key, layout, configuration.fileSystem)
        } catch {
            throw .cache(.systemCallFailed(operation: error.operation, path: error.path, errno: error.code))
        }
    }

    deinit {
        state.enqueue { state in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            return .close {}
        }
    }

    /// Returns a Boolean value that indicates whether the cache may contain an entry for a key.
    ///
    /// The result is `false` only if the cache certainly has no entry. It's `true` until the index is loaded, and also if
    /// another process may have stored the entry since the index was last read. This method performs no I/O.
    public func mayContain(_ key: CacheKey) -> Bool { mayContainItself(key) || extrasMayContain(key) }

    private func mayContainItself(_ key: CacheKey) -> Bool {
        let (now, interval) = (state.clock.uptime(), state.configuration.refreshInterval)
        // Only the lookup that follows refreshes the index. A refresh before it could prove that the entry doesn't exist,
        // although its file was written and only its row is missing.
        return mayContain(key) { !$0.isAbsent(key.storedDigest, now: now, interval: interval) }
    }

    /// Returns whether the cache may contain an entry for a key, regardless of the entries that other processes stored
    /// since the index was last read.
    func mayContainIndexed(_ key: CacheKey) -> Bool {
        mayContain(key) { !$0.isLoaded || $0.known.contains(key.storedDigest) } || extrasMayContain(key)
    }

    /// A change of the entry that waits to be written decides without `onDisk`.
    private func mayContain(_ key: CacheKey, onDisk: (inout DiskCacheState.Shared) -> Bool) -> Bool {
        state.shared.withLock { state in
            guard !state.isClosed else { return false }
            return switch state.staging.overlay(for: key) {
            case .removed: false
            case .entry: true
            case .update, nil: onDisk(&state)
            }
        }
    }

    private func extrasMayContain(_ key: CacheKey) -> Bool {
        !state.extras.isEmpty && state.extras.mayContain(key.fileName)
    }

    /// Returns the entry of a key, or `nil` if the cache has no intact entry.
    ///
    /// If the current task is canceled while the read waits for a thread, the read is withdrawn, and this method
    /// returns `nil` immediately.
    public func entry(for key: CacheKey) async -> CacheEntry? { await read(key) ?? nil }

    /// This read can't be withdrawn, because a change of the stored entries depends on it.
    func entryToChange(for key: CacheKey) async -> CacheEntry? { await read(key, isWithdrawable: false) ?? nil }

    /// The outer value is `nil` if the read was withdrawn because the current task is canceled, or if the cache is
    /// closed. In these cases, it's unknown whether the entry exists.
    func read(_ key: CacheKey, isWithdrawable: Bool = true) async -> CacheEntry?? {
        let read = await ownEntry(key, isWithdrawable)
        guard case .some(nil) = read, !state.extras.isEmpty, state.extras.mayContain(key.fileName) else { return read }
        return await readers.read(isWithdrawable: isWithdrawable) { $0.readExtra(key) }
    }

    /// Returns the metadata of a large entry, or `nil` if the entry must be read, because it's small, missing, or corrupt, or
    /// because its changes aren't written yet.
    ///
    /// Only the first summary of a file reads the data of the entry.
    func summary(for key: CacheKey) async -> EntrySummary? {
        let (digest, now, interval) = (key.storedDigest, state.clock.uptime(), state.configuration.refreshInterval)
        let mayBeLarge = state.shared.withLock { state in
            guard !state.isClosed, case nil = state.staging.overlay(for: key),
                !state.isAbsent(digest, now: now, interval: interval)
            else { return false }
            return state.verified[digest]?.isLarge ?? true
        }
        return mayBeLarge ? await readers.read(isWithdrawable: true) { $0.summary(key) } ?? nil : nil
    }

    /// If the update is written during the read, it's neither in memory afterward nor in the result of the read, so
    /// this method reads the entry again.
    private func entryWithNews(_ key: CacheKey, _ isWithdrawable: Bool) async -> CacheEntry?? {
        guard let entry = await readers.read(isWithdrawable: isWithdrawable, { $0.read(key) }) else { return nil }
        let isWritten = state.shared.withLock { state -> Bool in
            guard case nil = state.staging.overlay(for: key) else { return false }
            if entry != nil { state.counters.hits -= 1 } else { state.counters.misses -= 1 }
            return true
        }
        return isWritten ? await readers.read(isWithdrawable: isWithdrawable) { $0.read(key) } : .some(entry)
    }

    private func ownEntry(_ key: CacheKey, _ isWithdrawable: Bool) async -> CacheEntry?? {
        switch lookup(key) {
        case .entry(let entry): return .some(entry)
        case .absent: return .some(nil)
        case .inMemory(let digest, let verified):
            if let answer = state.readCached(key, digest, verified: verified) { return .some(answer) }
        case .onDisk: break
        case .onDiskWithNews: return await entryWithNews(key, isWithdrawable)
        }
        return await readers.read(isWithdrawable: isWithdrawable) { $0.read(key) }
    }

    /// Stores an entry and replaces the previous entry of its key.
    ///
    /// This method returns immediately, and the data is written in the background. The cache drops and counts the entry
    /// if it's too large, if too many entries are waiting, or while writing is paused.
    public func store(_ entry: CacheEntry) {
        var entry = entry
        entry.head?.removeSecrets()
        store(withoutSecrets: entry)
    }

    private func store(withoutSecrets entry: CacheEntry) {
        let now = state.clock.uptime()
        let tooLarge = entry.data.count > state.entrySizeLimit || !EntryFile.fitsLimits(entry)
        state.enqueue { state in
            guard !state.isClosed else { return nil }
            let paused = state.pausedUntil.map { now < $0 } ?? false
            guard !tooLarge, !paused, let job = state.staging.stage(entry) else {
                state.counters.dropped += 1
                // Remove the previous entry because it's outdated.
                guard state.isLoaded ? state.known.contains(entry.key.storedDigest) : !paused else { return nil }
                state.known.remove(entry.key.storedDigest)
                return .staged(state.staging.remove(entry.key))
            }
            state.known.insert(entry.key.storedDigest)
            state.updated.remove(entry.key.storedDigest)
            return .staged(job)
        }
    }

    /// The entries that the cache didn't store since it was opened.
    package struct DroppedWrites: Sendable, Hashable {
        /// The number of entries that weren't stored, as in the counters of ``DiskCache/info()``.
        package var count: Int
        /// The error number of the last failed write, or 0 if none failed.
        package var errorNumber: Int32

        /// Creates a value.
        package init(count: Int, errorNumber: Int32) { (self.count, self.errorNumber) = (count, errorNumber) }
    }

    /// The entries that the cache didn't store. Reading this property performs no I/O.
    package var droppedWrites: DroppedWrites {
        state.shared.withLock { DroppedWrites(count: $0.counters.dropped, errorNumber: $0.pauseCode) }
    }

    /// Replaces the HTTP response head of an entry after a 304 response. If the entry doesn't exist, this method does
    /// nothing.
    package func updateHead(_ head: StoredResponseHead, for key: CacheKey) {
        var head = head
        head.removeSecrets()
        update(EntryMetadataUpdate(head: head), for: key)
    }

    /// Replaces or removes the custom value of an entry without writing the image again.
    ///
    /// If the entry doesn't exist, this method does nothing. The new value is stored in the index. If the index is
    /// lost, the entry has the value with which it was stored.
    ///
    /// - Parameters:
    ///   - value: The value, up to 1 MiB, or `nil` to remove it.
    ///   - key: The key of the entry.
    /// - Throws: An ``ImageError/LimitFailure`` of the kind ``ImageError/LimitFailure/Kind/userDataSize`` if the value
    ///   is too large. In this case, the entry keeps its value.
    public func setUserData(_ value: Data?, for key: CacheKey) throws(ImageError) {
        try EntryMetadataUpdate.check(attachment: value)
        replaceUserData(value, for: key)
    }

    /// Replaces or removes the custom value of an entry. The caller has checked the size of the value.
    func replaceUserData(_ value: Data?, for key: CacheKey) {
        update(EntryMetadataUpdate(attachment: value.map { .value($0) } ?? .removed), for: key)
    }

    /// Returns the custom value of an entry, or `nil` if it has none.
    public func userData(for key: CacheKey) async -> Data? { await entry(for: key)?.userData }

    private func update(_ update: EntryMetadataUpdate, for key: CacheKey) {
        guard extrasMayContain(key), !isKnown(key) else { return stage(update, for: key) }
        // Another process may have stored the entry in this directory, which only its file shows.
        _ = readers.submit { [self] reader in
            guard !isKnown(key), !reader.hasFile(of: key), var entry = reader.extra(key) else {
                return stage(update, for: key)
            }
            update.apply(to: &entry)
            entry.storedAt = state.clock.now()
            store(entry)
        }
    }

    private func stage(_ update: EntryMetadataUpdate, for key: CacheKey) {
        state.enqueue { state in
            guard !state.isClosed, !state.isLoaded || state.known.contains(key.storedDigest) else { return nil }
            return state.staging.stage(update, for: key).map { .staged($0) }
        }
    }

    /// Returns whether the directory of the cache certainly has an entry for a key, unless its file was deleted.
    private func isKnown(_ key: CacheKey) -> Bool { mayContain(key) { $0.known.contains(key.storedDigest) } }

    /// Removes the entry of a key.
    public func remove(_ key: CacheKey) {
        state.enqueue { state in
            guard !state.isClosed else { return nil }
            state.known.remove(key.storedDigest)
            return .staged(state.staging.remove(key))
        }
    }

    private enum LookupResult {
        case entry(CacheEntry)
        case absent
        case onDisk
        /// The entry is on disk, and its update isn't written yet.
        case onDiskWithNews
        /// The entry is on disk and may be in the page cache. The associated values are the digest of its key and the
        /// inode whose checksum was verified.
        case inMemory(CacheKey.StoredDigest, verified: UInt64?)
    }

    private func lookup(_ key: CacheKey) -> LookupResult {
        let digest = key.storedDigest
        var answer = LookupResult.absent
        var hasNews = false
        let (now, interval) = (state.clock.uptime(), state.configuration.refreshInterval)
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
            guard !state.isAbsent(digest, now: now, interval: interval) else {
                state.counters.misses += 1
                return nil
            }
            let mayBeCached = state.readsCached && !state.mustQueryIndex(for: digest)
            answer = mayBeCached ? .inMemory(digest, verified: state.verified[digest]?.inode) : .onDisk
            if hasNews { answer = .onDiskWithNews }
            // Another process may have stored the entry, so check its file. The refresh avoids this for later lookups.
            return state.known.contains(digest) ? nil : state.refreshIfOld(now: now, interval: interval)
        }
        return answer
    }
}

extension EntryFile {
    static func fitsLimits(_ entry: CacheEntry) -> Bool {
        let tagBytes = entry.tags.reduce(4) { $0 + $1.utf8.count + 4 }
        guard entry.key.canonical.utf8.count <= 64 << 10, entry.tags.count <= CacheEntry.tagLimit, tagBytes <= 64 << 10,
            (entry.userData?.count ?? 0) + tagBytes + 8 <= sectionLimit
        else { return false }
        let lines = (entry.head?.head.headers.lines ?? []) + (entry.head?.varyHeaders.lines ?? [])
        return lines.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 8 } <= 1 << 20
    }
}
