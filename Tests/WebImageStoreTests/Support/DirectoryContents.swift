// SPDX-License-Identifier: MIT

import Foundation

/// The files below a directory.
struct DirectoryContents {
    /// The contents by relative path.
    var files: [String: Data] = [:]

    /// Reads all files. A file that is deleted in the meantime is skipped.
    init(_ path: String) throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            if let data = FileManager.default.contents(atPath: "\(path)/\(name)") { files[name] = data }
        }
    }

    /// Returns the paths of the files whose names or contents contain one of the texts.
    func paths(containing texts: [Data]) -> [String] {
        files.filter { path, data in
            texts.contains { data.range(of: $0) != nil || Data(path.utf8).range(of: $0) != nil }
        }.keys.sorted()
    }

    /// Returns the paths of the files that contain a run of `count` equal bytes other than zero.
    func pathsWithRuns(of count: Int) -> [String] {
        files.filter { $0.value.withUnsafeBytes { Self.hasRun(of: count, $0) } }.keys.sorted()
    }

    private static func hasRun(of count: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        var length = 0
        var last: UInt8 = 0
        for byte in bytes {
            length = byte == last ? length + 1 : 1
            last = byte
            if length >= count, byte != 0 { return true }
        }
        return false
    }

    /// Writes the files back, except those for which `isExcluded` returns `true`.
    func restore(to path: String, except isExcluded: (String) -> Bool = { _ in false }) throws {
        for (name, data) in files where !isExcluded(name) {
            let target = URL(filePath: "\(path)/\(name)")
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try data.write(to: target)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target.path)
        }
    }
}
