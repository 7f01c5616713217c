// SPDX-License-Identifier: MIT
// MurmurHash3 x64 128 (Austin Appleby, public domain), with a state of two words as the seed, so that rows can be
// chained.
#include "CPixelKernels.h"
#include <string.h>

static uint64_t rotated(uint64_t v, int bits) { return v << bits | v >> (64 - bits); }

static uint64_t finished(uint64_t v) {
    v = (v ^ v >> 33) * 0xff51afd7ed558ccdULL;
    v = (v ^ v >> 33) * 0xc4ceb9fe1a85ec53ULL;
    return v ^ v >> 33;
}

static const uint64_t first_factor = 0x87c37b91114253d5ULL, second_factor = 0x4cf5ad432745937fULL;

static uint64_t mixed_low(uint64_t v) { return rotated(v * first_factor, 31) * second_factor; }
static uint64_t mixed_high(uint64_t v) { return rotated(v * second_factor, 33) * first_factor; }

void wi_digest(const uint8_t *bytes, size_t count, uint64_t state[2]) {
    uint64_t a = state[0], b = state[1], word[2];
    size_t rest = count;
    for (; rest >= 16; rest -= 16, bytes += 16) {
        memcpy(word, bytes, 16);
        a = (rotated(a ^ mixed_low(word[0]), 27) + b) * 5 + 0x52dce729;
        b = (rotated(b ^ mixed_high(word[1]), 31) + a) * 5 + 0x38495ab5;
    }
    memset(word, 0, sizeof word);
    memcpy(word, bytes, rest);
    a ^= mixed_low(word[0]) ^ count;
    b ^= mixed_high(word[1]) ^ count;
    a += b;
    b += a;
    a = finished(a);
    b = finished(b);
    a += b;
    state[0] = a;
    state[1] = b + a;
}
