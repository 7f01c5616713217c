// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "CAllocationFaults.h"

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);
}

namespace {

struct Range {
    uintptr_t start, end;
    bool is_executable;
};

enum { MAX_RANGES = 256, MAX_LIVE = 1 << 16 };
Range ranges[MAX_RANGES];
int range_count;
std::atomic<bool> is_armed;
/// Whether only the allocations of the executable itself can fail.
bool is_own_only;
std::atomic<size_t> count, target;
/// The live allocations of the executable that were made while armed.
void *live[MAX_LIVE];
std::atomic<size_t> live_count;
std::atomic_flag live_lock = ATOMIC_FLAG_INIT;

const char *const protected_names[] = {"libswift", "libFoundation", "lib_Foundation", "libdispatch", "libBlocksRuntime",
                                       "libc.so", "ld-linux", "libstdc++", "libgcc", "libpthread", "libm.so", "vdso",
                                       "libicu", "lib_Testing"};

int add_range(struct dl_phdr_info *info, size_t, void *) {
    for (const char *name : protected_names)
        if (strstr(info->dlpi_name, name)) return 0;
    for (int index = 0; index < info->dlpi_phnum && range_count < MAX_RANGES; index++) {
        const ElfW(Phdr) &part = info->dlpi_phdr[index];
        if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
        uintptr_t start = info->dlpi_addr + part.p_vaddr;
        ranges[range_count++] = {start, start + part.p_memsz, info->dlpi_name[0] == 0};
    }
    return 0;
}

const Range *range_of(const void *caller) {
    uintptr_t address = (uintptr_t)caller;
    for (int index = 0; index < range_count; index++)
        if (address >= ranges[index].start && address < ranges[index].end) return &ranges[index];
    return nullptr;
}

/// Counts an allocation, and returns whether it must fail.
bool fails(const void *caller, const Range **range) {
    *range = nullptr;
    if (!is_armed.load(std::memory_order_relaxed)) return false;
    *range = range_of(caller);
    if (!*range || (is_own_only && !(*range)->is_executable)) return false;
    return count.fetch_add(1) + 1 == target.load();
}

void lock() {
    while (live_lock.test_and_set(std::memory_order_acquire)) {
    }
}

void unlock() { live_lock.clear(std::memory_order_release); }

void *noted(void *address, const Range *range) {
    if (!address || !range || !range->is_executable) return address;
    lock();
    for (auto &slot : live) {
        if (slot) continue;
        slot = address;
        live_count.fetch_add(1);
        break;
    }
    unlock();
    return address;
}

void forget(void *address) {
    if (!address || !live_count.load(std::memory_order_relaxed)) return;
    lock();
    size_t rest = live_count.load();
    for (size_t index = 0; index < MAX_LIVE && rest; index++) {
        if (!live[index]) continue;
        rest--;
        if (live[index] != address) continue;
        live[index] = nullptr;
        live_count.fetch_sub(1);
        break;
    }
    unlock();
}

void *failed() {
    errno = ENOMEM;
    return nullptr;
}

} // namespace

// The sanitizers replace the allocator themselves, and call it before this file could work.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WI_HAS_SANITIZER 1
#endif
#endif

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

extern "C" {

#ifndef WI_HAS_SANITIZER
void *malloc(size_t size) {
    const Range *range;
    if (fails(CALLER, &range)) return failed();
    return noted(__libc_malloc(size), range);
}

void *calloc(size_t number, size_t size) {
    const Range *range;
    if (fails(CALLER, &range)) return failed();
    return noted(__libc_calloc(number, size), range);
}

void *realloc(void *old, size_t size) {
    const Range *range;
    if (fails(CALLER, &range)) return failed();
    forget(old);
    return noted(__libc_realloc(old, size), range);
}

void *aligned_alloc(size_t alignment, size_t size) {
    const Range *range;
    if (fails(CALLER, &range)) return failed();
    return noted(__libc_memalign(alignment, size), range);
}

void *memalign(size_t alignment, size_t size) {
    const Range *range;
    if (fails(CALLER, &range)) return failed();
    return noted(__libc_memalign(alignment, size), range);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    const Range *range;
    if (fails(CALLER, &range)) return ENOMEM;
    void *address = __libc_memalign(alignment, size);
    if (!address) return ENOMEM;
    *result = noted(address, range);
    return 0;
}

void free(void *address) {
    forget(address);
    __libc_free(address);
}

#endif

void wi_faults_prepare(int own_only) {
    is_own_only = own_only;
    range_count = 0;
    dl_iterate_phdr(add_range, nullptr);
}

void wi_faults_arm(size_t number) {
    count = 0;
    target = number;
    is_armed = true;
}

size_t wi_faults_disarm(void) {
    is_armed = false;
    return count;
}

size_t wi_faults_remaining(void) { return live_count; }

int wi_faults_copy(unsigned seconds) {
    pid_t copy = fork();
    if (!copy) alarm(seconds);
    return copy;
}

int wi_faults_wait(int copy) {
    int status = 0;
    while (waitpid(copy, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
}

#ifndef WI_HAS_SANITIZER
void *operator new(size_t size) {
    const Range *range;
    void *address = fails(CALLER, &range) ? nullptr : __libc_malloc(size ? size : 1);
    if (!address) throw std::bad_alloc();
    return noted(address, range);
}

void *operator new[](size_t size) {
    const Range *range;
    void *address = fails(CALLER, &range) ? nullptr : __libc_malloc(size ? size : 1);
    if (!address) throw std::bad_alloc();
    return noted(address, range);
}

void operator delete(void *address) noexcept { free(address); }
void operator delete[](void *address) noexcept { free(address); }
void operator delete(void *address, size_t) noexcept { free(address); }
void operator delete[](void *address, size_t) noexcept { free(address); }
#endif
