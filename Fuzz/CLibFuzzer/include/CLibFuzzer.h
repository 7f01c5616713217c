// SPDX-License-Identifier: MIT

#ifndef WI_CLIBFUZZER_H
#define WI_CLIBFUZZER_H

#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer until its time expires or it finds a failure (LLVM documentation, “Using libFuzzer as a library”). The
/// run-time library of the `fuzzer` sanitizer defines this function.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

#endif
