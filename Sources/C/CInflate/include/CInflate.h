// SPDX-License-Identifier: MIT
#pragma once
#include <stddef.h>
#include <stdint.h>

/// The decompression of deflate data with zlib.

/// The reason for the end of decompression.
typedef enum {
    /// The data is complete.
    WI_INFLATE_FINISHED,
    /// The output is full.
    WI_INFLATE_FULL,
    /// The input ends before the data.
    WI_INFLATE_SHORT,
    /// The data isn't valid, or there's no memory for its window.
    WI_INFLATE_CORRUPT,
} wi_inflate_end;

/// Decompresses the beginning of deflate data (RFC 1951) to at most `room` bytes. `*written` receives their number.
wi_inflate_end wi_inflate(const uint8_t *bytes, size_t count, uint8_t *out, size_t room, size_t *written);
