// SPDX-License-Identifier: MIT

import Glibc
import WebImageCore

/// The directory structure of a disk cache:
///
///     CACHEDIR.TAG  lock  evictor  index.sqlite(-wal,-shm)  blobs/00…ff/<64 hex>  temp/  trash-<n>/
struct CacheLayout: Sendable {
    let root: String

    var lock: String { "\(root)/lock" }
    var evictor: String { "\(root)/evictor" }
    var index: String { "\(root)/index.sqlite" }
    var blobs: String { "\(root)/blobs" }
    var temp: String { "\(root)/temp" }
    var tag: String { "\(root)/CACHEDIR.TAG" }
    static let trashPrefix = "trash-"

    /// Returns the path of the directory for the entries whose names begin with the two digits of a shard.
    func shard(_ shard: Int) -> String { "\(blobs)/\(Self.digits(shard))" }

    /// Returns the path of an entry's file.
    func entry(_ name: String) -> String { "\(blobs)/\(name.prefix(2))/\(name)" }

    /// Returns a number from 0 to 255 as two hexadecimal digits.
    static func digits(_ shard: Int) -> String {
        let text = String(shard, radix: 16)
        return text.utf8.count < 2 ? "0\(text)" : text
    }

    /// Returns the 32 bytes that a hexadecimal name represents.
    static func nameBytes(_ name: String) -> [UInt8] {
        func value(_ digit: UInt8) -> UInt8 { digit < 58 ? digit &- 48 : digit &- 87 }
        var name = name
        return name.withUTF8 { digits in
            [UInt8](unsafeUninitializedCapacity: digits.count / 2) { bytes, count in
                count = digits.count / 2
                for index in 0..<count { bytes[index] = value(digits[index * 2]) << 4 | value(digits[index * 2 + 1]) }
            }
        }
    }

    /// Returns the hexadecimal name of the given bytes.
    static func name(_ bytes: UnsafeRawBufferPointer) -> String {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }
        return String(unsafeUninitializedCapacity: bytes.count * 2) { digits in
            for (index, byte) in bytes.enumerated() {
                digits[index * 2] = digit(byte >> 4)
                digits[index * 2 + 1] = digit(byte & 15)
            }
            return bytes.count * 2
        }
    }

    /// Returns a Boolean value that indicates whether a name is that of an entry file. The cache doesn't own other
    /// files in the tree.
    static func isEntryName(_ name: String) -> Bool {
        name.utf8.count == 64 && name.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}

extension CacheLayout {
    /// Creates the missing parts of the directory structure and checks the owner of the root.
    ///
    /// - Throws: ``ImageError/CacheFailure/unsafeDirectory(path:reason:)`` or
    ///   ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)``.
    func prepare(_ files: any FileSystem) throws(ImageError) {
        guard root.hasPrefix("/"), !root.utf8.contains(0) else {
            throw .cache(.unsafeDirectory(path: root, reason: "the path isn't absolute"))
        }
        do throws(SystemCallError) {
            try makePath(root[...], files)
            try check(files.status(at: root))
        } catch {
            throw .cache(.systemCallFailed(operation: error.operation, path: error.path, errno: error.code))
        }
        if let problem = (try? files.status(at: root)).flatMap(problem) {
            throw .cache(.unsafeDirectory(path: root, reason: problem))
        }
        // A read-only directory still serves reads. Ignore the following errors because they only prevent writes.
        try? makeDirectory(blobs, files)
        try? makeDirectory(temp, files)
        writeTag(files)
    }

    private func check(_ status: FileStatus) throws(SystemCallError) {
        guard status.kind == .directory || status.kind == .link else { throw SystemCallError("mkdir", root, ENOTDIR) }
    }

    /// Returns the reason why the root must not be used, or `nil` if it can be used.
    private func problem(_ status: FileStatus) -> String? {
        if status.kind != .directory { return "it's a link or a file, not a directory" }
        if status.owner != geteuid() { return "it belongs to user \(status.owner), not to user \(geteuid())" }
        if status.permissions & 0o022 != 0 { return "other users can write to it" }
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

    /// Writes the tag of bford.info/cachedir so that backup programs skip the directory.
    private func writeTag(_ files: any FileSystem) {
        guard let file = try? files.openFile(tag, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600) else { return }
        defer { files.close(file) }
        var text = "Signature: 8a477f597d28d172789f06886806bc55\n# Cached web images. You can delete this directory.\n"
        text.withUTF8 { bytes in try? files.writeAll(file, UnsafeRawBufferPointer(bytes)) }
    }
}
