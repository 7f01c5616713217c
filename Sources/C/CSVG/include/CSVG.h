// SPDX-License-Identifier: MIT
// Plain functions that hide librsvg, cairo, and GObject.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Loads librsvg unless it's loaded already. Call it before any other function.
///
/// Returns NULL, or the reason why librsvg can't be loaded, which the caller must not release.
const char *wi_svg_load(void);

typedef enum {
    WI_SVG_OK = 0,
    /// The decompressed text is larger than the limit.
    WI_SVG_TOO_LARGE = 1,
    WI_SVG_TRUNCATED = 2,
    WI_SVG_CORRUPT = -1,
    WI_SVG_MEMORY = -2,
} wi_svg_status;

/// Decompresses gzip data. The caller must release `*text`, which has at most `limit` bytes, with free.
wi_svg_status wi_svg_unpack(const uint8_t *packed, size_t count, size_t limit, uint8_t **text, size_t *text_count);

/// Draws a document of uncompressed text into a viewport of `width` × `height` pixels. `out` receives premultiplied R,
/// G, B, A and must be clear. There's no base file, so the document can't load anything except data: URLs. On failure,
/// `message`, which has space for `room` bytes, receives a description.
wi_svg_status wi_svg_draw(const uint8_t *text, size_t count, uint32_t width, uint32_t height, uint8_t *out,
                          size_t stride, char *message, size_t room);
/// Returns the version of librsvg, as major × 1,000,000 + minor × 1,000 + patch.
uint32_t wi_svg_version(void);
