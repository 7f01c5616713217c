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

/// `pixels` are R, G, B, A, or R, G, B where `channels` is 3, alpha not multiplied in, without padding.
/// `distance` 0 is lossless. `*bytes` becomes malloc'ed memory.
wi_jxl_status wi_jxl_encode(const uint8_t *pixels, uint32_t width, uint32_t height, uint32_t channels, float distance,
                            int effort, uint8_t **bytes, size_t *count);
