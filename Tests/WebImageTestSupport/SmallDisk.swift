// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// A small file system in memory, which is unmounted when this object is deallocated.
public final class SmallDisk: Sendable {
    /// The mount point.
    public let path: String
    private var filler: String { "\(path)/filler" }

    /// Mounts a file system of `bytes` bytes. Returns `nil` if mounting isn't permitted.
    public init?(bytes: Int, at path: String? = nil) {
        self.path = path ?? "\(FileManager.default.temporaryDirectory.path)/webimage-mount-\(UUID().uuidString)"
        mkdir(self.path, 0o700)
        guard mount("none", self.path, "tmpfs", 0, "size=\(bytes),mode=0700") == 0 else {
            rmdir(self.path)
            return nil
        }
    }

    /// A Boolean value that indicates whether this process can mount file systems. Mounting requires root privileges,
    /// and some containers deny it even to root.
    public static let isPermitted = SmallDisk(bytes: 65_536) != nil

    /// Remounts the file system as read-only or writable, and returns `false` if the kernel rejects that.
    public func setReadOnly(_ isReadOnly: Bool) -> Bool {
        mount("none", path, "tmpfs", UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0), nil) == 0
    }

    /// Writes a file until the file system is full. Returns `false` if an error other than `ENOSPC` ends the writing.
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

    /// Removes the file that ``fill()`` wrote.
    public func empty() throws { try FileManager.default.removeItem(atPath: filler) }

    deinit {
        umount2(path, Int32(MNT_DETACH))
        rmdir(path)
    }
}
