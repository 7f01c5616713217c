// SPDX-License-Identifier: MIT
// libjxl's event loop behind plain calls, with a bound on its memory.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef enum {
    WI_JXL_OK = 0,
    /// The data ends before the last pixel.
    WI_JXL_TRUNCATED = 1,
    /// There is no such frame.
    WI_JXL_END = 2,
    WI_JXL_CORRUPT = -1,
    WI_JXL_MEMORY = -2,
    WI_JXL_INCONSISTENT = -3,
} wi_jxl_status;

typedef struct {
    uint32_t width;
    uint32_t height;
    uint32_t depth;
    int has_alpha;
    int is_premultiplied;
    int is_animated;
    /// 1 to 8 as in EXIF.
    uint32_t orientation;
    uint32_t loops;
    double ticks_per_second;
    /// The profile the pixels are in; NULL where they are sRGB. Valid until close.
    const uint8_t *icc;
    size_t icc_count;
    /// H.273 code points of the pixels; 0 where they have none.
    uint32_t primaries;
    uint32_t transfer;
    int is_gray;
} wi_jxl_info;

typedef struct wi_jxl_decoder wi_jxl_decoder;
/// `data` must stay valid until close. libjxl gets at most `max_bytes` of memory at a time.
wi_jxl_status wi_jxl_open(const uint8_t *data, size_t count, size_t max_bytes, wi_jxl_info *info,
                          wi_jxl_decoder **decoder);
void wi_jxl_close(wi_jxl_decoder *decoder);
/// Goes to the first frame and counts; `ticks` holds `room` durations. No pixels are decoded.
wi_jxl_status wi_jxl_index(wi_jxl_decoder *decoder, uint32_t *ticks, uint32_t room, uint32_t *frames);
/// Decodes frame `index` into `out` as R, G, B, A of 8 or 16 bits, rows `stride` bytes apart, which must be the smallest multiple of
/// `alignment` that holds a row. With `allows_partial` a frame that ends early is drawn as far as it goes and
/// WI_JXL_TRUNCATED returned.
wi_jxl_status wi_jxl_frame(wi_jxl_decoder *decoder, uint32_t index, int allows_partial, int bits, void *out,
                           size_t stride, size_t alignment, int *is_drawn);

/// A file that comes piece by piece; of an animation, the first frame. `out` is laid out as for wi_jxl_frame and must
/// stay valid until close.
typedef struct wi_jxl_stream wi_jxl_stream;
wi_jxl_stream *wi_jxl_stream_open(uint8_t *out, size_t stride, size_t alignment, uint32_t width, uint32_t height,
                                  size_t max_bytes);
void wi_jxl_stream_close(wi_jxl_stream *stream);
/// Takes the next bytes; WI_JXL_TRUNCATED where more are needed, WI_JXL_OK once all pixels came.
wi_jxl_status wi_jxl_stream_feed(wi_jxl_stream *stream, const uint8_t *bytes, size_t count, int is_last);
/// Draws what there is into `out`; 0 where there is nothing yet.
int wi_jxl_stream_draw(wi_jxl_stream *stream);
int wi_jxl_stream_is_whole(const wi_jxl_stream *stream);
/// Passes over the picture that are whole, the one at an eighth of the size among them.
int wi_jxl_stream_steps(const wi_jxl_stream *stream);
/// By how much the picture could be reduced without losing anything that came: 8, 4, 2 or 1.
int wi_jxl_stream_reduction(const wi_jxl_stream *stream);
/// Right once something was drawn; `icc` is valid until close.
void wi_jxl_stream_info(const wi_jxl_stream *stream, wi_jxl_info *info);

typedef struct {
    uint32_t width;
    uint32_t height;
    /// 3 or 4.
    uint32_t channels;
    /// Of a sample, 8 or 16.
    uint32_t bits;
} wi_jxl_picture;
/// What is embedded; a `count` of 0 is none.
typedef struct {
    const uint8_t *icc;
    size_t icc_count;
    const uint8_t *exif;
    size_t exif_count;
    const uint8_t *xmp;
    size_t xmp_count;
} wi_jxl_blocks;
/// `pixels` are R, G, B, A, or R, G, B where there are three channels, alpha not multiplied in, without padding.
/// `distance` 0 is lossless. `*bytes` becomes malloc'ed memory.
wi_jxl_status wi_jxl_encode(const void *pixels, const wi_jxl_picture *picture, const wi_jxl_blocks *blocks,
                            float distance, int effort, uint8_t **bytes, size_t *count);
/// A file from which the JPEG can be had back bit by bit; `effort` 0 is the library's default. `*bytes` becomes malloc'ed
/// memory.
wi_jxl_status wi_jxl_transcode(const uint8_t *jpeg, size_t jpeg_count, int effort, uint8_t **bytes, size_t *count);

/// An animation being encoded. NULL without memory or where an option is refused.
typedef struct wi_jxl_animator wi_jxl_animator;
wi_jxl_animator *wi_jxl_animator_open(const wi_jxl_picture *picture, const wi_jxl_blocks *blocks, uint32_t loops,
                                      float distance, int effort);
void wi_jxl_animator_close(wi_jxl_animator *animator);

/// Where a frame lies on the canvas; outside of it what was shown before stays.
typedef struct {
    uint32_t x;
    uint32_t y;
    uint32_t width;
    uint32_t height;
    /// Whether it is less than the canvas; the first frame is all of it.
    int is_partial;
    int is_last;
    uint32_t milliseconds;
} wi_jxl_part;
/// Adds a frame and encodes it; pixels as for wi_jxl_encode.
wi_jxl_status wi_jxl_animator_add(wi_jxl_animator *animator, const void *pixels, const wi_jxl_part *part);
/// The file, once the last frame was added; valid until close.
const uint8_t *wi_jxl_animator_bytes(const wi_jxl_animator *animator, size_t *count);
