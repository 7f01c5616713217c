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
int wi_limit_jpeg(const uint8_t *bytes, size_t count, int eighths, uint8_t *output, size_t capacity, wi_limit_size *size);
/// libpng, expanded to RGBA.
int wi_limit_png(const uint8_t *bytes, size_t count, uint8_t *output, size_t capacity, wi_limit_size *size);
/// libwebp, premultiplied RGBA, one thread; `width` and `height` above 0 scale with its own scaler.
int wi_limit_webp(
    const uint8_t *bytes, size_t count, int width, int height, uint8_t *output, size_t capacity, wi_limit_size *size);
/// giflib, every frame drawn over the ones before. Returns the number of frames.
int wi_limit_gif(const uint8_t *bytes, size_t count, uint8_t *output, size_t capacity, wi_limit_size *size);

/// A GIF of `frames` pictures of RGBA pixels one after the other, colours cut down to 6 × 7 × 6. The caller frees it.
uint8_t *wi_limit_make_gif(const uint8_t *pixels, int width, int height, int frames, size_t *count);

// Thumbnails that fit `side` × `side`; `output` holds side * side * 4 bytes.

/// Lanczos-3 on the part of `source` that is `spanX` × `spanY` pixels from the top left.
int wi_limit_lanczos(
    const uint8_t *source, wi_limit_size size, double spanX, double spanY, uint8_t *output, wi_limit_size target);
/// JPEG scaled by DCT to at least twice the target, then Lanczos-3.
int wi_limit_jpeg_thumbnail(const uint8_t *bytes, size_t count, int side, uint8_t *output, wi_limit_size *size);
/// JPEG scaled by DCT to at least the target, then Lanczos-3: the cheapest picture that is not enlarged.
int wi_limit_jpeg_small(const uint8_t *bytes, size_t count, int side, uint8_t *output, wi_limit_size *size);

// Loading.

typedef struct {
    /// Requests that were answered with 200.
    long answered;
    /// Bytes of all bodies.
    long bytes;
} wi_limit_loaded;

/// Loads `total` bodies over HTTP/1.1 with one thread, `urls` in turn, `connections` at a time; keeps each in memory
/// until the next one needs its place.
int wi_limit_http(const char *const *urls, int urlCount, int total, int connections, wi_limit_loaded *loaded);

/// Loads every JPEG of `urls` once, reduces it to fit `side` on `workers` threads, writes the original into `folder`
/// (temporary name, then rename; NULL for not at all), keeps all thumbnails until the end.
int wi_limit_cold_load(
    const char *const *urls, int urlCount, int connections, int workers, int side, const char *folder,
    wi_limit_loaded *loaded);
