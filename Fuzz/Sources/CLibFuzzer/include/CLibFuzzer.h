// SPDX-License-Identifier: MIT

#ifndef WI_CLIBFUZZER_H
#define WI_CLIBFUZZER_H

#include <stddef.h>
#include <stdint.h>

/// libFuzzer as a library (LLVM documentation, "Using libFuzzer as a library"): runs until it is stopped or
/// finds something. The `fuzzer` sanitizer's run-time library defines it.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

#endif
