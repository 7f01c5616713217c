// SPDX-License-Identifier: MIT
// libtiff from and to memory; its messages go to no stream.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef enum {
    WI_TIFF_OK = 0,
    /// Something lies beyond the end of the data.
    WI_TIFF_TRUNCATED = 1,
    /// There is no such page.
    WI_TIFF_END = 2,
    WI_TIFF_CORRUPT = -1,
    WI_TIFF_MEMORY = -2,
    WI_TIFF_UNSUPPORTED = -3,
} wi_tiff_status;

typedef struct {
    uint32_t width;
    uint32_t height;
    uint32_t depth;
    int has_alpha;
    /// Of the samples that the profile speaks of: 1 grey, 3 RGB, 4 CMYK; 0 for others.
    int colors;
    /// Whether wi_tiff_keep_depth may be called.
    int is_deep;
    /// 1 to 8 as in EXIF.
    uint32_t orientation;
    /// Rows that are stored together.
    uint32_t rows_per_unit;
    /// The profile, NULL where there is none; valid until another page is chosen.
    const uint8_t *icc;
    size_t icc_count;
} wi_tiff_info;

typedef struct wi_tiff_decoder wi_tiff_decoder;
/// `data` must stay valid until close. libtiff gets at most `max_bytes` with one allocation.
wi_tiff_status wi_tiff_open(const uint8_t *data, size_t count, size_t max_bytes, wi_tiff_decoder **decoder);
void wi_tiff_close(wi_tiff_decoder *decoder);
/// What the first failure was about; "" where nobody said.
const char *wi_tiff_message(const wi_tiff_decoder *decoder);
/// Pages that are there, counted up to `limit`.
uint32_t wi_tiff_pages(wi_tiff_decoder *decoder, uint32_t limit);
/// Chooses page `index` from 0 and tells its facts.
wi_tiff_status wi_tiff_page(wi_tiff_decoder *decoder, uint32_t index, wi_tiff_info *info);
/// From now on rows of CMYK pages are C, M, Y, K (0 no ink).
void wi_tiff_keep_ink(wi_tiff_decoder *decoder);
/// From now on rows are of 16 bits a sample in the machine's order; floating-point samples are cut to 0...1.
void wi_tiff_keep_depth(wi_tiff_decoder *decoder);
/// Decodes `count` rows of the page from `first` on as R, G, B, A with alpha multiplied in, not turned.
/// With `goes_on` damaged parts are skipped, and the status still tells of them.
wi_tiff_status wi_tiff_rows(wi_tiff_decoder *decoder, uint32_t first, uint32_t count, int goes_on, uint8_t *out,
                            size_t stride);

typedef struct {
    uint32_t width;
    uint32_t height;
    /// 3 or 4.
    uint32_t channels;
    /// Of a sample, 8 or 16.
    uint32_t bits;
    /// 0 for none, 1 for LZW, 2 for Deflate.
    int compression;
    /// zlib's, -1 its default.
    int level;
} wi_tiff_picture;
/// `pixels` are R, G, B, A, or R, G, B where there are three channels, alpha not multiplied in, without padding. The blocks
/// may have a `count` of 0. `*bytes` becomes malloc'ed memory.
wi_tiff_status wi_tiff_encode(const void *pixels, const wi_tiff_picture *picture, const uint8_t *icc, size_t icc_count,
                              const uint8_t *xmp, size_t xmp_count, uint8_t **bytes, size_t *count);
