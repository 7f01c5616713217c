// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "CSandbox.h"
#include "filter.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifndef ARCHITECTURE
int wi_sandbox_filter(bool reads) { return ENOSYS; }
#else

enum { REFUSED = SECCOMP_RET_ERRNO | EPERM, UNKNOWN = SECCOMP_RET_ERRNO | ENOSYS };

typedef struct {
    struct sock_filter code[512];
    unsigned short count;
    bool isFull;
} program;

static void emit(program *own, unsigned short code, uint32_t value, uint8_t ifTrue, uint8_t ifFalse) {
    if (own->count == sizeof own->code / sizeof *own->code) {
        own->isFull = true;
        return;
    }
    own->code[own->count++] = (struct sock_filter){code, ifTrue, ifFalse, value};
}

static void load(program *own, size_t offset) { emit(own, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0); }

/// The lower half of an argument. The kernel itself reads flags and descriptors as 32-bit numbers.
static size_t argument(int index) { return offsetof(struct seccomp_data, args) + (size_t)index * 8; }

static void decide(program *own, uint32_t result) { emit(own, BPF_RET | BPF_K, result, 0, 0); }

/// Returns `result` for a system call.
static void rule(program *own, int call, uint32_t result) {
    emit(own, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1);
    decide(own, result);
}

/// Allows a system call if `(argument & mask) == value`, and refuses it otherwise.
static void rule_if(program *own, int call, int index, uint32_t mask, uint32_t value) {
    emit(own, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 5);
    load(own, argument(index));
    emit(own, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
    emit(own, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    decide(own, SECCOMP_RET_ALLOW);
    decide(own, REFUSED);
}

/// Allows a system call if an argument is one of the values, and refuses it otherwise.
static void rule_among(program *own, int call, int index, const uint32_t *values, int count) {
    emit(own, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, (uint8_t)(2 + 2 * count));
    load(own, argument(index));
    for (int at = 0; at < count; at++) {
        emit(own, BPF_JMP | BPF_JEQ | BPF_K, values[at], 0, 1);
        decide(own, SECCOMP_RET_ALLOW);
    }
    decide(own, REFUSED);
}

/// Allows a system call if an argument is a null pointer, and refuses it otherwise. For `prlimit64`, this means that
/// limits can be read but not set.
static void rule_if_null(program *own, int call, int index) {
    emit(own, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 6);
    load(own, argument(index));
    emit(own, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
    load(own, argument(index) + 4);
    emit(own, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
    decide(own, SECCOMP_RET_ALLOW);
    decide(own, REFUSED);
}

/// The system calls that decoders need at any time, and that reach nothing outside the process.
static const int plain[] = {
    __NR_futex, __NR_mremap, __NR_munmap, __NR_madvise, __NR_brk, __NR_read, __NR_write, __NR_writev, __NR_readv,
    __NR_close, __NR_fstat, __NR_lseek, __NR_pread64, __NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn,
    __NR_sigaltstack, __NR_sched_yield, __NR_nanosleep, __NR_clock_nanosleep, __NR_clock_gettime, __NR_clock_getres,
    __NR_gettimeofday, __NR_getpid, __NR_gettid, __NR_getppid, __NR_set_robust_list, __NR_get_robust_list, __NR_exit,
    __NR_exit_group, __NR_set_tid_address, __NR_ppoll, __NR_getrandom, __NR_sched_getaffinity, __NR_sched_getparam,
    __NR_sched_getscheduler, __NR_getrusage, __NR_sysinfo, __NR_uname, __NR_getuid, __NR_geteuid, __NR_getgid,
    __NR_getegid, __NR_membarrier, __NR_getcpu, __NR_restart_syscall, __NR_times,
#ifdef __NR_rseq
    __NR_rseq,
#endif
#ifdef __NR_poll
    __NR_poll,
#endif
#ifdef __NR_time
    __NR_time,
#endif
};

/// The system calls with which a library looks for fonts. Landlock decides about the paths.
static const int lookups[] = {
    __NR_getdents64, __NR_readlinkat, __NR_faccessat, __NR_statfs, __NR_fstatfs, __NR_newfstatat, __NR_statx,
    __NR_eventfd2, __NR_pipe2, __NR_getcwd, __NR_fadvise64,
#ifdef __NR_faccessat2
    __NR_faccessat2,
#endif
#ifdef __NR_access
    __NR_access,
#endif
#ifdef __NR_stat
    __NR_stat, __NR_lstat,
#endif
#ifdef __NR_readlink
    __NR_readlink,
#endif
};

/// System calls that only an attacker makes in a decoder. They end the process.
static const int hostile[] = {
    __NR_execve, __NR_execveat, __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_bpf, __NR_mount,
    __NR_umount2, __NR_pivot_root, __NR_chroot, __NR_setns, __NR_unshare, __NR_init_module, __NR_finit_module,
    __NR_delete_module, __NR_kexec_load, __NR_reboot, __NR_keyctl, __NR_add_key, __NR_request_key,
    __NR_perf_event_open, __NR_userfaultfd, __NR_open_by_handle_at,
#ifdef __NR_io_uring_setup
    __NR_io_uring_setup, __NR_io_uring_enter, __NR_io_uring_register,
#endif
};

static void add(program *own, bool reads) {
    enum { cloneFlags = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND };
    const uint32_t namespaces = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC |
                                CLONE_NEWUTS | CLONE_NEWCGROUP;
    rule_if(own, __NR_recvmsg, 0, ~0u, WI_HELPER_SOCKET);
    rule_if(own, __NR_sendmsg, 0, ~0u, WI_HELPER_SOCKET);
    // No memory is executable after the libraries were loaded.
    rule_if(own, __NR_mmap, 2, PROT_EXEC, 0);
    rule_if(own, __NR_mprotect, 2, PROT_EXEC, 0);
    for (size_t at = 0; at < sizeof plain / sizeof *plain; at++) rule(own, plain[at], SECCOMP_RET_ALLOW);
    // Threads, but no processes. With ENOSYS for `clone3`, whose flags a filter can't read, the C library uses `clone`.
    rule_if(own, __NR_clone, 0, cloneFlags | namespaces, cloneFlags);
#ifdef __NR_clone3
    rule(own, __NR_clone3, UNKNOWN);
#endif
    // The C library ends the process with a signal to itself.
    rule_if(own, __NR_tgkill, 0, ~0u, (uint32_t)getpid());
    static const uint32_t names[] = {PR_SET_NAME, PR_GET_NAME, 0x53564d41 /* PR_SET_VMA */};
    rule_among(own, __NR_prctl, 0, names, 3);
    static const uint32_t commands[] = {F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC, 1034 /* F_GET_SEALS */};
    rule_among(own, __NR_fcntl, 1, commands, 5);
    rule_if_null(own, __NR_prlimit64, 2);
    const uint32_t writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | __O_TMPFILE;
    if (reads) {
        rule_if(own, __NR_openat, 2, writing & ~(uint32_t)O_DIRECTORY, 0);
#ifdef __NR_open
        rule_if(own, __NR_open, 1, writing & ~(uint32_t)O_DIRECTORY, 0);
#endif
        for (size_t at = 0; at < sizeof lookups / sizeof *lookups; at++) rule(own, lookups[at], SECCOMP_RET_ALLOW);
    } else {
        // The C library calls `newfstatat` for `fstat`.
        rule_if(own, __NR_newfstatat, 3, 0x1000 /* AT_EMPTY_PATH */, 0x1000);
    }
    for (size_t at = 0; at < sizeof hostile / sizeof *hostile; at++)
        rule(own, hostile[at], SECCOMP_RET_KILL_PROCESS);
}

int wi_sandbox_filter(bool reads) {
    program own = {0};
    load(&own, offsetof(struct seccomp_data, arch));
    emit(&own, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    decide(&own, SECCOMP_RET_KILL_PROCESS);
    load(&own, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    // The other numbering of system calls (x32) would bypass the rules.
    emit(&own, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
    decide(&own, UNKNOWN);
#endif
    add(&own, reads);
    // Return errors instead of ending the process, because a new version of a library may try a new system call.
    decide(&own, REFUSED);
    if (own.isFull) return E2BIG;
    struct sock_fprog filter = {own.count, own.code};
    long result = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
    return result == 0 ? 0 : result > 0 ? ESRCH : errno;
}
#endif
