// SPDX-License-Identifier: MIT
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <tiffio.h>

/// A file in memory, for reading (`data`) or for writing (`memory`).
typedef struct {
    const uint8_t *data;
    uint8_t *memory;
    size_t count;
    size_t room;
    uint64_t place;
    int hit_end;
    int is_short_of_memory;
    char message[160];
} wi_tiff_stream;

/// Opens a file with custom handlers that print nothing. A `max_bytes` of 0 means no limit.
TIFF *wi_tiff_stream_open(wi_tiff_stream *stream, const char *mode, size_t max_bytes);
