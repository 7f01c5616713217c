// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "samples.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "library.h"

enum { MAX_SAMPLES = 8 };

typedef struct {
    uint32_t width, height, unit_width, unit_height;
    uint16_t bits, samples, format, photometric, planar;
    int colours;
    /// The kind of the first alpha sample and its index in the pixel, or 0 if there's none.
    int alpha, alpha_sample;
    int is_tiled;
    int keeps_ink;
    /// Nonzero if the output pixels have 16 bits per sample.
    int is_wide;
    tmsize_t unit_bytes, row_bytes;
} layout;

static int describe(TIFF *tiff, layout *page) {
    uint16_t extras = 0, *kinds = NULL;
    memset(page, 0, sizeof *page);
    libtiff.TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &page->width);
    libtiff.TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &page->height);
    libtiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &page->bits);
    libtiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &page->samples);
    libtiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &page->format);
    libtiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &page->planar);
    libtiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &extras, &kinds);
    if (!libtiff.TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &page->photometric)) return 0;
    page->colours = page->photometric == PHOTOMETRIC_RGB ? 3 : page->photometric == PHOTOMETRIC_SEPARATED ? 4 : 1;
    if (page->colours == 1 && page->photometric > PHOTOMETRIC_MINISBLACK) return 0;
    if (page->samples < page->colours || page->samples > MAX_SAMPLES || !page->bits || page->bits > 64) return 0;
    int is_float = page->format == SAMPLEFORMAT_IEEEFP;
    if (is_float && page->bits != 16 && page->bits != 32 && page->bits != 64) return 0;
    for (int extra = 0; extra < extras && page->colours + extra < page->samples && !page->alpha; extra++) {
        if (kinds[extra] != EXTRASAMPLE_ASSOCALPHA && kinds[extra] != EXTRASAMPLE_UNASSALPHA) continue;
        page->alpha = kinds[extra];
        page->alpha_sample = page->colours + extra;
    }
    page->is_tiled = libtiff.TIFFIsTiled(tiff);
    page->unit_width = page->width;
    if (page->is_tiled) libtiff.TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &page->unit_width);
    libtiff.TIFFGetFieldDefaulted(tiff, page->is_tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &page->unit_height);
    if (page->unit_height > page->height && !page->is_tiled) page->unit_height = page->height;
    page->unit_bytes = page->is_tiled ? libtiff.TIFFTileSize(tiff) : libtiff.TIFFStripSize(tiff);
    page->row_bytes = page->is_tiled ? libtiff.TIFFTileRowSize(tiff) : libtiff.TIFFScanlineSize(tiff);
    uint64_t needed = ((uint64_t)page->unit_width * (page->planar == PLANARCONFIG_CONTIG ? page->samples : 1) *
                           page->bits + 7) / 8;
    return page->unit_width && page->unit_height && page->unit_bytes > 0 && page->row_bytes > 0 &&
           needed <= (uint64_t)page->row_bytes &&
           (uint64_t)page->row_bytes <= (uint64_t)page->unit_bytes / page->unit_height;
}

static double half(uint16_t value) {
    int exponent = value >> 10 & 31, mantissa = value & 1023;
    double size = exponent == 0    ? ldexp(mantissa, -24)
                  : exponent == 31 ? 1
                                   : ldexp(mantissa + 1024, exponent - 25);
    return value & 0x8000 ? -size : size;
}

/// Returns a sample as a fraction of the maximum value.
static double value_at(const layout *page, const uint8_t *row, uint64_t index) {
    uint16_t word;
    uint32_t number;
    uint64_t large = 0;
    float single;
    double wide;
    int is_float = page->format == SAMPLEFORMAT_IEEEFP;
    if (page->bits == 16) {
        memcpy(&word, row + index * 2, 2);
        return is_float ? half(word) : word / 65535.0;
    }
    if (page->bits == 24) {
        memcpy(&large, row + index * 3, 3);
        return (double)large / 16777215.0;
    }
    if (page->bits == 32) {
        memcpy(&number, row + index * 4, 4);
        memcpy(&single, &number, 4);
        return is_float ? (double)single : number / 4294967295.0;
    }
    if (page->bits == 64) {
        memcpy(&large, row + index * 8, 8);
        memcpy(&wide, &large, 8);
        return is_float ? wide : (double)large / 18446744073709551615.0;
    }
    // Other samples are packed, with the highest bit first.
    for (uint64_t bit = index * page->bits; bit < (index + 1) * page->bits; bit++)
        large = large << 1 | (row[bit / 8] >> (7 - bit % 8) & 1);
    return (double)large / ((double)((UINT64_C(1) << page->bits) - 1));
}

static uint8_t byte_of(double value) { return !(value > 0) ? 0 : value >= 1 ? 255 : (uint8_t)(value * 255 + 0.5); }

static double cut(double value) { return !(value > 0) ? 0 : value >= 1 ? 1 : value; }

static void store_wide(const layout *page, const double *colour, double alpha, uint8_t *pixel) {
    uint16_t words[4];
    for (int channel = 0; channel < 3; channel++) {
        double value = cut(colour[channel]);
        if (page->alpha == EXTRASAMPLE_UNASSALPHA) value *= alpha;
        words[channel] = (uint16_t)((value < alpha ? value : alpha) * 65535 + 0.5);
    }
    words[3] = (uint16_t)(alpha * 65535 + 0.5);
    memcpy(pixel, words, sizeof words);
}

static void convert(const layout *page, const double *samples, uint8_t *pixel) {
    double colour[3];
    if (page->keeps_ink) {
        for (int channel = 0; channel < 4; channel++) pixel[channel] = byte_of(samples[channel]);
        return;
    }
    for (int channel = 0; channel < 3; channel++) {
        double value = samples[page->colours == 1 ? 0 : channel];
        if (page->photometric == PHOTOMETRIC_MINISWHITE) value = 1 - value;
        if (page->colours == 4) value = (1 - value) * (1 - samples[3]);
        colour[channel] = value;
    }
    if (page->is_wide) {
        store_wide(page, colour, page->alpha ? cut(samples[page->alpha_sample]) : 1, pixel);
        return;
    }
    uint8_t alpha = page->alpha ? byte_of(samples[page->alpha_sample]) : 255;
    for (int channel = 0; channel < 3; channel++) {
        uint8_t value = byte_of(colour[channel]);
        if (page->alpha == EXTRASAMPLE_UNASSALPHA) value = (uint8_t)((value * alpha + 127) / 255);
        pixel[channel] = value < alpha ? value : alpha;
    }
    pixel[3] = alpha;
}

static int read_unit(TIFF *tiff, const layout *page, uint32_t x, uint32_t y, uint8_t *buffers) {
    int planes = page->planar == PLANARCONFIG_CONTIG ? 1 : page->samples;
    for (int plane = 0; plane < planes; plane++) {
        uint8_t *to = buffers + (size_t)plane * (size_t)page->unit_bytes;
        tmsize_t read = page->is_tiled
                            ? libtiff.TIFFReadEncodedTile(tiff, libtiff.TIFFComputeTile(tiff, x, y, 0, (uint16_t)plane), to,
                                                  page->unit_bytes)
                            : libtiff.TIFFReadEncodedStrip(tiff, libtiff.TIFFComputeStrip(tiff, y, (uint16_t)plane), to,
                                                   page->unit_bytes);
        if (read < 0) return 0;
    }
    return 1;
}

static void draw_unit(const layout *page, const uint8_t *buffers, uint64_t left, uint64_t top, uint64_t first,
                      uint64_t count, uint8_t *out, size_t stride) {
    double samples[MAX_SAMPLES];
    size_t pixel_bytes = page->is_wide ? 8 : 4;
    int is_packed = page->planar == PLANARCONFIG_CONTIG;
    for (uint64_t y = top < first ? first : top; y < first + count && y - top < page->unit_height; y++) {
        for (uint64_t x = left; x < page->width && x - left < page->unit_width; x++) {
            for (int sample = 0; sample < page->samples; sample++) {
                const uint8_t *row = buffers + (size_t)(y - top) * (size_t)page->row_bytes +
                                     (is_packed ? 0 : (size_t)sample * (size_t)page->unit_bytes);
                uint64_t index = is_packed ? (uint64_t)(x - left) * page->samples + (uint64_t)sample : x - left;
                samples[sample] = value_at(page, row, index);
            }
            convert(page, samples, out + (size_t)(y - first) * stride + (size_t)x * pixel_bytes);
        }
    }
}

int wi_tiff_is_deep(TIFF *tiff) {
    layout page;
    return describe(tiff, &page) && page.bits > 8 && page.colours != 4;
}

int wi_tiff_is_gray_with_alpha(TIFF *tiff) {
    layout page;
    return describe(tiff, &page) && page.photometric <= PHOTOMETRIC_MINISBLACK && page.alpha;
}

int wi_tiff_samples(TIFF *tiff, uint32_t first, uint32_t count, size_t max_bytes, wi_tiff_samples_kind kind,
                    uint8_t *out, size_t stride) {
    layout page;
    if (!describe(tiff, &page)) return -2;
    page.keeps_ink = kind == WI_TIFF_INK && page.colours == 4;
    page.is_wide = kind == WI_TIFF_WIDE;
    size_t planes = page.planar == PLANARCONFIG_CONTIG ? 1 : page.samples;
    if ((uint64_t)first + count > page.height || stride / (page.is_wide ? 8 : 4) < page.width) return -2;
    if ((size_t)page.unit_bytes > max_bytes / planes) return -1;
    uint8_t *buffers = calloc(planes, (size_t)page.unit_bytes);
    if (!buffers) return -1;
    int is_whole = 1;
    // Positions with 64 bits never wrap around.
    const uint64_t end = (uint64_t)first + count;
    for (uint64_t top = first / page.unit_height * (uint64_t)page.unit_height; is_whole && top < end;
         top += page.unit_height) {
        for (uint64_t left = 0; is_whole && left < page.width; left += page.unit_width) {
            is_whole = read_unit(tiff, &page, (uint32_t)left, (uint32_t)top, buffers);
            if (is_whole) draw_unit(&page, buffers, left, top, first, count, out, stride);
        }
    }
    free(buffers);
    return is_whole;
}
#endif
