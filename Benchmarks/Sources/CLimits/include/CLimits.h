// SPDX-License-Identifier: MIT
// The reference implementations: the same work in plain C with the underlying libraries, for comparison. Unless stated
// otherwise, every function returns 0 on success or -1 on failure.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Files. Paths are null-terminated.

/// Writes `count` bytes to `temporary`, and then renames it to `path`. Doesn't call fsync.
int wi_limit_put(const char *temporary, const char *path, const uint8_t *bytes, size_t count);
/// Reads a file into `buffer` with open, fstat, read, and close. Returns the number of bytes read, or -1.
long wi_limit_get(const char *path, uint8_t *buffer, size_t capacity);
int wi_limit_unlink(const char *path);

// Decoding to RGBA with `width * 4` bytes per row. `output` has a size of at least `capacity` bytes.

typedef struct {
    int width;
    int height;
} wi_limit_size;

/// Decodes with libjpeg-turbo, with the accurate DCT and fancy upsampling. `eighths`, from 1 to 8, selects DCT scaling.
int wi_limit_jpeg(
    const uint8_t *bytes, size_t count, int eighths, uint8_t *output, size_t capacity, wi_limit_size *size);
/// Decodes with libpng and expands the pixels to RGBA.
int wi_limit_png(const uint8_t *bytes, size_t count, uint8_t *output, size_t capacity, wi_limit_size *size);
/// Decompresses the rows of an RGB file with 8 bits per sample, and ignores their filters. libdeflate
/// can't divide the data of such a file, so no decoder on several threads that uses it is faster.
int wi_limit_png_inflate(const uint8_t *bytes, size_t count, uint8_t *output, size_t capacity, wi_limit_size *size);
/// Decodes with libwebp to premultiplied RGBA on one thread. If `side` is above 0, libwebp scales the image to fit into
/// a square.
int wi_limit_webp(
    const uint8_t *bytes, size_t count, int side, uint8_t *output, size_t capacity, wi_limit_size *size);
/// Decodes with giflib and draws every frame over the previous ones. Returns the number of frames.
int wi_limit_gif(const uint8_t *bytes, size_t count, uint8_t *output, size_t capacity);
/// Creates a GIF from `frames` consecutive RGBA images in `pixels`, with the colors reduced to 6 × 7 × 6. Returns
/// memory that the caller must free, or NULL on failure.
uint8_t *wi_limit_make_gif(const uint8_t *pixels, int width, int height, int frames, size_t *count);
/// Creates a PNG with one byte per pixel from RGBA `pixels`. The bytes are the green channel as gray, or indices into a
/// palette with the colors reduced to 6 × 7 × 6. Returns memory that the caller must free, or NULL on failure.
uint8_t *wi_limit_make_png(const uint8_t *pixels, int width, int height, int isGrey, size_t *count);

/// Creates an RGB PNG with Apple's chunk iDOT and two strips from opaque RGBA pixels. Returns memory that the caller must
/// free, or NULL on failure.
uint8_t *wi_limit_make_strips(const uint8_t *rgba, int width, int height, size_t *count);

/// Resamples the upper-left `spanX` × `spanY` pixels of `source` to `target` with Lanczos-3.
int wi_limit_lanczos(
    const uint8_t *source, wi_limit_size size, double spanX, double spanY, uint8_t *output, wi_limit_size target);
/// Decodes a JPEG with DCT scaling to at least `factor` times the size that fits into `side` × `side`, and then
/// resamples it with Lanczos-3. `scratch` holds the intermediate image, and `output` has a size of `side * side * 4`
/// bytes.
int wi_limit_jpeg_thumbnail(
    const uint8_t *bytes, size_t count, int side, int factor, uint8_t *scratch, size_t capacity, uint8_t *output,
    wi_limit_size *size);

// HTTP.

typedef struct {
    /// The number of responses with status 200.
    long answered;
    /// The total size of their bodies, in bytes.
    long bytes;
} wi_limit_loaded;

/// Loads `total` bodies over HTTP/1.1 on one thread from `urls` in turn, with `connections` concurrent connections.
/// Checks each body with `wi_has_pattern`. Also returns -1 if a body is wrong.
int wi_limit_http(
    const char *const *urls, const long *lengths, int urlCount, int total, int connections, size_t step,
    wi_limit_loaded *loaded);

/// Does the same, but passes each body to a second thread, which checks it and sleeps between the bodies.
int wi_limit_http_handoff(
    const char *const *urls, const long *lengths, int urlCount, int total, int connections, size_t step,
    wi_limit_loaded *loaded);

/// Returns the byte at `index` of a served file. All files differ from each other, and so do the pages of a file.
static inline uint8_t wi_pattern(int file, size_t index) {
    return (uint8_t)(index + 7 * (index >> 12) + 131 * (size_t)file);
}
void wi_fill_pattern(int file, uint8_t *bytes, size_t count);
/// Returns a nonzero value if `bytes` are the contents of the file. Checks the length, every `step`th byte, and the last
/// byte.
int wi_has_pattern(int file, const uint8_t *bytes, size_t count, size_t length, size_t step);

/// Loads each JPEG of `urls`, writes it into `folder` (with a temporary name and a rename), and creates its thumbnail
/// on `workers` threads (at most 8). Retains all thumbnails until the end.
int wi_limit_cold_load(
    const char *const *urls, int urlCount, int connections, int workers, int side, const char *folder,
    wi_limit_loaded *loaded);
