// SPDX-License-Identifier: MIT
// libwebp's structures with their unions and function pointers, behind plain calls.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef enum {
    WI_WEBP_OK = 0,
    /// The data ends before the last pixel.
    WI_WEBP_MORE = 1,
    WI_WEBP_CORRUPT = -1,
    WI_WEBP_MEMORY = -2,
    WI_WEBP_UNSUPPORTED = -3,
    WI_WEBP_STOPPED = -4,
} wi_webp_status;

typedef struct {
    uint32_t width;
    uint32_t height;
    int has_alpha;
    int is_animated;
} wi_webp_info;

/// What the beginning says; WI_WEBP_MORE where it is too short to say anything.
wi_webp_status wi_webp_header(const uint8_t *data, size_t count, wi_webp_info *info);

/// A picture being decoded into `out`: R, G, B, A, scaled to `width` x `height` by libwebp itself when `is_scaled`.
/// Scaled pixels come with alpha multiplied in (rounded down), others with colour and alpha apart. `out` must stay
/// valid until close.
typedef struct wi_webp_decoder wi_webp_decoder;
wi_webp_decoder *wi_webp_decoder_open(uint8_t *out, size_t stride, size_t size, uint32_t width, uint32_t height,
                                      int is_scaled);
void wi_webp_decoder_close(wi_webp_decoder *decoder);
/// Goes on with the first `count` bytes of the file; each call brings all bytes of the call before and more.
wi_webp_status wi_webp_decoder_update(wi_webp_decoder *decoder, const uint8_t *data, size_t count);
/// Goes on with the next bytes of the file, which are copied. Not to be mixed with wi_webp_decoder_update.
wi_webp_status wi_webp_decoder_append(wi_webp_decoder *decoder, const uint8_t *data, size_t count);
/// Rows of `out` that are final.
uint32_t wi_webp_decoder_rows(const wi_webp_decoder *decoder);

/// The chunks of a file, whole or not.
typedef struct wi_webp_container wi_webp_container;
typedef struct {
    uint32_t x;
    uint32_t y;
    uint32_t width;
    uint32_t height;
    int milliseconds;
    int has_alpha;
    int is_complete;
    const uint8_t *data;
    size_t count;
} wi_webp_frame;

/// NULL where there is nothing to see yet. `data` must stay valid until close.
wi_webp_container *wi_webp_container_open(const uint8_t *data, size_t count);
void wi_webp_container_close(wi_webp_container *container);
int wi_webp_container_is_complete(const wi_webp_container *container);
uint32_t wi_webp_container_frame_count(const wi_webp_container *container);
uint32_t wi_webp_container_loop_count(const wi_webp_container *container);
/// `index` from 0. Returns 0 where there is no such frame.
int wi_webp_container_frame(const wi_webp_container *container, uint32_t index, wi_webp_frame *frame);
/// The ICC profile; NULL where there is none. Valid as long as the data is.
const uint8_t *wi_webp_container_icc(const wi_webp_container *container, size_t *count);

/// An animation's frames on their canvas, one after the other.
typedef struct wi_webp_animation wi_webp_animation;
wi_webp_animation *wi_webp_animation_open(const uint8_t *data, size_t count);
void wi_webp_animation_close(wi_webp_animation *animation);
void wi_webp_animation_rewind(wi_webp_animation *animation);
/// The next frame, alpha not multiplied in, `width * 4` bytes a row; valid until the next call. NULL on damage or at the end.
const uint8_t *wi_webp_animation_next(wi_webp_animation *animation);

/// Receives the percentage that is done; 0 stops the encoder.
typedef int (*wi_webp_progress)(void *user, int percent);
typedef struct {
    int is_lossless;
    /// Whether transparent pixels stay as they are.
    int is_exact;
    /// 1 to 100.
    float quality;
    /// 0 to 9, -1 for the library's default.
    int effort;
} wi_webp_options;
/// `pixels` are R, G, B, A, alpha not multiplied in. `*bytes` becomes malloc'ed memory to be freed by wi_webp_free.
wi_webp_status wi_webp_encode(const uint8_t *pixels, size_t stride, uint32_t width, uint32_t height, int is_opaque,
                              const wi_webp_options *options, wi_webp_progress progress, void *user, uint8_t **bytes,
                              size_t *count);
void wi_webp_free(uint8_t *bytes);
/// The file with these blocks, of which some may have a `count` of 0; `*bytes` is to be freed by wi_webp_free.
wi_webp_status wi_webp_embed(const uint8_t *file, size_t file_count, const uint8_t *icc, size_t icc_count,
                             const uint8_t *exif, size_t exif_count, const uint8_t *xmp, size_t xmp_count,
                             uint8_t **bytes, size_t *count);

/// An animation being encoded. NULL without memory.
typedef struct wi_webp_animator wi_webp_animator;
wi_webp_animator *wi_webp_animator_open(uint32_t width, uint32_t height, int loop_count,
                                        const wi_webp_options *settings);
void wi_webp_animator_close(wi_webp_animator *animator);
const char *wi_webp_animator_message(const wi_webp_animator *animator);
/// Adds a frame of R, G, B, A, alpha not multiplied in, shown from `timestamp` milliseconds on.
wi_webp_status wi_webp_animator_add(wi_webp_animator *animator, const uint8_t *pixels, size_t stride, int is_opaque,
                                    int timestamp);
/// Ends the last frame at `timestamp`; `*bytes` is to be freed by wi_webp_free.
wi_webp_status wi_webp_animator_finish(wi_webp_animator *animator, int timestamp, uint8_t **bytes, size_t *count);
