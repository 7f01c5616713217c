// SPDX-License-Identifier: MIT

import Glibc

/// Ends the process of a program with an exit status.
///
/// Unlike `exit`, this function runs no exit handlers and no destructors of libraries, because threads of this package
/// still run and would use what the destructors free. It writes buffered output of the C library.
package func endProcess(_ status: Int32) -> Never {
    fflush(nil)
    _exit(status)
}
