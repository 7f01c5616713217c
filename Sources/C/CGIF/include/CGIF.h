// SPDX-License-Identifier: MIT
// The inner loops of the GIF coder: LZW compression and decompression, drawing, and palettes. Swift code parses and
// writes the blocks.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef enum {
    /// All pixels were decoded.
    WI_GIF_OK = 0,
    /// The sub-blocks ended (with an end code or a terminator) before all pixels were decoded.
    WI_GIF_SHORT = 1,
    /// The file ended inside the sub-blocks.
    WI_GIF_TRUNCATED = 2,
    /// The data contains an invalid code.
    WI_GIF_CORRUPT = 3,
} wi_gif_status;

/// Decompresses the chain of sub-blocks that starts at `data` (after the minimum code size) into `out`.
///
/// `count` is the number of remaining bytes in the file. The function writes at most `pixels` indices and stores their
/// number in `*done`.
wi_gif_status wi_gif_unpack(const uint8_t *data, size_t count, unsigned minimum_code_size, uint8_t *out, size_t pixels,
                            size_t *done);

/// The position of a frame on its canvas. The caller must ensure that `x + columns` and `y + rows` are within the
/// canvas.
typedef struct {
    size_t x;
    size_t y;
    /// The length of a row of the frame. Indices to the right of `columns` aren't drawn.
    size_t width;
    size_t height;
    size_t columns;
    size_t rows;
    int is_interlaced;
    /// The transparent index, or -1.
    int transparent;
    unsigned colours;
} wi_gif_place;

/// Draws the first `done` indices onto the canvas and returns the number of drawn pixels. Transparent indices and
/// indices past the end of the palette leave the canvas unchanged. `palette` contains 256 colors as R, G, B, 255 in
/// memory order.
size_t wi_gif_draw(const uint8_t *indices, size_t done, const uint32_t *palette, const wi_gif_place *place,
                   uint8_t *canvas, size_t stride);

/// A decompressor for the same chain of sub-blocks that processes data as it arrives.
typedef struct wi_gif_stream wi_gif_stream;
/// Creates a decompressor. Returns NULL if the code size isn't valid or if memory can't be allocated. `out` must have
/// space for `pixels` indices (at least one) until the stream is closed.
wi_gif_stream *wi_gif_stream_open(unsigned minimum_code_size, uint8_t *out, size_t pixels);
void wi_gif_stream_close(wi_gif_stream *stream);
/// Decompresses the next bytes. WI_GIF_TRUNCATED means that more data is needed. Any other status is final.
wi_gif_status wi_gif_stream_feed(wi_gif_stream *stream, const uint8_t *bytes, size_t count);
/// Returns the number of written indices.
size_t wi_gif_stream_done(const wi_gif_stream *stream);

/// Up to 256 colors as R, G, B, 255 in memory order.
typedef struct {
    uint32_t colours[256];
    unsigned count;
} wi_gif_palette;

// In the following functions, pixels are R, G, B, 255 in memory order, or 0 if they leave the canvas unchanged.

/// Converts R, G, B, A pixels with straight alpha. Pixels with less than half opacity become 0.
void wi_gif_threshold(const uint8_t *straight, size_t count, uint32_t *pixels);
/// Collects the colors of the pixels in the order of their first occurrence. Returns 0 if there are more than `limit`.
int wi_gif_palette_exact(const uint32_t *pixels, size_t count, unsigned limit, wi_gif_palette *palette);
/// Reduces the colors of the pixels to at most `limit` (up to 256) with the median cut algorithm. Returns 0 if memory
/// can't be allocated.
int wi_gif_palette_cut(const uint32_t *pixels, size_t count, unsigned limit, wi_gif_palette *palette);
/// Gets the indices of colors that are in the palette. Returns 0 if the palette lacks a color.
int wi_gif_map_exact(const uint32_t *pixels, size_t count, const wi_gif_palette *palette, uint8_t transparent,
                     uint8_t *indices);
/// Gets the indices of the nearest colors, with optional Floyd–Steinberg error diffusion. Returns 0 if memory can't be
/// allocated.
int wi_gif_map_nearest(const uint32_t *pixels, size_t width, size_t height, const wi_gif_palette *palette,
                       uint8_t transparent, int dithers, uint8_t *indices);

/// Returns the maximum number of bytes that wi_gif_pack produces for a number of pixels.
size_t wi_gif_pack_bound(size_t pixels);
/// Compresses indices below 2 to the power of `minimum_code_size` (2 to 8) into a chain of sub-blocks with its
/// terminator. Returns the number of bytes, or 0 if `capacity` is too small.
size_t wi_gif_pack(const uint8_t *indices, size_t pixels, unsigned minimum_code_size, uint8_t *out, size_t capacity);
