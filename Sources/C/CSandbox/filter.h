// SPDX-License-Identifier: MIT
#pragma once
#include <stdbool.h>

/// Installs the filter of system calls for all threads of this process. Returns 0 or an error number.
int wi_sandbox_filter(bool reads);
