// SPDX-License-Identifier: MIT

import Glibc

/// Removes what other programs and other configurations left in the directory of the cache.
struct LeftoverRemover {
    let state: DiskCacheState
    let trash: TrashSweeper

    private var files: any FileSystem { state.files }
    private var layout: CacheLayout { state.layout }

    /// Deletes symbolic links in the place of shards, so that no file outside of the cache is changed.
    func removeLinkedShards() {
        for name in (try? files.names(in: layout.blobs)) ?? [] {
            let path = "\(layout.blobs)/\(name)"
            if (try? files.status(at: path))?.kind == .link { try? files.remove(path) }
        }
    }

    /// Sets aside the entries of encryption keys that weren't used for the maximum age and, if this cache is encrypted,
    /// the unencrypted entries. Entries that another process uses remain.
    ///
    /// Without an encryption key, this method only requests a sweep if there's trash.
    func setAsideEntries() {
        let own = (try? files.names(in: layout.root)) ?? []
        if own.contains(where: { $0.hasPrefix(CacheLayout.trashPrefix) }) { trash.requestSweep() }
        let names = layout.isEncrypted ? (try? files.names(in: layout.base)) ?? [] : own
        for name in names where CacheLayout.isEncryptedFolder(name) {
            let folder = "\(layout.base)/\(name)"
            guard folder != layout.root, let used = lastChange(folder), state.now - used > state.maxAge else {
                continue
            }
            setAside(folder)
        }
        if layout.isEncrypted, names.contains("lock") { setAsideUnencrypted(names) }
    }

    /// Returns the time in seconds since 1970 when the index or the entries of a subdirectory changed, or `nil` if it
    /// isn't a directory.
    private func lastChange(_ folder: String) -> Double? {
        guard let status = try? files.status(at: folder), status.kind == .directory else { return nil }
        let parts = ["index.sqlite", "index.sqlite-wal", "blobs", "temp", "lock"]
        let times = parts.compactMap { try? files.status(at: "\(folder)/\($0)").modified }
        return times.reduce(status.modified, max)
    }

    /// Moves a subdirectory to the trash of this cache unless a process uses it.
    private func setAside(_ folder: String) {
        try? holding("\(folder)/lock") {
            try? files.rename(folder, to: layout.newTrash)
            trash.requestSweep()
        }
    }

    /// Also moves the resume data next to the entries. Everything remains if a process uses the entries.
    private func setAsideUnencrypted(_ names: [String]) {
        let own: Set = ["blobs", "temp", "index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "partial"]
        let found = names.filter { own.contains($0) || $0.hasPrefix(CacheLayout.trashPrefix) }
        guard !found.isEmpty else { return }
        try? holding("\(layout.base)/lock") {
            guard let folder = trash.makeDirectory() else { return }
            for name in found { try? files.rename("\(layout.base)/\(name)", to: "\(folder)/\(name)") }
            trash.requestSweep()
        }
    }

    /// Throws a ``SystemCallError`` if another process has the cache open.
    private func holding(_ lock: String, _ body: () -> Void) throws(SystemCallError) {
        let file = try files.openFile(lock, O_RDWR)
        defer { files.close(file) }
        try files.lock(file, LOCK_EX | LOCK_NB)
        body()
    }
}
