// SPDX-License-Identifier: MIT
// glibc declares these functions only with _GNU_SOURCE, which Swift's Glibc module doesn't define.
#define _GNU_SOURCE
#include "CNetFaults.h"

int wi_spawn_in(posix_spawn_file_actions_t *actions, const char *folder) {
    return posix_spawn_file_actions_addchdir_np(actions, folder);
}

int wi_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
