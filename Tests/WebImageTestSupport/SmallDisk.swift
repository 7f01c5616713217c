// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// A file system in memory of its own, unmounted with the value.
public final class SmallDisk: Sendable {
    /// Where it is mounted.
    public let path: String
    private var filler: String { "\(path)/filler" }

    /// nil where mounting is not permitted.
    public init?(bytes: Int, at path: String? = nil) {
        self.path = path ?? "\(FileManager.default.temporaryDirectory.path)/webimage-mount-\(UUID().uuidString)"
        mkdir(self.path, 0o700)
        guard mount("none", self.path, "tmpfs", 0, "size=\(bytes),mode=0700") == 0 else {
            rmdir(self.path)
            return nil
        }
    }

    /// Mounting takes the rights of root, and not every container lets root.
    public static let isPermitted = SmallDisk(bytes: 65_536) != nil

    /// Mounts it anew; false where that is refused.
    public func setReadOnly(_ isReadOnly: Bool) -> Bool {
        mount("none", path, "tmpfs", UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0), nil) == 0
    }

    /// Writes a file until nothing more goes in; false where something else than a full disk ended it.
    public func fill() -> Bool {
        let file = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        for size in [65_536, 4_096, 1] {
            let bytes = [UInt8](repeating: 0, count: size)
            while write(file, bytes, size) > 0 {}
        }
        return errno == ENOSPC
    }

    /// Removes what ``fill()`` wrote.
    public func empty() throws { try FileManager.default.removeItem(atPath: filler) }

    deinit {
        umount2(path, Int32(MNT_DETACH))
        rmdir(path)
    }
}
