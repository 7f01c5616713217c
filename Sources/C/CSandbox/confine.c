// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "CSandbox.h"
#include "filter.h"

// The numbers are the same on all architectures. Older headers lack them.
enum { LANDLOCK_CREATE = 444, LANDLOCK_ADD = 445, LANDLOCK_RESTRICT = 446 };

enum {
    MAY_EXECUTE = 1 << 0,
    MAY_READ_FILE = 1 << 2,
    MAY_READ_DIRECTORY = 1 << 3,
};

struct landlock_rules {
    uint64_t files, network, scopes;
};

struct landlock_path {
    uint64_t access;
    int32_t parent;
} __attribute__((packed));

static void limit(int resource, uint64_t value, int32_t *error) {
    struct rlimit now;
    // A lower limit of the environment remains.
    if (getrlimit(resource, &now) == 0 && now.rlim_max < value) value = now.rlim_max;
    struct rlimit wanted = {value, value};
    if (setrlimit(resource, &wanted) && !*error) *error = errno;
}

void wi_sandbox_begin(const wi_sandbox_rules *rules, wi_sandbox_layers *layers) {
    memset(layers, 0, sizeof *layers);
    // One arena, and large blocks as mappings of their own, so that freed memory returns to the system.
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) layers->privileges = errno;
    // Privileged processes in containers may lack user namespaces but have network namespaces.
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) && unshare(CLONE_NEWNET | CLONE_NEWIPC))
        layers->namespaces = errno;
    // The keeper thread of the pool starts all helpers, so the signal arrives when the pool or its process ends. A
    // change of credentials would clear the setting.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    limit(RLIMIT_AS, rules->memory, &layers->limits);
    limit(RLIMIT_CPU, rules->seconds, &layers->limits);
    limit(RLIMIT_FSIZE, 0, &layers->limits);
    limit(RLIMIT_CORE, 0, &layers->limits);
    limit(RLIMIT_MEMLOCK, 0, &layers->limits);
    limit(RLIMIT_MSGQUEUE, 0, &layers->limits);
}

static int allow(int set, const char *path, uint64_t access) {
    int parent = open(path, O_PATH | O_CLOEXEC);
    // A directory that doesn't exist can't be read.
    if (parent < 0) return 0;
    struct stat status;
    if (!fstat(parent, &status) && !S_ISDIR(status.st_mode)) access &= ~(uint64_t)MAY_READ_DIRECTORY;
    struct landlock_path rule = {access, parent};
    int error = syscall(LANDLOCK_ADD, set, 1, &rule, 0) ? errno : 0;
    close(parent);
    return error;
}

static int restrict_files(const wi_sandbox_rules *rules, int version) {
    struct landlock_rules set = {.files = (1 << 13) - 1};
    size_t size = sizeof set.files;
    if (version >= 2) set.files |= 1 << 13;
    if (version >= 3) set.files |= 1 << 14;
    if (version >= 5) set.files |= 1 << 15;
    if (version >= 4) {
        set.network = 3;
        size = sizeof set.files + sizeof set.network;
    }
    if (version >= 6) {
        set.scopes = 3;
        size = sizeof set;
    }
    int descriptor = (int)syscall(LANDLOCK_CREATE, &set, size, 0);
    if (descriptor < 0) return errno;
    int error = 0;
    for (const char *const *path = rules->readable; rules->reads && path && *path && !error; path++)
        error = allow(descriptor, *path, MAY_READ_FILE | MAY_READ_DIRECTORY);
    if (!error && syscall(LANDLOCK_RESTRICT, descriptor, 0)) error = errno;
    close(descriptor);
    return error;
}

void wi_sandbox_lock(const wi_sandbox_rules *rules, wi_sandbox_layers *layers) {
    long version = syscall(LANDLOCK_CREATE, NULL, 0, 1);
    layers->landlockVersion = version > 0 ? (int32_t)version : 0;
    layers->landlock = version > 0 ? restrict_files(rules, (int)version) : version < 0 ? errno : ENOSYS;
    limit(RLIMIT_NOFILE, rules->reads ? 64 : 16, &layers->limits);
    layers->seccomp = wi_sandbox_filter(rules->reads);
    // The filter forbids processes but allows threads, for which the kernel has only this common limit. It doesn't apply
    // to root.
    if (layers->seccomp && !rules->threads) limit(RLIMIT_NPROC, 0, &layers->limits);
}
