// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "CSandbox.h"

#ifndef __NR_pidfd_send_signal
#define __NR_pidfd_send_signal 424
#endif
#ifndef __NR_pidfd_open
#define __NR_pidfd_open 434
#endif

int wi_sandbox_pair(int sockets[2]) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) ? errno : 0;
}

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int socket) {
    // `adddup2` of a descriptor to itself clears its close-on-exec flag.
    int error = posix_spawn_file_actions_adddup2(actions, socket, WI_HELPER_SOCKET);
    for (int stream = 0; stream < 3 && !error; stream++)
        error = posix_spawn_file_actions_addopen(actions, stream, "/dev/null", stream ? O_WRONLY : O_RDONLY, 0);
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(actions, WI_HELPER_SOCKET + 1);
    if (error) return error;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    error = posix_spawnattr_setsigmask(attributes, &none);
    if (!error) error = posix_spawnattr_setsigdefault(attributes, &all);
    if (!error)
        error = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    return error;
}

int wi_sandbox_spawn(const char *path, char *const arguments[], int socket, pid_t *id, int *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    error = prepare(&actions, &attributes, socket);
    char *const environment[] = {NULL};
    if (!error) error = posix_spawn(id, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error) return error;
    // The number of the process can't be reused before the process is collected.
    *process = (int)syscall(__NR_pidfd_open, *id, 0);
    if (*process >= 0) return 0;
    error = errno;
    kill(*id, SIGKILL);
    waitpid(*id, NULL, 0);
    return error;
}

void wi_sandbox_kill(int process) { syscall(__NR_pidfd_send_signal, process, SIGKILL, NULL, 0); }

int wi_sandbox_wait(int process, int milliseconds, int *signal) {
    struct pollfd watched = {process, POLLIN, 0};
    *signal = 0;
    int count;
    do count = poll(&watched, 1, milliseconds);
    while (count < 0 && errno == EINTR);
    if (count == 0) return ETIMEDOUT;
    siginfo_t info = {0};
    while (waitid((idtype_t)3 /* P_PIDFD */, (id_t)process, &info, WEXITED | WNOHANG)) {
        if (errno != EINTR) return errno;
    }
    if (info.si_pid == 0) return ETIMEDOUT;
    if (info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED) *signal = info.si_status;
    return 0;
}

int64_t wi_sandbox_time(pid_t id) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(id, &clock) || clock_gettime(clock, &time)) return -1;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/// Reads a file of numbers below `directory`, or below the working directory for AT_FDCWD. Returns whether it has text.
static bool read_numbers(int directory, const char *path, char text[64]) {
    int file = openat(directory, path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t count = read(file, text, 63);
    close(file);
    text[count > 0 ? count : 0] = 0;
    return count > 0;
}

int64_t wi_sandbox_wait_time(pid_t id) {
    char path[32], text[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)id);
    DIR *threads = opendir(path);
    if (!threads) return -1;
    int64_t sum = 0;
    bool is_known = true;
    for (struct dirent *thread; (thread = readdir(threads));) {
        if (thread->d_name[0] == '.' || strlen(thread->d_name) > 15) continue;
        snprintf(path, sizeof path, "%s/schedstat", thread->d_name);
        unsigned long long running = 0, waiting = 0;
        // A thread can end in the meantime. The numbers are nanoseconds (sched-stats.rst of the kernel).
        if (read_numbers(dirfd(threads), path, text))
            is_known = sscanf(text, "%llu %llu", &running, &waiting) == 2 && is_known;
        else if (errno != ENOENT && errno != ESRCH)
            is_known = false;
        sum += (int64_t)waiting;
    }
    closedir(threads);
    return is_known ? sum : -1;
}

int64_t wi_sandbox_address_space(pid_t id) {
    char path[32], text[64];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)id);
    if (!read_numbers(AT_FDCWD, path, text)) return -1;
    // The first number is the size in pages (proc_pid_statm(5)).
    long long pages = atoll(text);
    return pages > 0 ? pages * sysconf(_SC_PAGESIZE) : -1;
}

int wi_sandbox_set_memory(pid_t id, uint64_t bytes) {
    struct rlimit now;
    if (prlimit(id, RLIMIT_AS, NULL, &now)) return errno;
    now.rlim_cur = bytes < now.rlim_max ? bytes : now.rlim_max;
    return prlimit(id, RLIMIT_AS, &now, NULL) ? errno : 0;
}

const char *wi_sandbox_variable(const char *name) { return secure_getenv(name); }

void wi_sandbox_exit(int status) { _exit(status); }
