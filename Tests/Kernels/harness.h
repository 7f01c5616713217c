// SPDX-License-Identifier: MIT
// Random buffers and comparisons for the test of the kernels.
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/// The name of the running test, and the number of failed comparisons.
static const char *running = "";
static int failures;

static uint64_t state;

static uint64_t next(void) {
    uint64_t z = state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

static size_t number(size_t low, size_t high) { return low + (size_t)(next() % (high - low + 1)); }
static double real(double low, double high) { return low + (high - low) * (double)(next() >> 11) / 9007199254740992.0; }

/// Buffers end at a page without access, so a read or a write past the end crashes. Their alignment depends on their
/// size. A write before the start destroys the guard bytes there.
enum { SLOTS = 16, SLOT_BYTES = 1 << 20, GUARD = 64, PAGES = 2 };
static uint8_t *slots[SLOTS];
static size_t sizes[SLOTS];
static int used;

static void prepare_slots(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (int slot = 0; slot < SLOTS; slot++) {
        uint8_t *memory = mmap(NULL, SLOT_BYTES + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED || mprotect(memory + SLOT_BYTES, page, PROT_NONE)) abort();
        slots[slot] = memory + SLOT_BYTES;
    }
}

static void *buffer(size_t size) {
    if (used == SLOTS || size + GUARD > SLOT_BYTES) abort();
    sizes[used] = size;
    uint8_t *start = slots[used++] - size;
    memset(start - GUARD, 0xA5, GUARD);
    return start;
}

static void report(const char *what, size_t index, double expected, double actual) {
    if (++failures <= 20) fprintf(stderr, "%s: %s %zu is %.9g instead of %.9g\n", running, what, index, actual, expected);
}

/// Ends a round.
static void release(void) {
    for (int slot = 0; slot < used; slot++)
        for (int at = 1; at <= GUARD; at++)
            if (slots[slot][-(ptrdiff_t)sizes[slot] - at] != 0xA5) report("a byte before buffer", (size_t)slot, 0xA5, 0);
    used = 0;
}

static uint8_t *bytes(size_t count) {
    uint8_t *to = buffer(count);
    for (size_t i = 0; i < count; i++) to[i] = (uint8_t)next();
    return to;
}

static float *floats(size_t count, double low, double high) {
    float *to = buffer(count * sizeof *to);
    for (size_t i = 0; i < count; i++) to[i] = (float)real(low, high);
    return to;
}

/// Premultiplied pixels. Runs of them are opaque or empty, because kernels have fast paths for these.
#define PIXELS(name, sample, maximum)                                                                                 \
    static sample *name(size_t count) {                                                                               \
        sample *to = buffer(count * 4 * sizeof *to);                                                                  \
        int kind = 0;                                                                                                 \
        for (size_t i = 0; i < count; i++) {                                                                          \
            if (i % 16 == 0) kind = (int)number(0, 3);                                                                \
            const size_t alpha = kind == 0 ? maximum : kind == 1 ? 0 : number(0, maximum);                            \
            for (int c = 0; c < 3; c++) to[i * 4 + (size_t)c] = (sample)number(0, alpha);                             \
            to[i * 4 + 3] = (sample)alpha;                                                                            \
        }                                                                                                             \
        return to;                                                                                                    \
    }
PIXELS(pixels8, uint8_t, 255)
PIXELS(pixels16, uint16_t, 65535)

#define SAME(name, type)                                                                                              \
    static void name(const type *expected, const type *actual, size_t count, double tolerance) {                      \
        for (size_t i = 0; i < count; i++) {                                                                          \
            const double a = (double)expected[i], b = (double)actual[i];                                              \
            if (!(fabs(a - b) <= tolerance)) {                                                                        \
                report("sample", i, a, b);                                                                            \
                return;                                                                                               \
            }                                                                                                         \
        }                                                                                                             \
    }
SAME(same8, uint8_t)
SAME(same16, uint16_t)
SAME(same_floats, float)
SAME(same_words, uint32_t)
SAME(same_sums, uint64_t)

static void same_number(size_t expected, size_t actual) {
    if (expected != actual) report("result", 0, (double)expected, (double)actual);
}
