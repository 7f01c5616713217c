// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "CIsolationProbe.h"
#include <sys/ptrace.h>
#include <unistd.h>

long wi_probe_fork(void) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    return child;
}

long wi_probe_ptrace(void) { return ptrace(PTRACE_ATTACH, getppid(), 0, 0); }
