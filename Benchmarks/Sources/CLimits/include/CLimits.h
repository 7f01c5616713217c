// SPDX-License-Identifier: MIT
// The limits: the same work in plain C on the libraries themselves, for comparison. Every function returns 0, or -1
// where it failed, unless it says otherwise.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Files. Paths end in 0.

/// Writes `count` bytes to `temporary`, then renames it to `path`. No fsync.
int wi_limit_put(const char *temporary, const char *path, const uint8_t *bytes, size_t count);
/// open, fstat, read, close into `buffer`; the bytes read, or -1.
long wi_limit_get(const char *path, uint8_t *buffer, size_t capacity);
int wi_limit_unlink(const char *path);

// Decoding to RGBA, `width * 4` bytes a row, into `output` of at least `capacity` bytes.

typedef struct {
    int width;
    int height;
} wi_limit_size;

/// libjpeg-turbo, accurate DCT and fancy upsampling; `eighths` (1…8) scales by DCT.
int wi_limit_jpeg(
    const uint8_t *bytes, size_t count, int eighths, uint8_t *output, size_t capacity, wi_limit_size *size);
/// libpng, expanded to RGBA.
int wi_limit_png(const uint8_t *bytes, size_t count, uint8_t *output, size_t capacity, wi_limit_size *size);
/// libwebp, premultiplied RGBA, one thread; a `side` above 0 fits the picture into a square with its own scaler.
int wi_limit_webp(
    const uint8_t *bytes, size_t count, int side, uint8_t *output, size_t capacity, wi_limit_size *size);
/// giflib, every frame drawn over the ones before. Returns the number of frames.
int wi_limit_gif(const uint8_t *bytes, size_t count, uint8_t *output, size_t capacity);
/// A GIF of `frames` RGBA pictures that follow each other in `pixels`, colours cut down to 6 × 7 × 6. The caller frees
/// it; NULL where it failed.
uint8_t *wi_limit_make_gif(const uint8_t *pixels, int width, int height, int frames, size_t *count);
/// A PNG of RGBA `pixels` with one byte per pixel: their green as grey, or colours cut down to 6 × 7 × 6 in a palette. The
/// caller frees it; NULL where it failed.
uint8_t *wi_limit_make_png(const uint8_t *pixels, int width, int height, int isGrey, size_t *count);

/// Lanczos-3 of the upper left `spanX` × `spanY` pixels of `source` to `target`.
int wi_limit_lanczos(
    const uint8_t *source, wi_limit_size size, double spanX, double spanY, uint8_t *output, wi_limit_size target);
/// JPEG, scaled by DCT to at least `factor` times what fits into `side` × `side`, then Lanczos-3. `scratch` holds the
/// picture in between, `output` side * side * 4 bytes.
int wi_limit_jpeg_thumbnail(
    const uint8_t *bytes, size_t count, int side, int factor, uint8_t *scratch, size_t capacity, uint8_t *output,
    wi_limit_size *size);

// HTTP.

typedef struct {
    /// Requests answered with 200.
    long answered;
    /// Bytes of their bodies.
    long bytes;
} wi_limit_loaded;

/// Loads `total` bodies over HTTP/1.1 with one thread, `urls` in turn, `connections` at a time, and checks each with
/// `wi_has_pattern`. -1 also where one is wrong.
int wi_limit_http(
    const char *const *urls, const long *lengths, int urlCount, int total, int connections, size_t step,
    wi_limit_loaded *loaded);

/// Byte `index` of the served file of this number: no two files are alike, and no two pages of one.
static inline uint8_t wi_pattern(int file, size_t index) {
    return (uint8_t)(index + 7 * (index >> 12) + 131 * (size_t)file);
}
void wi_fill_pattern(int file, uint8_t *bytes, size_t count);
/// Whether `bytes` are those of the file: their number, every `step`th of them and the last one.
int wi_has_pattern(int file, const uint8_t *bytes, size_t count, size_t length, size_t step);

/// Loads each JPEG of `urls`, writes it into `folder` (temporary name, then rename) and makes its thumbnail on
/// `workers` threads (at most 8); keeps all thumbnails until the end.
int wi_limit_cold_load(
    const char *const *urls, int urlCount, int connections, int workers, int side, const char *folder,
    wi_limit_loaded *loaded);
