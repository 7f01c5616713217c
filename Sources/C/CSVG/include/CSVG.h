// SPDX-License-Identifier: MIT
// librsvg, cairo and GObject behind plain calls.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef enum {
    WI_SVG_OK = 0,
    /// The unpacked text is larger than allowed.
    WI_SVG_TOO_LARGE = 1,
    WI_SVG_TRUNCATED = 2,
    WI_SVG_CORRUPT = -1,
    WI_SVG_MEMORY = -2,
} wi_svg_status;

/// Unpacks gzip data. `*text` becomes malloc'ed memory of at most `limit` bytes.
wi_svg_status wi_svg_unpack(const uint8_t *packed, size_t count, size_t limit, uint8_t **text, size_t *text_count);

/// Draws a document of plain text into a viewport of `width` x `height` pixels; `out` gets R, G, B, A with alpha
/// multiplied in and must be clear. There is no base file: nothing outside the text is read but data: addresses.
/// `message` of `room` bytes tells what a failure was about.
wi_svg_status wi_svg_draw(const uint8_t *text, size_t count, uint32_t width, uint32_t height, uint8_t *out,
                          size_t stride, char *message, size_t room);
