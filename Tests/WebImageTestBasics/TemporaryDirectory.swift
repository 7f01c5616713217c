// SPDX-License-Identifier: MIT

import Foundation

/// A temporary directory that exists as long as this object.
public final class TemporaryDirectory: Sendable {
    /// The absolute path of the directory.
    public let path: String

    /// Creates an empty directory with mode 0700.
    public init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "webimage-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The names of the files in the directory.
    public var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

    /// Returns the absolute path of the file `name` in the directory.
    public func file(_ name: String) -> String { "\(path)/\(name)" }
}
