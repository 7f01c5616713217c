// SPDX-License-Identifier: MIT
// libavif's structures with their unions and version-dependent fields, behind plain calls.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef enum {
    WI_AVIF_OK = 0,
    WI_AVIF_TRUNCATED = 1,
    WI_AVIF_CORRUPT = -1,
    WI_AVIF_MEMORY = -2,
    WI_AVIF_UNSUPPORTED = -3,
    /// A frame has another size than the file's header says.
    WI_AVIF_INCONSISTENT = -4,
} wi_avif_status;

typedef struct {
    uint32_t width;
    uint32_t height;
    uint32_t depth;
    int has_alpha;
    uint32_t frames;
    /// The part that is shown, in stored pixels; all of it where the file names none.
    uint32_t crop_x;
    uint32_t crop_y;
    uint32_t crop_width;
    uint32_t crop_height;
    /// The profile, NULL where there is none; valid until close.
    const uint8_t *icc;
    size_t icc_count;
    /// Code points of H.273.
    uint32_t primaries;
    uint32_t transfer;
} wi_avif_info;

typedef struct wi_avif_decoder wi_avif_decoder;
/// `data` must stay valid until close. The limits are libavif's own.
wi_avif_status wi_avif_open(const uint8_t *data, size_t count, uint32_t max_pixels, uint32_t max_side,
                            uint32_t max_frames, wi_avif_info *info, wi_avif_decoder **decoder);
void wi_avif_close(wi_avif_decoder *decoder);
/// What the last failure was about.
const char *wi_avif_message(const wi_avif_decoder *decoder);
/// How long frame `index` is shown, in milliseconds; 0 where it does not say.
double wi_avif_milliseconds(const wi_avif_decoder *decoder, uint32_t index);
/// Decodes frame `index` into `out` as R, G, B, A of 8 or 16 bits; `*is_premultiplied` tells whether alpha is multiplied in.
wi_avif_status wi_avif_frame(wi_avif_decoder *decoder, uint32_t index, int bits, void *out, size_t stride,
                             int *is_premultiplied);

typedef enum { WI_AVIF_444, WI_AVIF_422, WI_AVIF_420 } wi_avif_subsampling;
typedef struct {
    int depth;
    int is_lossless;
    /// 1 to 100.
    int quality;
    /// libavif's, 0 (small) to 10 (fast).
    int speed;
    wi_avif_subsampling subsampling;
    /// Whether pixels have 16 bits a sample instead of 8.
    int is_wide;
    /// Code points of H.273.
    int primaries;
    int transfer;
} wi_avif_options;
/// What is embedded; a `count` of 0 is none.
typedef struct {
    const uint8_t *icc;
    size_t icc_count;
    const uint8_t *exif;
    size_t exif_count;
    const uint8_t *xmp;
    size_t xmp_count;
} wi_avif_blocks;
/// `pixels` are R, G, B, A, alpha not multiplied in. `*bytes` becomes memory to be freed by wi_avif_free.
wi_avif_status wi_avif_encode(const void *pixels, size_t stride, uint32_t width, uint32_t height, int is_opaque,
                              wi_avif_options options, const wi_avif_blocks *blocks, uint8_t **bytes, size_t *count,
                              const char **message);
void wi_avif_free(uint8_t *bytes);

/// A sequence being encoded. NULL without memory.
typedef struct wi_avif_animator wi_avif_animator;
wi_avif_animator *wi_avif_animator_open(wi_avif_options options);
void wi_avif_animator_close(wi_avif_animator *animator);
const char *wi_avif_animator_message(const wi_avif_animator *animator);
/// Adds a frame of R, G, B, A, alpha not multiplied in; `is_opaque` must be the same for all. Of the blocks those of the
/// first frame count.
wi_avif_status wi_avif_animator_add(wi_avif_animator *animator, const void *pixels, size_t stride, uint32_t width,
                                    uint32_t height, int is_opaque, const wi_avif_blocks *blocks,
                                    uint64_t milliseconds);
/// `*bytes` is to be freed by wi_avif_free.
wi_avif_status wi_avif_animator_finish(wi_avif_animator *animator, uint8_t **bytes, size_t *count);
