// SPDX-License-Identifier: MIT
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Opens a directory that isn't a symbolic link as a starting point of paths (O_PATH). Returns the descriptor or the
/// negated errno.
int wi_open_folder(const char *path);

/// Opens `path`, relative to the directory `folder`, for reading if the kernel can resolve it from memory (openat2 with
/// RESOLVE_CACHED, Linux 5.12). It follows no symbolic links and doesn't change the access time of a file of this user.
/// Returns the descriptor or the negated errno. EAGAIN means that the kernel would have to access the disk, and ENOSYS
/// means that the kernel is too old.
int wi_open_cached(int folder, const char *path);

/// Reads the part of `file` that is in the page cache, starting at offset 0 (preadv2 with RWF_NOWAIT, Linux 4.14).
/// Returns the number of bytes or the negated errno. EAGAIN means that no data is cached, and EOPNOTSUPP means that
/// the file system doesn't support the call.
ssize_t wi_read_cached(int file, void *buffer, size_t count);

/// Schedules the calling thread as a batch job (SCHED_BATCH), so that it doesn't preempt other threads when it wakes.
/// Returns 1 if the thread had the default policy and the call changed it, or 0 otherwise.
int wi_begin_batch(void);

/// Restores the default policy after wi_begin_batch returned 1.
void wi_end_batch(void);

/// Returns free memory of malloc to the system (malloc_trim of glibc).
void wi_trim_heap(void);

/// Limits malloc of glibc to two arenas, allocates blocks from 512 KiB with mmap, and trims the heap if more than 1 MiB at
/// its end is free. Call it before other threads start.
void wi_limit_heap(void);

/// Creates a pipe with nonblocking ends that child programs don't inherit. Returns 0 or the negated errno.
int wi_pipe(int ends[2]);

/// Returns the version of Landlock's interface, or the negated errno if the kernel doesn't have Landlock (ENOSYS) or if
/// it's disabled (EOPNOTSUPP).
int wi_landlock_version(void);

/// Returns 1 if the kernel supports filters of system calls (seccomp), or the negated errno.
int wi_seccomp_filters(void);

/// Returns the seccomp mode of this thread: 0 without a filter, 2 with a filter, or the negated errno.
int wi_seccomp_mode(void);

/// Returns 1 if this thread can't gain privileges, 0 if it can, or the negated errno.
int wi_no_new_privileges(void);

/// Creates and closes a memory file with sealing. Returns 0 or the negated errno.
int wi_memory_file(void);

/// Returns the file system type of `path` as the 32 bits of statfs(2), or the negated errno.
int64_t wi_file_system(const char *path);

/// Opens `path`, relative to the directory `root`, for reading. It follows no symbolic links after `root` and never
/// leaves `root` (openat2 with RESOLVE_BENEATH, or one directory at a time). Returns the descriptor or the negated
/// errno.
int wi_open_beneath(const char *root, const char *path);
/// Opens a file like wi_open_beneath, but follows symbolic links as long as they don't leave `root`. On kernels without
/// openat2 (Linux 5.6), it follows no links.
int wi_open_beneath_with_links(const char *root, const char *path);
