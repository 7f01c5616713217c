// SPDX-License-Identifier: MIT
// Plain functions that hide libwebp's structures with their unions and function pointers.
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
    /// Nonzero if a still image has lossless coding.
    int is_lossless;
} wi_webp_info;

/// Parses the header. Returns WI_WEBP_MORE if the data is too short.
wi_webp_status wi_webp_header(const uint8_t *data, size_t count, wi_webp_info *info);

/// A decoder that writes R, G, B, A to `out`. If `is_scaled` is nonzero, libwebp scales the image to `width` ×
/// `height`. Scaled pixels are premultiplied (and rounded down), and other pixels have straight alpha. `out` must stay
/// valid until the decoder is closed.
typedef struct wi_webp_decoder wi_webp_decoder;
wi_webp_decoder *wi_webp_decoder_open(uint8_t *out, size_t stride, size_t size, uint32_t width, uint32_t height,
                                      int is_scaled);
void wi_webp_decoder_close(wi_webp_decoder *decoder);
/// Continues with the first `count` bytes of the file. Each call must provide all bytes of the previous call and more.
wi_webp_status wi_webp_decoder_update(wi_webp_decoder *decoder, const uint8_t *data, size_t count);
/// Continues with a copy of the next bytes of the file. Don't combine this function with wi_webp_decoder_update.
wi_webp_status wi_webp_decoder_append(wi_webp_decoder *decoder, const uint8_t *data, size_t count);
/// Returns the number of rows in `out` that are final.
uint32_t wi_webp_decoder_rows(const wi_webp_decoder *decoder);

/// The chunks of a file, which may be truncated.
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

/// Opens a container. Returns NULL if the data is too short. `data` must stay valid until the container is closed.
wi_webp_container *wi_webp_container_open(const uint8_t *data, size_t count);
void wi_webp_container_close(wi_webp_container *container);
int wi_webp_container_is_complete(const wi_webp_container *container);
uint32_t wi_webp_container_frame_count(const wi_webp_container *container);
uint32_t wi_webp_container_loop_count(const wi_webp_container *container);
/// Gets the frame at `index` (from 0). Returns 0 if the frame doesn't exist.
int wi_webp_container_frame(const wi_webp_container *container, uint32_t index, wi_webp_frame *frame);
/// Returns the ICC profile, or NULL if there's none. The pointer is valid as long as the data.
const uint8_t *wi_webp_container_icc(const wi_webp_container *container, size_t *count);

/// A decoder that composes the frames of an animation in order.
typedef struct wi_webp_animation wi_webp_animation;
wi_webp_animation *wi_webp_animation_open(const uint8_t *data, size_t count);
void wi_webp_animation_close(wi_webp_animation *animation);
void wi_webp_animation_rewind(wi_webp_animation *animation);
/// Returns the next frame with straight alpha and `width * 4` bytes per row. The pointer is valid until the next call.
/// Returns NULL if the data is corrupt and at the end.
const uint8_t *wi_webp_animation_next(wi_webp_animation *animation);

/// Blends `count` pixels of a frame over those of a canvas. Both have straight alpha.
void wi_webp_blend(uint8_t *canvas, const uint8_t *frame, size_t count);

/// Receives the percentage of completed work. If the callback returns 0, the encoder stops.
typedef int (*wi_webp_progress)(void *user, int percent);
typedef enum {
    WI_WEBP_DEFAULT = 0,
    WI_WEBP_PICTURE,
    WI_WEBP_PHOTO,
    WI_WEBP_DRAWING,
    WI_WEBP_ICON,
    WI_WEBP_TEXT,
} wi_webp_preset;
typedef struct {
    int is_lossless;
    /// Nonzero to preserve the colors of transparent pixels.
    int is_exact;
    /// The quality, from 1 to 100.
    float quality;
    /// The effort, from 0 to 9, or -1 for the default of libwebp.
    int effort;
    /// The kind of image, which lossless encodings ignore.
    wi_webp_preset preset;
    /// Nonzero to spend more time on fewer bytes at the same visual quality: chroma is reduced so that edges between
    /// colors keep their light. Lossless encodings ignore this value.
    int is_fine;
} wi_webp_options;
/// Encodes R, G, B, A pixels with straight alpha. The caller must release `*bytes` with wi_webp_free.
wi_webp_status wi_webp_encode(const uint8_t *pixels, size_t stride, uint32_t width, uint32_t height, int is_opaque,
                              const wi_webp_options *options, wi_webp_progress progress, void *user, uint8_t **bytes,
                              size_t *count);
void wi_webp_free(uint8_t *bytes);
/// Embeds metadata in a file. A block with a `count` of 0 is omitted. The caller must release `*bytes` with
/// wi_webp_free.
wi_webp_status wi_webp_embed(const uint8_t *file, size_t file_count, const uint8_t *icc, size_t icc_count,
                             const uint8_t *exif, size_t exif_count, const uint8_t *xmp, size_t xmp_count,
                             uint8_t **bytes, size_t *count);

/// An encoder for an animation. wi_webp_animator_open returns NULL if memory can't be allocated.
typedef struct wi_webp_animator wi_webp_animator;
wi_webp_animator *wi_webp_animator_open(uint32_t width, uint32_t height, int loop_count,
                                        const wi_webp_options *settings);
void wi_webp_animator_close(wi_webp_animator *animator);
const char *wi_webp_animator_message(const wi_webp_animator *animator);
/// Adds a frame of R, G, B, A pixels with straight alpha, which starts at `timestamp` in milliseconds.
wi_webp_status wi_webp_animator_add(wi_webp_animator *animator, const uint8_t *pixels, size_t stride, int is_opaque,
                                    int timestamp);
/// Ends the last frame at `timestamp` and finishes the file. The caller must release `*bytes` with wi_webp_free.
wi_webp_status wi_webp_animator_finish(wi_webp_animator *animator, int timestamp, uint8_t **bytes, size_t *count);
/// Returns the version of libwebp, with one byte for each part.
int wi_webp_version(void);
