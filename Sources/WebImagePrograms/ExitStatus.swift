// SPDX-License-Identifier: MIT

import Glibc

/// The exit statuses of the programs.
package enum ExitStatus {
    package static let ok: Int32 = 0
    /// An operation failed.
    package static let failed: Int32 = 1
    /// The command line is invalid (EX_USAGE in sysexits.h).
    package static let usage: Int32 = 64
    /// A required resource isn't available (EX_UNAVAILABLE in sysexits.h).
    package static let unavailable: Int32 = 69
    /// The status that shells report for a process terminated by SIGINT.
    package static let interrupted: Int32 = 128 + SIGINT
    /// The status that shells report for a process terminated by SIGTERM.
    package static let terminated: Int32 = 128 + SIGTERM
    /// The status that shells report for a process terminated by SIGPIPE.
    package static let closedPipe: Int32 = 128 + SIGPIPE
}
