// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// The directory of resume data, with limits for its size, number of files, and age. Only the queue of the store uses
/// it.
struct PartialDownloadDirectory {
    private struct File {
        var size: Int
        var stored: Date
    }

    private static let ending = ".part"
    /// The suffix of temporary files.
    private static let temporaryEnding = ".new"
    /// The maximum number of files.
    private static let mostFiles = 1024

    let path: String
    let limit: Int
    let maxAge: Double
    private var files: [String: File] = [:]

    /// Indexes the files of earlier processes and removes expired ones. If the directory can't be created, it stays
    /// empty.
    init(path: String, limit: Int, maxAge: Double, now: Date) {
        self.path = path
        self.limit = limit
        self.maxAge = maxAge
        let manager = FileManager.default
        try? manager.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for name in (try? manager.contentsOfDirectory(atPath: path)) ?? [] {
            let place = "\(path)/\(name)"
            guard let facts = try? manager.attributesOfItem(atPath: place), let size = facts[.size] as? Int,
                let stored = facts[.modificationDate] as? Date, facts[.type] as? FileAttributeType == .typeRegular
            else { continue }
            if name.hasSuffix(Self.ending) {
                files[String(name.dropLast(Self.ending.count))] = File(size: size, stored: stored)
            } else if name.hasSuffix(Self.temporaryEnding), now.timeIntervalSince(stored) > 3_600 {
                unlink(place)
            }
        }
        trim(now: now)
    }

    /// The total size of the files, in bytes.
    var size: Int { files.values.reduce(0) { $0 + $1.size } }
    /// The names of the stored parts.
    var names: Set<String> { Set(files.keys) }

    /// Returns a part, or `nil` if it doesn't exist or isn't valid.
    mutating func read(_ name: String, now: Date) -> PartialDownload? {
        trim(now: now)
        guard files[name] != nil else { return nil }
        guard let data = try? Data(contentsOf: URL(filePath: filePath(name))), data.count <= limit + (1 << 20),
            let point = PartialDownloadFile.decode(data)
        else {
            remove(name)
            return nil
        }
        return point
    }

    /// Stores a part. Returns `false` if the file wasn't written.
    mutating func write(_ point: PartialDownload, name: String, now: Date) -> Bool {
        guard let data = PartialDownloadFile.encode(point), data.count <= limit,
            (try? OwnerOnlyFile.write(data, to: filePath(name))) != nil
        else { return false }
        files[name] = File(size: data.count, stored: now)
        trim(now: now)
        return true
    }

    mutating func remove(_ name: String) {
        guard files.removeValue(forKey: name) != nil else { return }
        unlink(filePath(name))
    }

    /// Removes the parts whose names match `isMeant`, including files that another process wrote.
    mutating func removeAll(_ isMeant: (String) -> Bool) {
        for entry in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
            guard let dot = entry.firstIndex(of: "."), isMeant(String(entry[..<dot])),
                entry.hasSuffix(Self.ending) || entry.hasSuffix(Self.temporaryEnding)
            else { continue }
            unlink("\(path)/\(entry)")
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
