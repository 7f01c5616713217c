// SPDX-License-Identifier: MIT

import Glibc

/// The messages of the operating system for error numbers.
enum SystemErrorMessage {
    static func text(_ errno: Int32) -> String { String(cString: strerror(errno)) }

    /// Returns the words for the name of a system call, such as “Creating the directory” for `mkdir`. Other texts don't
    /// change.
    static func activity(_ operation: String) -> String {
        switch operation {
        case "open", "openat", "openat2", "opendir", "realpath": "Opening"
        case "read", "pread", "preadv2", "stat", "fstat", "lstat", "statfs", "statvfs", "mmap": "Reading"
        case "write", "pwrite", "pwritev", "fsync", "fdatasync", "ftruncate", "fallocate": "Writing"
        case "mkdir": "Creating the directory"
        case "rename", "renameat", "link": "Renaming"
        case "unlink", "unlinkat", "rmdir": "Removing"
        case "flock": "Locking"
        case "malloc": "Allocating memory"
        case "checksum": "Checking the data"
        case "encryption": "Decrypting"
        default: operation
        }
    }

    static func text(reading errno: Int32) -> String {
        switch errno {
        case EINVAL: "It isn't a regular file"
        case ESTALE: "Its size changed while it was read"
        default: text(errno)
        }
    }
}
