// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// A writer that writes entry files to a temporary file in the same file system and then renames it.
final class EntryWriter {
    private let files: any FileSystem
    private let layout: CacheLayout
    private let cipher: CacheCipher?
    private let durability: DiskCache.Configuration.Durability
    private var count = 0
    private let prefix: String
    private var directoryWasReplaced = false

    init(_ state: DiskCacheState, session: Int) {
        files = state.files
        layout = state.layout
        cipher = state.cipher
        durability = state.configuration.durability
        // A process can have several writers, so the process ID alone isn't unique.
        prefix = "\(getpid())-\(String(session, radix: 36))-"
    }

    /// Returns whether a write created the deleted cache directory again since the last call.
    func takeReplacement() -> Bool {
        defer { directoryWasReplaced = false }
        return directoryWasReplaced
    }

    func removeAbandonedFiles(isAlone: Bool, now: Double) {
        guard let names = try? files.names(in: layout.temp) else { return }
        for name in names where !name.hasPrefix(prefix) {
            let path = "\(layout.temp)/\(name)"
            guard let modified = (try? files.status(at: path))?.modified else { continue }
            // Another process may still be writing a file that changed recently.
            if isAlone || abs(now - modified) > 3_600 { try? files.remove(path) }
        }
    }

    /// Returns the number of bytes that the entry occupies on disk. A failed write leaves no files.
    func write(_ entry: CacheEntry, name: String) throws(SystemCallError) -> Int {
        count += 1
        let temporary = "\(layout.temp)/\(prefix)\(count)"
        do throws(SystemCallError) {
            let size = try writeFile(entry, temporary, name)
            try moveToFinalPath(temporary, name)
            return size
        } catch {
            try? files.remove(temporary)
            throw error
        }
    }

    private func writeFile(_ entry: CacheEntry, _ path: String, _ name: String) throws(SystemCallError) -> Int {
        let file = try create(path)
        defer { files.close(file) }
        let prefix = EntryFile.prefix(of: entry)
        let total = try prefix.withBytes { prefix throws(SystemCallError) -> Int in
            try entry.data.withBytes { payload throws(SystemCallError) -> Int in
                if let cipher {
                    return try cipher.write(sections: prefix, payload: payload, name: name, to: file, files)
                }
                return try writeSections(file, prefix: prefix, payload: payload)
            }
        }
        // Synchronize before the rename, so that a power failure doesn't leave the final name with incomplete data.
        if durability != .none { try files.synchronize(file) }
        let facts = try files.status(of: file)
        // Some file systems report no blocks before they write them to disk.
        return facts.allocated > 0 ? facts.allocated : total
    }

    private func writeSections(
        _ file: Int32, prefix: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer
    ) throws(SystemCallError) -> Int {
        guard let checksum = EntryFile.checksum(prefix: prefix, payload: payload) else {
            throw SystemCallError("checksum", "", ENOMEM)
        }
        try withUnsafeBytes(of: checksum.littleEndian) { trailer throws(SystemCallError) in
            try files.writeAll(file, parts: [prefix, payload, trailer])
        }
        return prefix.count + payload.count + EntryFile.trailerBytes
    }

    private func create(_ path: String) throws(SystemCallError) -> Int32 {
        let flags = O_WRONLY | O_CREAT | O_EXCL
        do throws(SystemCallError) {
            return try files.openFile(path, flags, mode: 0o600)
        } catch  where error.code == ENOENT {
            try makeDirectories()
            directoryWasReplaced = true
            return try files.openFile(path, flags, mode: 0o600)
        }
    }

    private func moveToFinalPath(_ temporary: String, _ name: String) throws(SystemCallError) {
        let target = layout.entry(name)
        let shard = "\(layout.blobs)/\(name.prefix(2))"
        do throws(SystemCallError) {
            try files.rename(temporary, to: target)
        } catch  where error.code == ENOENT {
            try layout.makeDirectory(layout.blobs, files)
            try layout.makeDirectory(shard, files)
            try files.rename(temporary, to: target)
        }
        // The rename itself is on disk only after the directory is synchronized.
        if durability == .full {
            let folder = try files.openFile(shard, O_RDONLY | O_DIRECTORY)
            defer { files.close(folder) }
            try files.synchronize(folder)
        }
    }

    private func makeDirectories() throws(SystemCallError) {
        do {
            try layout.prepare(files)
        } catch {
            throw SystemCallError("mkdir", layout.root, EACCES)
        }
    }
}

extension ContiguousBytes {
    /// Calls `withUnsafeBytes` and preserves the type of the error.
    fileprivate func withBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(SystemCallError) -> Value
    ) throws(SystemCallError) -> Value {
        try withUnsafeBytes { bytes -> Result<Value, SystemCallError> in
            do throws(SystemCallError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }.get()
    }
}
