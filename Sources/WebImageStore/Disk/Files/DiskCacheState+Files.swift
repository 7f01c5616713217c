// SPDX-License-Identifier: MIT

import Glibc
import WebImageCore

/// Reads of entry files. No path in the cache directory may contain symbolic links, and other users can't add entries.
extension DiskCacheState {
    var readableFileSize: Int { readableEntrySize + 4 * EntryFile.sectionLimit }

    func name(of key: CacheKey) -> String { cipher?.name(of: key) ?? key.fileName }

    func relativePath(of key: CacheKey) -> String {
        guard let cipher else { return CacheLayout.relativePath(of: key) }
        return CacheLayout.relativePath(cipher.name(of: key))
    }

    /// If `key` is `nil`, the file can have any key.
    ///
    /// Only encrypted files need their name. They're always verified, and if `mayBlock` is `true`, this method may read
    /// the file of the salt for them.
    func decode(
        _ file: consuming FileBytes, name: @autoclosure () -> String, key: CacheKey?, verify: Bool,
        mayBlock: Bool = true
    ) throws(EntryFileError) -> CacheEntry {
        guard let cipher else { return try EntryFile.decode(file, key: key, verify: verify) }
        return try cipher.decode(file, name: name(), key: key, mayBlock: mayBlock)
    }

    func decodeSections(
        _ bytes: UnsafeRawBufferPointer, fileSize: Int, name: String
    ) throws(EntryFileError) -> SectionsResult {
        if let cipher { return try cipher.decodeSections(bytes, fileSize: fileSize, name: name) }
        let layout = try EntryLayout(bytes)
        guard layout.fileBytes == fileSize else { throw .length }
        guard layout.payload.lowerBound <= bytes.count else {
            return .incomplete(required: layout.payload.lowerBound)
        }
        return .entry(try EntryFile.decodeSections(bytes, layout, key: nil), payload: layout.payload.count)
    }

    /// Returns whether the user of this process or root wrote the file, and other users can't change it.
    func trusts(_ file: FileStatus) -> Bool {
        (file.owner == layout.user || file.owner == 0) && file.permissions & 0o022 == 0
    }

    func openEntry(_ name: String) throws(SystemCallError) -> Int32? {
        do throws(SystemCallError) {
            return try files.open(CacheLayout.relativePath(name), beneath: layout.root)
        } catch  where error.code == ENOENT || error.code == ENOTDIR {
            return nil
        }
    }

    /// Returns `nil` if the file doesn't exist. Throws `EFBIG` if it's larger than `limit` bytes, or `EACCES` if
    /// another user wrote it.
    func contents(ofEntry name: String, limit: Int) throws(SystemCallError) -> FileContents? {
        guard let file = try openEntry(name) else { return nil }
        defer { files.close(file) }
        return try files.contents(of: file, path: layout.entry(name), limit: limit, isTrusted: trusts)
    }

    /// The path is relative to the root. Throws for files that aren't completely in the page cache or are larger than
    /// `limit` bytes, and never waits for the disk.
    func cachedContents(at path: String, limit: Int) throws(SystemCallError) -> FileContents {
        let folder = try openRoot()
        let file: Int32
        do throws(SystemCallError) {
            file = try files.openCached(path, in: folder.descriptor)
        } catch {
            // The directory may have been deleted and created again.
            if error.code == ENOENT { closeRoot() }
            throw error
        }
        defer { files.close(file) }
        let facts = try files.status(of: file)
        guard facts.kind == .file, facts.size <= limit, trusts(facts) else {
            throw SystemCallError("preadv2", "\(layout.root)/\(path)", EFBIG)
        }
        guard let memory = FileBytes(count: facts.size) else {
            throw SystemCallError("preadv2", "\(layout.root)/\(path)", ENOMEM)
        }
        try files.readCached(file, into: memory.mutableBytes)
        return FileContents(bytes: memory, status: facts)
    }

    /// Returns the row for a file from its first sections, or `nil` if the file isn't an entry with that name.
    func row(ofFile name: String) -> IndexRow? {
        guard CacheLayout.isEntryName(name), let file = try? openEntry(name) else { return nil }
        defer { files.close(file) }
        guard let facts = try? files.status(of: file), facts.kind == .file, trusts(facts),
            let (head, payload) = sections(of: file, size: facts.size, name: name), self.name(of: head.key) == name
        else { return nil }
        var row = IndexRow(head, name: name, size: facts.allocated > 0 ? facts.allocated : facts.size)
        row.payload = payload
        row.accessed = min(row.accessed, now)
        row.renewed = min(row.renewed, now)
        return row
    }

    /// Returns the entry at the beginning of a file, without its data, and the size of the data in bytes.
    func sections(of file: Int32, size: Int, name: String) -> (CacheEntry, Int)? {
        var wanted = min(size, 16_384)
        var bytes: [UInt8] = []
        while true {
            let missing = wanted - bytes.count
            var more = [UInt8](repeating: 0, count: missing)
            let count = try? more.withUnsafeMutableBytes { buffer throws(SystemCallError) in
                try files.readAll(file, into: buffer)
            }
            guard count == missing else { return nil }
            bytes += more
            let step = bytes.withUnsafeBytes { raw -> Result<(CacheEntry, Int), EntryFileError>? in
                do throws(EntryFileError) {
                    switch try decodeSections(raw, fileSize: size, name: name) {
                    case .entry(let entry, let payload): return .success((entry, payload))
                    case .incomplete(let required):
                        wanted = required
                        return nil
                    }
                } catch {
                    return .failure(error)
                }
            }
            if let step { return try? step.get() }
        }
    }
}
