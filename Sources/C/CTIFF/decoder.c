// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "CTIFF.h"
#include "alpha.h"
#include "library.h"
#include "samples.h"
#include "stream.h"

struct wi_tiff_decoder {
    TIFF *tiff;
    wi_tiff_stream stream;
    /// The size of the selected page, for which the caller allocates memory.
    uint32_t width, height;
    size_t max_bytes;
    wi_tiff_samples_kind kind;
};

static wi_tiff_status failure(const wi_tiff_decoder *own) {
    if (own->stream.is_short_of_memory) return WI_TIFF_MEMORY;
    return own->stream.hit_end ? WI_TIFF_TRUNCATED : WI_TIFF_CORRUPT;
}

wi_tiff_status wi_tiff_open(const uint8_t *data, size_t count, size_t max_bytes, wi_tiff_decoder **result) {
    wi_tiff_decoder *own = calloc(1, sizeof *own);
    if (!own) return WI_TIFF_MEMORY;
    *result = own;
    own->stream.data = data;
    own->stream.count = count;
    own->max_bytes = max_bytes;
    own->tiff = wi_tiff_stream_open(&own->stream, "rm", max_bytes);
    return own->tiff ? WI_TIFF_OK : failure(own);
}

void wi_tiff_close(wi_tiff_decoder *own) {
    if (!own) return;
    if (own->tiff) libtiff.TIFFClose(own->tiff);
    free(own);
}

const char *wi_tiff_message(const wi_tiff_decoder *own) { return own ? own->stream.message : ""; }

uint32_t wi_tiff_pages(wi_tiff_decoder *own, uint32_t limit) {
    uint32_t pages = 1;
    own->width = own->height = 0;
    if (!own->tiff || !libtiff.TIFFSetDirectory(own->tiff, 0)) return 0;
    while (pages < limit && libtiff.TIFFReadDirectory(own->tiff)) pages++;
    own->stream.message[0] = 0;
    own->stream.hit_end = 0;
    return pages;
}

static int colors_of(TIFF *tiff) {
    uint16_t photometric = 0, inks = INKSET_CMYK;
    if (!libtiff.TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric)) return 0;
    switch (photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
        return 1;
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_PALETTE:
    case PHOTOMETRIC_YCBCR:
        return 3;
    case PHOTOMETRIC_SEPARATED:
        libtiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_INKSET, &inks);
        return inks == INKSET_CMYK ? 4 : 0;
    default:
        return 0;
    }
}

wi_tiff_status wi_tiff_page(wi_tiff_decoder *own, uint32_t index, wi_tiff_info *info) {
    uint16_t depth = 1, orientation = 1;
    uint32_t icc_count = 0, unit = 0;
    void *icc = NULL;
    own->width = own->height = 0;
    if (!own->tiff) return failure(own);
    if (!libtiff.TIFFSetDirectory(own->tiff, index)) return index ? WI_TIFF_END : failure(own);
    memset(info, 0, sizeof *info);
    if (!libtiff.TIFFGetField(own->tiff, TIFFTAG_IMAGEWIDTH, &info->width) ||
        !libtiff.TIFFGetField(own->tiff, TIFFTAG_IMAGELENGTH, &info->height) || !info->width || !info->height)
        return failure(own);
    libtiff.TIFFGetFieldDefaulted(own->tiff, TIFFTAG_BITSPERSAMPLE, &depth);
    libtiff.TIFFGetFieldDefaulted(own->tiff, TIFFTAG_ORIENTATION, &orientation);
    info->depth = depth;
    info->orientation = orientation;
    info->has_alpha = wi_tiff_find_alpha(own->tiff).kind != 0;
    info->colors = colors_of(own->tiff);
    info->is_deep = wi_tiff_is_deep(own->tiff);
    libtiff.TIFFGetFieldDefaulted(own->tiff, libtiff.TIFFIsTiled(own->tiff) ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &unit);
    info->rows_per_unit = unit && unit < info->height ? unit : info->height;
    if (libtiff.TIFFGetField(own->tiff, TIFFTAG_ICCPROFILE, &icc_count, &icc) && icc && icc_count) {
        info->icc = icc;
        info->icc_count = icc_count;
    }
    own->width = info->width;
    own->height = info->height;
    return WI_TIFF_OK;
}

static int get(TIFFRGBAImage *image, uint32_t width, uint32_t count, uint8_t *out, size_t stride) {
    size_t packed = (size_t)width * 4;
    if (stride == packed && (uintptr_t)out % 4 == 0) return libtiff.TIFFRGBAImageGet(image, (uint32_t *)out, width, count);
    size_t pixels = 0;
    if (__builtin_mul_overflow((size_t)width, (size_t)count, &pixels)) return -1;
    uint32_t *raster = calloc(pixels, 4);
    if (!raster) return -1;
    int is_whole = libtiff.TIFFRGBAImageGet(image, raster, width, count);
    for (uint32_t row = 0; row < count; row++) memcpy(out + row * stride, raster + (size_t)row * width, packed);
    free(raster);
    return is_whole;
}

static void note(wi_tiff_decoder *own, const char *message) {
    if (!own->stream.message[0]) snprintf(own->stream.message, sizeof own->stream.message, "%s", message);
}

static wi_tiff_status read_samples(wi_tiff_decoder *own, wi_tiff_samples_kind kind, uint32_t first, uint32_t count,
                                   uint8_t *out, size_t stride, const char *message) {
    int is_whole = wi_tiff_samples(own->tiff, first, count, own->max_bytes, kind, out, stride);
    if (is_whole == -2) {
        own->stream.message[0] = 0;
        note(own, message);
        return WI_TIFF_UNSUPPORTED;
    }
    if (is_whole < 0) return WI_TIFF_MEMORY;
    return is_whole ? WI_TIFF_OK : failure(own);
}

void wi_tiff_keep_ink(wi_tiff_decoder *own) { own->kind = WI_TIFF_INK; }

void wi_tiff_keep_depth(wi_tiff_decoder *own) { own->kind = WI_TIFF_WIDE; }

/// Returns whether the rows are within the page that the caller selected and fit into the caller's memory.
static int fits(const wi_tiff_decoder *own, uint32_t first, uint32_t count, size_t stride, size_t pixel_bytes) {
    uint32_t width = 0, height = 0;
    if (!own->tiff) return 0;
    libtiff.TIFFGetField(own->tiff, TIFFTAG_IMAGEWIDTH, &width);
    libtiff.TIFFGetField(own->tiff, TIFFTAG_IMAGELENGTH, &height);
    return width && width == own->width && height == own->height && stride / pixel_bytes >= width &&
           first <= INT_MAX && first < height && count <= height - first;
}

static wi_tiff_status refuse(wi_tiff_decoder *own) {
    own->stream.message[0] = 0;
    note(own, "the rows aren't part of the selected page");
    return WI_TIFF_CORRUPT;
}

/// Returns whether the RGBA interface may have failed only because a strip or tile is longer than its data. It rejects
/// those that exceed the file, and uncompressed tiles with a size that isn't their byte count or a multiple of 1,024.
static int may_be_too_long(const wi_tiff_decoder *own) {
    uint16_t compression = COMPRESSION_NONE;
    libtiff.TIFFGetFieldDefaulted(own->tiff, TIFFTAG_COMPRESSION, &compression);
    return (own->stream.hit_end && wi_tiff_reports_missing(own->tiff)) ||
           (compression == COMPRESSION_NONE && libtiff.TIFFIsTiled(own->tiff));
}

wi_tiff_status wi_tiff_rows(wi_tiff_decoder *own, uint32_t first, uint32_t count, int goes_on, uint8_t *out,
                            size_t stride) {
    TIFFRGBAImage image;
    char message[1024] = "";
    if (!fits(own, first, count, stride, own->kind == WI_TIFF_WIDE ? 8 : 4)) return refuse(own);
    if (own->kind != WI_TIFF_BYTES || !wi_tiff_declare_alpha(own->tiff, wi_tiff_find_alpha(own->tiff)))
        return read_samples(own, own->kind, first, count, out, stride, message);
    if (!libtiff.TIFFRGBAImageOK(own->tiff, message) ||
        !libtiff.TIFFRGBAImageBegin(&image, own->tiff, !goes_on, message))
        return read_samples(own, own->kind, first, count, out, stride, message);
    // The orientation is applied later.
    image.orientation = image.req_orientation = ORIENTATION_TOPLEFT;
    image.row_offset = (int)first;
    own->stream.message[0] = 0;
    const int hit_end = own->stream.hit_end;
    int is_whole = get(&image, own->width, count, out, stride);
    libtiff.TIFFRGBAImageEnd(&image);
    if (is_whole < 0) return WI_TIFF_MEMORY;
    if (is_whole && !own->stream.message[0]) return WI_TIFF_OK;
    const wi_tiff_status status = failure(own);
    if (status == WI_TIFF_MEMORY || !may_be_too_long(own)) return status;
    // The rows that can't be read keep the contents that the RGBA interface produced.
    is_whole = wi_tiff_samples(own->tiff, first, count, own->max_bytes, own->kind, out, stride);
    if (is_whole < 0) return is_whole == -1 ? WI_TIFF_MEMORY : status;
    if (!is_whole) return failure(own);
    own->stream.message[0] = 0;
    own->stream.hit_end = hit_end;
    return WI_TIFF_OK;
}

wi_tiff_status wi_tiff_alpha_rows(wi_tiff_decoder *own, uint32_t first, uint32_t count, uint8_t *out, size_t stride) {
    if (!fits(own, first, count, stride, 1)) return refuse(own);
    return read_samples(own, WI_TIFF_MATTE, first, count, out, stride, "");
}

const char *wi_tiff_version(void) { return libtiff.TIFFGetVersion(); }
#endif
