// SPDX-License-Identifier: MIT
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Opens `path` for reading if the kernel can do so from memory alone (openat2 with RESOLVE_CACHED, Linux 5.12).
/// The descriptor, or the negated errno: EAGAIN where the disk would have to be asked, ENOSYS where the kernel is too
/// old.
int wi_open_cached(const char *path);

/// Reads from the beginning of `file` what is in the page cache (preadv2 with RWF_NOWAIT, Linux 4.14). Bytes read, or
/// the negated errno: EAGAIN where there is nothing, EOPNOTSUPP where the file system cannot tell.
ssize_t wi_read_cached(int file, void *buffer, size_t count);

/// Gives memory that malloc holds free back to the system (malloc_trim, glibc).
void wi_trim_heap(void);

/// A pipe whose ends neither block nor are inherited by programs that are started; 0, or the negated errno.
int wi_pipe(int ends[2]);

/// The kind of file system that `path` is on, as the 32 bits of statfs(2), or the negated errno.
int64_t wi_file_system(const char *path);

/// Opens `path`, relative to the folder `root`, for reading, without following a symbolic link behind `root` and without
/// leaving it (openat2 with RESOLVE_BENEATH, or folder by folder). The descriptor, or the negated errno.
int wi_open_beneath(const char *root, const char *path);
