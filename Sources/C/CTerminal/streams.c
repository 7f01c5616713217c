// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <unistd.h>

// Opens /dev/null for each standard stream that the process was started without. Otherwise, the next file or socket that
// the process opens would have the number of the stream, and output would be written to it. Reading the standard input
// and writing the other streams fail with EBADF, as without the file. This runs before main because the runtime libraries
// of Swift open descriptors before they call the main function of a program.
__attribute__((constructor)) static void reserve_standard_streams(void) {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) != -1) continue;
        // The lowest free number is that of the stream.
        if (open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
    }
}
