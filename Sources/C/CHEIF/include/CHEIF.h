// SPDX-License-Identifier: MIT
// Plain functions that hide libheif's structures returned by value and its growing option structures.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Loads libheif unless it's loaded already. Call it before any other function.
///
/// Returns NULL, or the reason why libheif can't be loaded, which the caller must not release.
const char *wi_heif_load(void);

typedef enum {
    WI_HEIF_OK = 0,
    WI_HEIF_TRUNCATED = 1,
    /// The image doesn't exist.
    WI_HEIF_END = 2,
    WI_HEIF_CORRUPT = -1,
    WI_HEIF_MEMORY = -2,
    WI_HEIF_UNSUPPORTED = -3,
    /// The size of the pixels differs from the size in the header.
    WI_HEIF_INCONSISTENT = -4,
} wi_heif_status;

typedef struct {
    /// The size after cropping and with the orientation applied.
    uint32_t width;
    uint32_t height;
    uint32_t depth;
    int has_alpha;
    int is_premultiplied;
    /// The number of top-level images. If an image other than the primary one was requested, parts of other images
    /// don't count.
    uint32_t pictures;
    /// The size of the color profile in bytes, or 0 if there's none.
    size_t icc_count;
    /// The code points of ITU-T H.273, or 0 if the file has none.
    uint32_t primaries;
    uint32_t transfer;
} wi_heif_info;

typedef struct wi_heif_decoder wi_heif_decoder;
/// Opens an image. `data` must stay valid until the decoder is closed. libheif enforces `max_side`. Image 0 is the
/// primary image. The items `parts` are parts of other images, such as the tiles of grids, and have no index.
wi_heif_status wi_heif_open(const uint8_t *data, size_t count, uint32_t max_side, uint32_t picture,
                            const uint32_t *parts, size_t part_count, wi_heif_info *info, wi_heif_decoder **decoder);
void wi_heif_close(wi_heif_decoder *decoder);
/// Returns a description of the last failure.
const char *wi_heif_message(const wi_heif_decoder *decoder);
/// Copies the color profile. Returns 0 on failure.
int wi_heif_icc(const wi_heif_decoder *decoder, uint8_t *out);
/// Replaces the image with a thumbnail: the smallest one whose sides are at least `width` and `height`. The thumbnail
/// must have the same aspect ratio, at least `depth` bits, and alpha if the image has alpha. Afterward, `info`
/// describes the thumbnail. If the thumbnail has no color information (`icc_count` and `transfer` are 0), the color
/// information of the image applies. If there's no such thumbnail, the function returns 0 and changes nothing.
int wi_heif_use_thumbnail(wi_heif_decoder *decoder, double width, double height, uint32_t depth, wi_heif_info *info);
/// Replaces the image with the thumbnail whose item has the identifier `item`, regardless of its size. Returns 0 and
/// changes nothing if the image has no such thumbnail.
int wi_heif_use_thumbnail_item(wi_heif_decoder *decoder, uint32_t item, wi_heif_info *info);
/// Reverts the effect of wi_heif_use_thumbnail or wi_heif_use_thumbnail_item.
void wi_heif_use_picture(wi_heif_decoder *decoder, const wi_heif_info *info);
/// Decodes the image with its orientation applied, as R, G, B, A with 8 or 16 bits per sample.
///
/// libheif decodes the tiles of a grid on `threads` threads, which end before this function returns. It decodes other
/// images on one thread.
wi_heif_status wi_heif_decode(wi_heif_decoder *decoder, int threads, int bits, void *out, size_t stride);

/// Returns whether an HEVC encoder is available.
int wi_heif_can_encode(void);
typedef struct {
    /// The quality, from 1 to 100.
    int quality;
    /// The chroma subsampling: "444", "422", or "420".
    const char *chroma;
    /// The preset of x265, such as "slow", or NULL for the default of libheif. Other encoders ignore it.
    const char *preset;
    /// The longer side of the embedded thumbnail in pixels, or 0 for no thumbnail.
    int thumbnail_side;
    /// The code points of ITU-T H.273, or 0 to write none.
    int primaries;
    int transfer;
} wi_heif_options;
/// The metadata to embed. A block with a `count` of 0 is omitted.
typedef struct {
    const uint8_t *icc;
    size_t icc_count;
    const uint8_t *exif;
    size_t exif_count;
    const uint8_t *xmp;
    size_t xmp_count;
} wi_heif_blocks;
/// Encodes R, G, B, A pixels with straight alpha. The caller must release `*bytes` with free.
wi_heif_status wi_heif_encode(const uint8_t *pixels, size_t stride, uint32_t width, uint32_t height, int is_opaque,
                              const wi_heif_options *options, const wi_heif_blocks *blocks, uint8_t **bytes,
                              size_t *count);
/// Returns the version of libheif. The caller must not release it.
const char *wi_heif_version(void);
/// Returns the name of a decoder of libheif, such as `libde265 HEVC decoder, version 1.0.11`, or NULL if `index` is too
/// large. The caller must not release it.
const char *wi_heif_decoder_name(int index);
