// SPDX-License-Identifier: MIT

import Glibc

/// The messages of the operating system for error numbers.
enum SystemErrorMessage {
    /// Returns the message for an error number, such as “Is a directory”.
    static func text(_ errno: Int32) -> String { String(cString: strerror(errno)) }
}
