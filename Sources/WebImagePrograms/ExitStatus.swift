// SPDX-License-Identifier: MIT

import Glibc

/// What the process ends with.
package enum ExitStatus {
    package static let ok: Int32 = 0
    /// Something failed.
    package static let failed: Int32 = 1
    /// The command line cannot be understood (sysexits.h, EX_USAGE).
    package static let usage: Int32 = 64
    /// What is needed is not there (sysexits.h, EX_UNAVAILABLE).
    package static let unavailable: Int32 = 69
    /// As shells count a process that SIGINT ended.
    package static let interrupted: Int32 = 128 + SIGINT
    /// As shells count a process that SIGTERM ended.
    package static let terminated: Int32 = 128 + SIGTERM
    /// As shells count a process that SIGPIPE ended.
    package static let closedPipe: Int32 = 128 + SIGPIPE
}
