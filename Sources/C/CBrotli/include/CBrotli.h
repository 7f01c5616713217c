// SPDX-License-Identifier: MIT
#pragma once
#include <stddef.h>
#include <stdint.h>

/// The decompression of brotli data, with libbrotlidec, which is loaded with its first use.

/// The reason for the end of decompression.
typedef enum {
    /// The data is complete.
    WI_BROTLI_FINISHED,
    /// The output is full.
    WI_BROTLI_FULL,
    /// The input ends before the data.
    WI_BROTLI_SHORT,
    /// The data isn't valid, there's no memory for it, or the library is missing.
    WI_BROTLI_CORRUPT,
} wi_brotli_end;

/// Decompresses the beginning of brotli data (RFC 7932) to at most `room` bytes. `*written` receives their number.
wi_brotli_end wi_brotli_unpack(const uint8_t *bytes, size_t count, uint8_t *out, size_t room, size_t *written);
