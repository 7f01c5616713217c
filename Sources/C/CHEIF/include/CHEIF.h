// SPDX-License-Identifier: MIT
// libheif's structures returned by value and its growing option blocks, behind plain calls.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef enum {
    WI_HEIF_OK = 0,
    WI_HEIF_TRUNCATED = 1,
    /// There is no such picture.
    WI_HEIF_END = 2,
    WI_HEIF_CORRUPT = -1,
    WI_HEIF_MEMORY = -2,
    WI_HEIF_UNSUPPORTED = -3,
    /// The pixels have another size than the header says.
    WI_HEIF_INCONSISTENT = -4,
} wi_heif_status;

typedef struct {
    /// Upright, after cropping and turning.
    uint32_t width;
    uint32_t height;
    uint32_t depth;
    int has_alpha;
    int is_premultiplied;
    /// Pictures that stand for themselves.
    uint32_t pictures;
    /// Of the profile, 0 where there is none.
    size_t icc_count;
    /// H.273 code points; 0 where the file has none.
    uint32_t primaries;
    uint32_t transfer;
} wi_heif_info;

typedef struct wi_heif_decoder wi_heif_decoder;
/// `data` must stay valid until close. `max_side` is libheif's own limit. Picture 0 is the primary one.
wi_heif_status wi_heif_open(const uint8_t *data, size_t count, uint32_t max_side, uint32_t picture, wi_heif_info *info,
                            wi_heif_decoder **decoder);
void wi_heif_close(wi_heif_decoder *decoder);
/// What the last failure was about.
const char *wi_heif_message(const wi_heif_decoder *decoder);
/// Copies the profile; 0 where that fails.
int wi_heif_icc(const wi_heif_decoder *decoder, uint8_t *out);
/// From now on a thumbnail of the picture takes its place: the smallest whose sides are at least these, of the same shape,
/// with no fewer bits and with alpha where the picture has it. `info` becomes the thumbnail's, where that says nothing of
/// its colours (`icc_count`, `transfer` 0) they are the picture's. 0, and nothing changes, where there is none.
int wi_heif_use_thumbnail(wi_heif_decoder *decoder, double width, double height, uint32_t depth, wi_heif_info *info);
/// From now on it is the picture again.
void wi_heif_use_picture(wi_heif_decoder *decoder, const wi_heif_info *info);
/// Decodes the picture upright, as R, G, B, A of 8 or 16 bits.
wi_heif_status wi_heif_decode(wi_heif_decoder *decoder, int bits, void *out, size_t stride);

/// Whether an encoder for HEVC is there.
int wi_heif_can_encode(void);
typedef struct {
    /// 1 to 100.
    int quality;
    /// "444", "422" or "420".
    const char *chroma;
    /// Of the longer side of an embedded thumbnail; 0 for none.
    int thumbnail_side;
} wi_heif_options;
/// What is embedded; a `count` of 0 is none.
typedef struct {
    const uint8_t *icc;
    size_t icc_count;
    const uint8_t *exif;
    size_t exif_count;
    const uint8_t *xmp;
    size_t xmp_count;
} wi_heif_blocks;
/// `pixels` are R, G, B, A, alpha not multiplied in. `*bytes` becomes malloc'ed memory.
wi_heif_status wi_heif_encode(const uint8_t *pixels, size_t stride, uint32_t width, uint32_t height, int is_opaque,
                              const wi_heif_options *options, const wi_heif_blocks *blocks, uint8_t **bytes,
                              size_t *count);
