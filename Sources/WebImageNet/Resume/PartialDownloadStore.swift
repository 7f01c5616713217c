// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// A thread-safe store for resume data, in memory and, for larger entries, in a directory.
///
/// If a limit is reached, the store evicts the oldest entries. It reads and writes files on a dedicated queue.
final class PartialDownloadStore: Sendable {
    /// The number and size of the entries.
    struct Statistics: Equatable {
        var entries = 0
        var bytes = 0
    }

    private struct Entry {
        var point: PartialDownload
        var number: UInt64
        var isPending = false
    }

    private struct State {
        var entries: [PartialDownloadKey: Entry] = [:]
        var bytes = 0
        /// The number of bytes waiting to be written to the directory.
        var pending = 0
        var next: UInt64 = 0
        /// The names in the directory, or `nil` until it has been read.
        var names: Set<String>?

        mutating func remove(_ key: PartialDownloadKey) {
            guard let entry = entries.removeValue(forKey: key) else { return }
            bytes -= entry.point.bytes.count
        }
    }

    /// Safe: only work on the serial queue of the store accesses it.
    private final class DirectoryState: @unchecked Sendable {
        var directory: PartialDownloadDirectory?
    }

    private let configuration: ResumeOptions
    private let files: any FileSystem
    /// The path of the directory, or `nil` for storage in memory only.
    private let directory: String?
    private let maxAge: Double
    private let state = Lock(State())
    private let directoryState = DirectoryState()
    private let queue = DispatchQueue(label: "webimage-resume")

    init(_ configuration: ResumeOptions, files: any FileSystem = SystemFileSystem()) {
        self.configuration = configuration
        self.files = files
        maxAge = configuration.maxAge / .seconds(1)
        directory = configuration.directory?.absoluteFilePath
        guard let directory else { return }
        // The queue reads the directory in the background, so that the first lookup doesn't wait for it.
        withDirectory(directory) { _ in }
    }

    var memory: Statistics { state.withLock { Statistics(entries: $0.entries.count, bytes: $0.bytes) } }

    /// Returns the statistics of the entries in the directory, after all pending operations finish.
    func disk() async -> Statistics {
        guard let directory else { return Statistics() }
        return await withCheckedContinuation { continuation in
            withDirectory(directory) { folder in
                continuation.resume(returning: Statistics(entries: folder.names.count, bytes: folder.size))
            }
        }
    }

    /// The operations include the writes of ``put(_:for:)``.
    func waitUntilWritten() async {
        guard directory != nil else { return }
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    /// Whether there may be any entries. If there are none, callers don't need to create keys.
    var mayContainParts: Bool {
        state.withLock { !$0.entries.isEmpty || (directory != nil && $0.names?.isEmpty != true) }
    }

    func point(for key: PartialDownloadKey) async -> PartialDownload? {
        let oldest = configuration.now().addingTimeInterval(-maxAge)
        let (found, mayBeInFolder) = state.withLock { state -> (PartialDownload?, Bool) in
            if let entry = state.entries[key] {
                if entry.point.stored >= oldest { return (entry.point, false) }
                state.remove(key)
            }
            return (nil, state.names?.isEmpty != true)
        }
        guard found == nil, mayBeInFolder, let directory else { return found }
        let name = key.fileName
        guard state.withLock({ $0.names?.contains(name) != false }) else { return nil }
        return await withCheckedContinuation { continuation in
            withDirectory(directory) { [configuration] folder in
                continuation.resume(returning: folder.read(name, now: configuration.now()))
            }
        }
    }

    /// Stores `point` and replaces the entry for `key`. Returns immediately.
    func put(_ point: PartialDownload, for key: PartialDownloadKey) {
        let size = point.bytes.count
        let wantsFile = directory != nil && size > configuration.diskThreshold
        let written = state.withLock { state -> UInt64? in
            state.remove(key)
            guard size <= configuration.memoryLimit else { return nil }
            state.next += 1
            // Entries that wait to be written count toward the memory limit.
            let isPending = wantsFile && state.pending + size <= configuration.memoryLimit
            if isPending { state.pending += size }
            state.entries[key] = Entry(point: point, number: state.next, isPending: isPending)
            state.bytes += size
            trim(&state)
            return isPending ? state.next : nil
        }
        guard let written, let directory else { return }
        withDirectory(directory) { [self] folder in
            let isWritten = folder.write(point, name: key.fileName, now: configuration.now())
            state.withLock { state in
                state.pending -= size
                // A newer entry may have replaced this one during the write.
                if isWritten, state.entries[key]?.number == written { state.remove(key) }
            }
        }
    }

    /// Removes the entry for `key`. Returns immediately.
    func remove(_ key: PartialDownloadKey) {
        let mayBeInFolder = state.withLock { state in
            let isPending = state.entries[key]?.isPending == true
            state.remove(key)
            // A pending write creates the file later, but before the removal, because the queue is serial.
            return isPending || state.names?.isEmpty != true
        }
        guard mayBeInFolder, let directory else { return }
        withDirectory(directory) { $0.remove(key.fileName) }
    }

    /// Removes all entries for the loads of `source`. Returns immediately, and later lookups don't find the entries.
    func removeAll(of source: CacheKey) {
        state.withLock { state in
            for key in state.entries.keys where key.source == source { state.remove(key) }
        }
        guard let directory else { return }
        withDirectory(directory) { $0.removeAll { $0.hasPrefix(PartialDownloadKey.prefix(source)) } }
    }

    func removeAll() async {
        state.withLock { state in
            state.entries = [:]
            state.bytes = 0
        }
        guard let directory else { return }
        await withCheckedContinuation { continuation in
            withDirectory(directory) { folder in
                folder.removeAll { _ in true }
                continuation.resume()
            }
        }
    }

    private func trim(_ state: inout State) {
        while state.bytes > configuration.memoryLimit || state.entries.count > configuration.countLimit,
            let oldest = state.entries.min(by: { $0.value.number < $1.value.number })
        {
            state.remove(oldest.key)
        }
    }

    /// Runs `work` with the directory on the queue. The first call reads the directory.
    private func withDirectory(
        _ directory: String, _ work: @escaping @Sendable (inout PartialDownloadDirectory) -> Void
    ) {
        queue.async { [self] in
            var folder =
                directoryState.directory
                ?? PartialDownloadDirectory(
                    path: directory, limit: configuration.diskLimit, maxAge: maxAge,
                    now: configuration.now(), files: files)
            work(&folder)
            directoryState.directory = folder
            let names = folder.names
            state.withLock { $0.names = names }
        }
    }
}
