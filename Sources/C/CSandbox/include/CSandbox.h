// SPDX-License-Identifier: MIT
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// The processes, the memory, and the messages of isolated decoding, and the confinement of a helper process. Functions
/// return 0 or an error number unless their comment says otherwise.

/// The descriptor of the socket in a helper.
enum { WI_HELPER_SOCKET = 3 };

/// Creates a connected pair of sockets that preserve the boundaries of messages.
int wi_sandbox_pair(int sockets[2]);

/// Starts a helper with `posix_spawn`: an empty environment, a session of its own, no open descriptors except the
/// socket, and the standard streams at `/dev/null`. `process` receives a descriptor of the process.
int wi_sandbox_spawn(const char *path, char *const arguments[], int socket, pid_t *id, int *process);

/// Ends a helper with SIGKILL.
void wi_sandbox_kill(int process);

/// Waits until a process has ended. `signal` receives the number of the signal that ended it, or 0. Returns ETIMEDOUT
/// if the process still runs, and ECHILD if other code has already collected it.
int wi_sandbox_wait(int process, int milliseconds, int *signal);

/// Returns the processor time of a process in nanoseconds, or -1.
int64_t wi_sandbox_time(pid_t id);

/// Returns the time in nanoseconds for which the threads of a process have waited for a processor, or -1 if the system
/// doesn't tell.
int64_t wi_sandbox_wait_time(pid_t id);

/// Returns the address space of a process in bytes, or -1.
int64_t wi_sandbox_address_space(pid_t id);

/// Sets the limit of the address space of a process, up to the limit with which it was started.
int wi_sandbox_set_memory(pid_t id, uint64_t bytes);

/// Creates anonymous shared memory whose size is sealed. Returns its descriptor, or a negative error number.
int wi_sandbox_memory(size_t size);

/// Maps shared memory. Returns NULL if that fails.
void *wi_sandbox_map(int memory, size_t size, bool writable);
void wi_sandbox_unmap(void *address, size_t size);

/// Frees the pages of shared memory from `offset`. They become zero.
void wi_sandbox_discard(int memory, size_t offset, size_t size);

/// Returns whether the size of the memory is sealed and at least `size` bytes.
bool wi_sandbox_is_sealed(int memory, size_t size);

/// Sends a message without waiting, with an optional descriptor (-1 for none).
int wi_sandbox_send(int socket, const void *bytes, size_t count, int descriptor);

/// Receives a message without waiting. Returns its size, 0 at the end, or a negative error number, which is -EMSGSIZE for
/// a message that's larger than `room`. `descriptor` receives a descriptor or -1. If it's NULL, the kernel discards all
/// descriptors of the message.
ssize_t wi_sandbox_receive(int socket, void *bytes, size_t room, int *descriptor);

/// Waits for a message, or for room for one. Returns 1, 0 after the time, or a negative error number.
int wi_sandbox_poll(int socket, bool forRoom, int milliseconds);

/// Reads and writes a number that two processes share. The memory that was written before it is visible after it.
uint64_t wi_sandbox_progress(const void *number);
void wi_sandbox_set_progress(void *number, uint64_t value);

/// Reads and writes a word that two processes share.
uint32_t wi_sandbox_load(const void *word);
void wi_sandbox_store(void *word, uint32_t value);

/// The result of each layer of the confinement: 0 if it's active, and otherwise an error number.
typedef struct {
    int32_t privileges, namespaces, limits, landlock, seccomp;
    /// The version of Landlock's interface.
    int32_t landlockVersion;
} wi_sandbox_layers;

typedef struct {
    /// The limit of the address space, in bytes.
    uint64_t memory;
    /// The limit of the processor time of the process, in seconds.
    uint64_t seconds;
    /// Whether the process may open files for reading, which it needs for fonts.
    bool reads;
    /// Whether libraries of the process start threads.
    bool threads;
    /// The directories and files that the process may read if `reads` is set, ending with NULL.
    const char *const *readable;
} wi_sandbox_rules;

/// Begins the confinement of this process: no new privileges, namespaces, and limits. Call it before any other thread
/// exists.
void wi_sandbox_begin(const wi_sandbox_rules *rules, wi_sandbox_layers *layers);

/// Completes the confinement of this process with Landlock and a filter of system calls. Only threads that start later
/// are confined by Landlock.
void wi_sandbox_lock(const wi_sandbox_rules *rules, wi_sandbox_layers *layers);

/// Returns a variable of the environment, or NULL if the program has more privileges than its caller.
const char *wi_sandbox_variable(const char *name);

/// Returns free memory of `malloc` to the system.
void wi_sandbox_trim(void);

/// Ends this process immediately.
void wi_sandbox_exit(int status) __attribute__((noreturn));
