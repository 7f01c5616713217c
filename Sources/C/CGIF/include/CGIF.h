// SPDX-License-Identifier: MIT
// The inner loops of GIF: LZW both ways, laying indices onto a canvas, palettes. Blocks are walked and written in Swift.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef enum {
    /// All pixels came.
    WI_GIF_OK = 0,
    /// The sub-blocks ended (end code or terminator) before all pixels came.
    WI_GIF_SHORT = 1,
    /// The file ended inside the sub-blocks.
    WI_GIF_TRUNCATED = 2,
    /// A code that cannot occur.
    WI_GIF_CORRUPT = 3,
} wi_gif_status;

/// Unpacks the chain of sub-blocks that begins at `data` (after the minimum code size) into `out`.
///
/// `count` is what is left of the file. Never writes more than `pixels` indices; `*done` is how many were written.
wi_gif_status wi_gif_unpack(const uint8_t *data, size_t count, unsigned minimum_code_size, uint8_t *out, size_t pixels,
                            size_t *done);

/// A frame's place on its canvas, all bounds already checked by the caller: `x + columns` and `y + rows` lie inside.
typedef struct {
    size_t x;
    size_t y;
    /// The frame's own row length; indices to the right of `columns` are not drawn.
    size_t width;
    size_t height;
    size_t columns;
    size_t rows;
    int is_interlaced;
    /// -1: none.
    int transparent;
    unsigned colours;
} wi_gif_place;

/// Lays the first `done` indices onto the canvas and returns how many pixels were drawn. Transparent indices and
/// those beyond the palette leave the canvas as it is. `palette` holds 256 colours as R, G, B, 255 in memory order.
size_t wi_gif_draw(const uint8_t *indices, size_t done, const uint32_t *palette, const wi_gif_place *place,
                   uint8_t *canvas, size_t stride);

/// The same chain of sub-blocks, unpacked while it comes in.
typedef struct wi_gif_stream wi_gif_stream;
/// NULL for a code size that cannot be, and without memory. `out` has room for `pixels` (at least one) until close.
wi_gif_stream *wi_gif_stream_open(unsigned minimum_code_size, uint8_t *out, size_t pixels);
void wi_gif_stream_close(wi_gif_stream *stream);
/// Takes the bytes that follow those before; WI_GIF_TRUNCATED where more are needed. Any other answer is the last one.
wi_gif_status wi_gif_stream_feed(wi_gif_stream *stream, const uint8_t *bytes, size_t count);
/// Indices that were written.
size_t wi_gif_stream_done(const wi_gif_stream *stream);

/// At most 256 colours as R, G, B, 255 in memory order.
typedef struct {
    uint32_t colours[256];
    unsigned count;
} wi_gif_palette;

// In what follows pixels are R, G, B, 255 in memory order, or 0 where the canvas is to be left as it is.

/// R, G, B, A with alpha not multiplied in; what is less than half there becomes 0.
void wi_gif_threshold(const uint8_t *straight, size_t count, uint32_t *pixels);
/// The pixels' own colours in the order in which they come; 0 where they are more than `limit`.
int wi_gif_palette_exact(const uint32_t *pixels, size_t count, unsigned limit, wi_gif_palette *palette);
/// At most `limit` (up to 256) colours for all of them, by median cut; 0 without memory.
int wi_gif_palette_cut(const uint32_t *pixels, size_t count, unsigned limit, wi_gif_palette *palette);
/// Indices of colours that are in the palette; 0 where one is not.
int wi_gif_map_exact(const uint32_t *pixels, size_t count, const wi_gif_palette *palette, uint8_t transparent,
                     uint8_t *indices);
/// Indices of the nearest colours, with Floyd and Steinberg's error diffusion where asked; 0 without memory.
int wi_gif_map_nearest(const uint32_t *pixels, size_t width, size_t height, const wi_gif_palette *palette,
                       uint8_t transparent, int dithers, uint8_t *indices);

/// The most bytes that wi_gif_pack makes of so many pixels.
size_t wi_gif_pack_bound(size_t pixels);
/// Packs indices below 2 to the power of `minimum_code_size` (2 to 8) into a chain of sub-blocks with its terminator.
/// Returns its bytes, 0 where `capacity` is too small.
size_t wi_gif_pack(const uint8_t *indices, size_t pixels, unsigned minimum_code_size, uint8_t *out, size_t capacity);
