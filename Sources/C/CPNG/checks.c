// SPDX-License-Identifier: MIT
// The checksums of chunks, which libpng doesn't verify for this module.
#include <libdeflate.h>
#include <string.h>
#include "CPNG.h"
#include "bytes.h"

enum { SIGNATURE, HEAD, BODY, CHECK, END };

/// Collects a part of `size` bytes. Returns the number of bytes that belong to it.
static size_t collect(wi_png_checks *checks, const uint8_t *bytes, size_t count, size_t size) {
    size_t part = size - checks->pending_count;
    if (part > count) part = count;
    memcpy(checks->pending + checks->pending_count, bytes, part);
    checks->pending_count += (uint32_t)part;
    return part;
}

static void read_head(wi_png_checks *checks) {
    const uint8_t *name = checks->pending + 4;
    uint32_t length = number(checks->pending);
    checks->pending_count = 0;
    if (length > 0x7FFFFFFF) {
        checks->stage = END;
        return;
    }
    if (memcmp(name, "IDAT", 4) == 0)
        checks->has_pixels = true;
    else if (checks->has_pixels)
        checks->is_past_pixels = true;
    checks->is_last_chunk = memcmp(name, "IEND", 4) == 0;
    checks->check = libdeflate_crc32(0, name, 4);
    checks->left = length;
    checks->stage = length > 0 ? BODY : CHECK;
}

static void read_check(wi_png_checks *checks) {
    if (number(checks->pending) != checks->check) checks->is_wrong = true;
    checks->pending_count = 0;
    checks->stage = checks->is_last_chunk ? END : HEAD;
}

size_t wi_png_checks_add(wi_png_checks *checks, const uint8_t *bytes, size_t count) {
    size_t part;
    if (count == 0) return 0;
    switch (checks->stage) {
    case SIGNATURE:
        part = collect(checks, bytes, count, 8);
        if (checks->pending_count == 8) {
            checks->pending_count = 0;
            checks->stage = HEAD;
        }
        return part;
    case HEAD:
        part = collect(checks, bytes, count, 8);
        if (checks->pending_count == 8) read_head(checks);
        return part;
    case BODY:
        part = checks->left > 1 ? checks->left - 1 : 1;
        if (part > count) part = count;
        checks->check = libdeflate_crc32(checks->check, bytes, part);
        checks->left -= (uint32_t)part;
        if (checks->left == 0) checks->stage = CHECK;
        return part;
    case CHECK:
        part = collect(checks, bytes, count, 4);
        if (checks->pending_count == 4) read_check(checks);
        return part;
    default:
        return count;
    }
}

bool wi_png_checks_failed(const wi_png_checks *checks, bool is_last) {
    bool is_between = checks->stage == HEAD && checks->pending_count == 0;
    return checks->is_wrong || (is_last && checks->stage != END && !is_between);
}

bool wi_png_has_valid_checks(const uint8_t *png, size_t count) {
    wi_png_checks checks;
    memset(&checks, 0, sizeof checks);
    while (count > 0) {
        size_t part = wi_png_checks_add(&checks, png, count);
        png += part;
        count -= part;
    }
    return !wi_png_checks_failed(&checks, true);
}
