// SPDX-License-Identifier: MIT

import Glibc
import WebImageCore

/// The directory structure of a disk cache:
///
///     CACHEDIR.TAG  salt  lock  evictor  index.sqlite(-wal,-shm)  blobs/00…ff/<64 hex>  temp/  trash-<n>/
///
/// With an encryption key, this structure and the file `content-salt` are in the subdirectory `key-<32 hex>`. The
/// configured directory then contains only the file `salt`, from which keys are derived.
struct CacheLayout: Sendable {
    let root: String
    /// The directories of the cache from the configured one to ``root``.
    let folders: [String]
    /// Whether several users share the configured directory.
    let isShared: Bool
    let isEncrypted: Bool
    let user: uid_t

    init(root: String) {
        self.init(folders: [root], isShared: false, isEncrypted: false)
    }

    /// In a shared directory, each user has a subdirectory, and each encryption key has one below it.
    init(_ configuration: DiskCache.Configuration) {
        var folders = [configuration.directory.absoluteFilePath]
        if configuration.isShared { folders.append("\(folders[0])/user-\(geteuid())") }
        if let key = configuration.encryptionKey { folders.append("\(folders[folders.count - 1])/\(key.folderName)") }
        self.init(
            folders: folders, isShared: configuration.isShared, isEncrypted: configuration.encryptionKey != nil)
    }

    private init(folders: [String], isShared: Bool, isEncrypted: Bool) {
        self.folders = folders
        self.isShared = isShared
        self.isEncrypted = isEncrypted
        root = folders.last ?? ""
        user = geteuid()
    }

    var lock: String { "\(root)/lock" }
    var evictor: String { "\(root)/evictor" }
    var index: String { "\(root)/index.sqlite" }
    var blobs: String { "\(root)/blobs" }
    var temp: String { "\(root)/temp" }
    var tag: String { "\(root)/CACHEDIR.TAG" }
    /// The path of 32 random bytes that are the same for all processes.
    var salt: String { "\(root)/salt" }
    /// The path of 32 random bytes without which the encrypted files can't be decrypted.
    var contentSalt: String { "\(root)/content-salt" }
    /// The directory that contains the subdirectories of the encryption keys, which is ``root`` without encryption.
    var base: String { isEncrypted ? folders.dropLast().last ?? root : root }
    static let encryptedPrefix = "key-"
    static let trashPrefix = "trash-"
    /// The path differs on each access.
    var newTrash: String {
        "\(root)/\(Self.trashPrefix)\(getpid())-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
    }

    /// Returns the path of the directory for the entries whose names begin with the two digits of a shard.
    func shard(_ shard: Int) -> String { "\(blobs)/\(Self.digits(shard))" }

    func entry(_ name: String) -> String { "\(root)/\(Self.relativePath(name))" }

    /// Every read creates this path of an unencrypted entry, so it's created without a string for the name.
    static func relativePath(of key: CacheKey) -> String {
        let name = pathBytes + 3
        return String(unsafeUninitializedCapacity: name + CacheKey.fileNameBytes) { path in
            key.writeFileName(to: UnsafeMutableBufferPointer(rebasing: path[name...]))
            // The bytes of "blobs/".
            (path[0], path[1], path[2], path[3], path[4], path[5]) = (98, 108, 111, 98, 115, 47)
            (path[6], path[7], path[8]) = (path[name], path[name + 1], 47)
            return name + CacheKey.fileNameBytes
        }
    }

    /// The number of bytes of the directory of all entries in a path, including the slash.
    private static let pathBytes = 6

    static func name(atPath path: String) -> String { String(path.dropFirst(pathBytes + 3)) }

    static func relativePath(_ name: String) -> String {
        // Every read creates a path, and an interpolated string takes three times as long.
        var name = name
        return name.withUTF8 { name in
            String(unsafeUninitializedCapacity: 9 + name.count) { path in
                let raw = UnsafeMutableRawBufferPointer(path)
                let shard = min(2, name.count)
                raw.copyBytes(from: [98, 108, 111, 98, 115, 47] as [UInt8])
                UnsafeMutableRawBufferPointer(rebasing: raw[6...]).copyBytes(from: name.prefix(shard))
                raw[6 + shard] = 47
                UnsafeMutableRawBufferPointer(rebasing: raw[(7 + shard)...]).copyBytes(from: name)
                return 7 + shard + name.count
            }
        }
    }

    /// Returns a number from 0 to 255 as two hexadecimal digits.
    static func digits(_ shard: Int) -> String {
        let text = String(shard, radix: 16)
        return text.utf8.count < 2 ? "0\(text)" : text
    }

    static func isEncryptedFolder(_ name: String) -> Bool {
        let digits = name.utf8.dropFirst(encryptedPrefix.utf8.count)
        return name.hasPrefix(encryptedPrefix) && digits.count == 32
            && digits.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    /// The cache doesn't own other files in the tree.
    static func isEntryName(_ name: String) -> Bool {
        name.utf8.count == 64 && name.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}

extension CacheLayout {
    /// Checks the kinds, owners, and permissions of the parts, and creates missing ones.
    func prepare(_ files: any FileSystem) throws(ImageError) {
        try prepareFolders(files)
        // A part that was replaced by a link would lead the cache to files of other programs.
        for part in [blobs, temp] { try checkPart(part, .directory, files) }
        for part in [lock, evictor, tag, index, "\(index)-wal", "\(index)-shm"] { try checkPart(part, .file, files) }
        if isEncrypted { try checkPart(contentSalt, .file, files) }
        // A read-only directory still serves reads. Ignore the following errors because they only prevent writes.
        try? makeDirectory(blobs, files)
        try? makeDirectory(temp, files)
        writeTag(files)
    }

    /// The directories are those from the configured one to the root. Also checks the salt.
    func prepareFolders(_ files: any FileSystem) throws(ImageError) {
        guard root.hasPrefix("/"), !root.utf8.contains(0) else {
            throw .cache(.unsafeDirectory(path: root, reason: "the path isn't absolute"))
        }
        for folder in folders { try prepare(folder, files) }
        try checkPart(salt, .file, files)
    }

    private func prepare(_ folder: String, _ files: any FileSystem) throws(ImageError) {
        let status: FileStatus
        do throws(SystemCallError) {
            try makePath(folder[...], files)
            status = try files.status(at: folder)
            guard status.kind == .directory || status.kind == .link else {
                throw SystemCallError("mkdir", folder, ENOTDIR)
            }
        } catch {
            throw .cache(.systemCallFailed(operation: error.operation, path: error.path, errno: error.code))
        }
        let mayShare = isShared && folder == folders.first
        guard let problem = problem(status, .directory, mayShare: mayShare) else { return }
        throw .cache(.unsafeDirectory(path: folder, reason: problem))
    }

    /// Checks a file or a directory of the cache. A missing one is created later.
    private func checkPart(_ path: String, _ kind: FileStatus.Kind, _ files: any FileSystem) throws(ImageError) {
        let status: FileStatus
        do throws(SystemCallError) {
            status = try files.status(at: path)
        } catch  where error.code == ENOENT {
            return
        } catch {
            throw .cache(.systemCallFailed(operation: error.operation, path: error.path, errno: error.code))
        }
        guard let problem = problem(status, kind, mayShare: false) else { return }
        throw .cache(.unsafeDirectory(path: path, reason: problem))
    }

    /// Returns the reason why a file or a directory must not be used, or `nil` if it can be used.
    private func problem(_ status: FileStatus, _ kind: FileStatus.Kind, mayShare: Bool) -> String? {
        let mode = "0" + String(status.permissions, radix: 8)
        let facts = "owner \(status.owner), mode \(mode)"
        if status.kind == .link { return "it's a symbolic link (\(facts))" }
        if status.kind != kind { return "it isn't a \(kind == .file ? "regular file" : "directory") (\(facts))" }
        if mayShare {
            // In a directory with the sticky bit, users can't replace the files of others.
            let isProtected = status.permissions & 0o002 == 0 || status.permissions & 0o1000 != 0
            return isProtected ? nil : "all users can write to it, and the sticky bit isn't set (\(facts))"
        }
        if status.owner != user, status.owner != 0 {
            return "it belongs to user \(status.owner), not to user \(user) or root (\(facts))"
        }
        if status.permissions & 0o022 != 0 { return "other users can write to it (\(facts))" }
        return nil
    }

    func makePath(_ path: Substring, _ files: any FileSystem) throws(SystemCallError) {
        do throws(SystemCallError) {
            try makeDirectory(String(path), files)
        } catch  where error.code == ENOENT {
            guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { throw error }
            try makePath(path[..<slash], files)
            try makeDirectory(String(path), files)
        }
    }

    /// Creates a directory. An existing directory isn't an error.
    func makeDirectory(_ path: String, _ files: any FileSystem) throws(SystemCallError) {
        do throws(SystemCallError) { try files.makeDirectory(path) } catch  where error.code == EEXIST { return }
    }

    /// Checks whether files can be created and deleted in the root. Other errors, such as a full disk, don't count.
    func requireWritable(_ files: any FileSystem) throws(SystemCallError) {
        let path = newTrash
        do throws(SystemCallError) {
            try files.makeDirectory(path)
            try files.removeDirectory(path)
        } catch  where [EACCES, EPERM, EROFS].contains(error.code) {
            throw SystemCallError("write", root, error.code)
        } catch {
            return
        }
    }

    /// Writes the tag of bford.info/cachedir so that backup programs skip the directory.
    private func writeTag(_ files: any FileSystem) {
        guard let file = try? files.openFile(tag, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600) else { return }
        defer { files.close(file) }
        var text = "Signature: 8a477f597d28d172789f06886806bc55\n# Cached web images. You can delete this directory.\n"
        text.withUTF8 { bytes in try? files.writeAll(file, UnsafeRawBufferPointer(bytes)) }
    }
}
