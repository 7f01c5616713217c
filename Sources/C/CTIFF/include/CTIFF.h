// SPDX-License-Identifier: MIT
// Plain functions that let libtiff read from and write to memory. They don't print libtiff's messages.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Loads libtiff unless it's loaded already. Call it before any other function.
///
/// Returns NULL, or the reason why libtiff can't be loaded, which the caller must not release.
const char *wi_tiff_load(void);

typedef enum {
    WI_TIFF_OK = 0,
    /// The file refers to data past its end.
    WI_TIFF_TRUNCATED = 1,
    /// The page doesn't exist.
    WI_TIFF_END = 2,
    WI_TIFF_CORRUPT = -1,
    WI_TIFF_MEMORY = -2,
    WI_TIFF_UNSUPPORTED = -3,
} wi_tiff_status;

typedef struct {
    uint32_t width;
    uint32_t height;
    uint32_t depth;
    /// Nonzero if a sample of the page contains alpha, even if the file doesn't declare it.
    int has_alpha;
    /// The color model of the samples to which the profile applies: 1 for gray, 3 for RGB, 4 for CMYK, and 0 for
    /// others.
    int colors;
    /// Nonzero if wi_tiff_keep_depth may be called.
    int is_deep;
    /// The orientation, from 1 to 8 as in EXIF.
    uint32_t orientation;
    /// The number of rows that are stored together, in a strip or a row of tiles.
    uint32_t rows_per_unit;
    /// The color profile, or NULL if there's none. The pointer is valid until another page is selected.
    const uint8_t *icc;
    size_t icc_count;
} wi_tiff_info;

typedef struct wi_tiff_decoder wi_tiff_decoder;
/// Opens a file. `data` must stay valid until the decoder is closed. `max_bytes` is the maximum size of one allocation
/// of libtiff.
wi_tiff_status wi_tiff_open(const uint8_t *data, size_t count, size_t max_bytes, wi_tiff_decoder **decoder);
void wi_tiff_close(wi_tiff_decoder *decoder);
/// Returns a description of the first failure, or "" if libtiff didn't report one.
const char *wi_tiff_message(const wi_tiff_decoder *decoder);
/// Returns the number of pages, counted up to `limit`.
uint32_t wi_tiff_pages(wi_tiff_decoder *decoder, uint32_t limit);
/// Selects page `index` (from 0) and gets its properties.
wi_tiff_status wi_tiff_page(wi_tiff_decoder *decoder, uint32_t index, wi_tiff_info *info);
/// Produces the rows of CMYK pages as C, M, Y, K (0 means no ink). The inks aren't multiplied by alpha.
void wi_tiff_keep_ink(wi_tiff_decoder *decoder);
/// Produces rows with 16 bits per sample in the byte order of the machine. Floating-point samples are clamped to 0 to
/// 1.
void wi_tiff_keep_depth(wi_tiff_decoder *decoder);
/// Decodes `count` rows of the page from `first` on, as premultiplied R, G, B, A without applying the orientation. If
/// `goes_on` is nonzero, the function skips corrupt parts, and the status still reports them.
wi_tiff_status wi_tiff_rows(wi_tiff_decoder *decoder, uint32_t first, uint32_t count, int goes_on, uint8_t *out,
                            size_t stride);
/// Decodes the alpha of `count` rows of the page from `first` on, with one byte per pixel. The page must have alpha.
wi_tiff_status wi_tiff_alpha_rows(wi_tiff_decoder *decoder, uint32_t first, uint32_t count, uint8_t *out,
                                  size_t stride);

typedef struct {
    uint32_t width;
    uint32_t height;
    /// The number of channels, either 3 or 4.
    uint32_t channels;
    /// The bits per sample, either 8 or 16.
    uint32_t bits;
    /// The compression: 0 for none, 1 for LZW, and 2 for Deflate.
    int compression;
    /// The compression level of zlib, or -1 for its default.
    int level;
} wi_tiff_picture;
/// Encodes R, G, B, A pixels with straight alpha, or R, G, B pixels if there are three channels, without padding. A
/// block with a `count` of 0 is omitted. The caller must release `*bytes` with free.
wi_tiff_status wi_tiff_encode(const void *pixels, const wi_tiff_picture *picture, const uint8_t *icc, size_t icc_count,
                              const uint8_t *xmp, size_t xmp_count, uint8_t **bytes, size_t *count);
/// Returns the description of libtiff, whose first line ends with the version. The caller must not release it.
const char *wi_tiff_version(void);
