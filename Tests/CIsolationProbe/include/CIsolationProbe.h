// SPDX-License-Identifier: MIT
#pragma once

/// System calls that Swift can't make. Each returns a negative number if the system refuses it.
long wi_probe_fork(void);
long wi_probe_ptrace(void);
