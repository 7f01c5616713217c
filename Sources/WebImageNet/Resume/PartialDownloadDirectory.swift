// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImageStore

/// The directory of resume data, with limits for its size, number of files, and age. Only the queue of the store uses
/// it.
struct PartialDownloadDirectory {
    private struct File {
        var size: Int
        var stored: Date
    }

    private static let ending = ".part"
    private static let temporaryEnding = ".new"
    private static let mostFiles = 1024

    let path: String
    let limit: Int
    let maxAge: Double
    private let system: any FileSystem
    private let user = geteuid()
    private var files: [String: File] = [:]

    /// If the directory can't be created, is a symbolic link, or can be changed by other users, it isn't used, and
    /// writes fail.
    init(path: String, limit: Int, maxAge: Double, now: Date, files system: any FileSystem) {
        self.path = path
        self.limit = limit
        self.maxAge = maxAge
        self.system = system
        guard prepare() else { return }
        for name in (try? system.names(in: path)) ?? [] {
            let place = "\(path)/\(name)"
            guard let status = try? system.status(at: place), isTrusted(status), status.kind == .file else { continue }
            let stored = Date(timeIntervalSince1970: status.modified)
            if name.hasSuffix(Self.ending) {
                files[String(name.dropLast(Self.ending.count))] = File(size: status.size, stored: stored)
            } else if name.hasSuffix(Self.temporaryEnding) {
                removeLeftover(place, age: now.timeIntervalSince(stored))
            }
        }
        trim(now: now)
    }

    /// A writer locks its temporary file, so the lock of a leftover of an ended process is free. Without support for
    /// locks, only the age decides.
    private func removeLeftover(_ path: String, age: Double) {
        guard let file = try? system.openFile(path, O_RDONLY | O_NONBLOCK) else { return }
        defer { system.close(file) }
        do throws(SystemCallError) {
            try system.lock(file, LOCK_EX | LOCK_NB)
            try system.remove(path)
        } catch {
            if error.code != EWOULDBLOCK, age > 3_600 { try? system.remove(path) }
        }
    }

    /// Creates the directory if it's missing. Returns `false` if it must not be used.
    private func prepare() -> Bool {
        try? system.makeDirectories(path)
        guard let status = try? system.status(at: path) else { return false }
        return status.kind == .directory && isTrusted(status)
    }

    /// Returns whether a file or a directory belongs to the user of the process, and other users can't change it.
    private func isTrusted(_ status: FileStatus) -> Bool {
        // Another user could otherwise provide the beginning of an image.
        status.owner == user && status.permissions & 0o022 == 0
    }

    /// The total size of the files, in bytes.
    var size: Int { files.values.reduce(0) { $0 + $1.size } }
    var names: Set<String> { Set(files.keys) }

    mutating func read(_ name: String, now: Date) -> PartialDownload? {
        trim(now: now)
        guard files[name] != nil else { return nil }
        guard let data = contents(filePath(name)), let point = PartialDownloadFile.decode(data) else {
            remove(name)
            return nil
        }
        return point
    }

    /// Returns the contents of a regular file of at most ``limit`` bytes. It never waits for the writer of a pipe and
    /// doesn't follow a symbolic link.
    private func contents(_ path: String) -> Data? {
        guard let file = try? system.openFile(path, O_RDONLY | O_NONBLOCK) else { return nil }
        defer { system.close(file) }
        guard let contents = try? system.contents(of: file, path: path, limit: limit, isTrusted: isTrusted) else {
            return nil
        }
        let size = contents.status.size
        return contents.consumeBytes().data(in: 0..<size)
    }

    mutating func write(_ point: PartialDownload, name: String, now: Date) -> Bool {
        guard let data = PartialDownloadFile.encode(point), data.count <= limit,
            // Another program may have removed or replaced the directory since the last write.
            prepare(), write(data, to: filePath(name))
        else { return false }
        files[name] = File(size: data.count, stored: now)
        trim(now: now)
        return true
    }

    /// The temporary file has mode 0600 and is locked until it has its final name, so other processes don't take it for
    /// a leftover. A failed write leaves no file.
    private func write(_ data: Data, to path: String) -> Bool {
        let random = String(UInt64.random(in: .min ... .max), radix: 36)
        let temporary = "\(path).\(random)\(Self.temporaryEnding)"
        let flags = O_WRONLY | O_CREAT | O_EXCL
        guard let file = try? system.openFile(temporary, flags, mode: 0o600) else { return false }
        defer { system.close(file) }
        // The name is random, so without a lock, only the removal of old leftovers is delayed.
        try? system.lock(file, LOCK_EX | LOCK_NB)
        let isWritten = data.withUnsafeBytes { bytes in (try? system.writeAll(file, bytes)) != nil }
        if isWritten, (try? system.rename(temporary, to: path)) != nil { return true }
        try? system.remove(temporary)
        return false
    }

    mutating func remove(_ name: String) {
        guard files.removeValue(forKey: name) != nil else { return }
        try? system.remove(filePath(name))
    }

    /// Removes the parts whose names match `isMeant`, including files that another process wrote.
    mutating func removeAll(_ isMeant: (String) -> Bool) {
        for entry in prepare() ? (try? system.names(in: path)) ?? [] : [] {
            guard let dot = entry.firstIndex(of: "."), isMeant(String(entry[..<dot])),
                entry.hasSuffix(Self.ending) || entry.hasSuffix(Self.temporaryEnding)
            else { continue }
            try? system.remove("\(path)/\(entry)")
        }
        files = files.filter { !isMeant($0.key) }
    }

    /// Removes the oldest and the expired parts until the directory is within its limits.
    private mutating func trim(now: Date) {
        var left = size
        for (name, file) in files.sorted(by: { $0.value.stored < $1.value.stored }) {
            guard left > limit || files.count > Self.mostFiles || now.timeIntervalSince(file.stored) > maxAge else {
                return
            }
            left -= file.size
            remove(name)
        }
    }

    private func filePath(_ name: String) -> String { "\(path)/\(name)\(Self.ending)" }
}
