// SPDX-License-Identifier: MIT
#pragma once
#include <stdbool.h>

/// System calls that Swift can't make. Each returns a negative number if the system refuses it.
long wi_probe_fork(void);
long wi_probe_ptrace(void);

/// Lets the call with this number fail, counted from 1, of a function with which a process talks to its helpers or to a
/// server. 0 lets no call fail. A transient error, such as EINTR, may disappear when the call is repeated. `name` must remain valid.
void wi_probe_fail(const char *name, long call, bool transient);
/// Returns the name of the function that failed, or NULL.
const char *wi_probe_failed(void);
/// Returns whether the process made fewer calls than the number of the failing one.
bool wi_probe_is_pending(void);
