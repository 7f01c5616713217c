// SPDX-License-Identifier: MIT

import Glibc

/// The messages of the operating system for error numbers.
enum SystemErrorMessage {
    /// Returns the message for an error number, such as “Is a directory”.
    static func text(_ errno: Int32) -> String { String(cString: strerror(errno)) }

    /// Returns the message for an error number of a file that was read.
    static func text(reading errno: Int32) -> String {
        switch errno {
        case EINVAL: "It isn't a regular file"
        case ESTALE: "Its size changed while it was read"
        default: text(errno)
        }
    }
}
