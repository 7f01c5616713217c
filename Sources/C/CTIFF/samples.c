// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "samples.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "alpha.h"
#include "library.h"
#include "stream.h"

/// The maximum number of samples of a pixel that a result depends on: four inks and alpha.
enum { MAX_CHANNELS = 5 };

typedef struct {
    uint32_t width, height, unit_width, unit_height;
    uint16_t bits, samples, format, photometric, planar;
    /// The number of samples that describe the color.
    int colours;
    /// The kind of alpha, or 0 if there's none.
    int alpha;
    /// The number of samples that the result depends on, and their indices in the pixel: first those of the color, and
    /// then that of alpha.
    int channels, channel_samples[MAX_CHANNELS];
    /// The colors of a palette, and the value of white in them, or NULL if the page has no palette.
    const uint16_t *palette[3];
    double palette_white;
    int is_tiled;
    wi_tiff_samples_kind kind;
    tmsize_t unit_bytes, row_bytes;
} layout;

static int read_palette(TIFF *tiff, layout *page) {
    uint16_t *red = NULL, *green = NULL, *blue = NULL;
    if (page->bits > 16 || page->format == SAMPLEFORMAT_IEEEFP) return 0;
    if (!libtiff.TIFFGetField(tiff, TIFFTAG_COLORMAP, &red, &green, &blue) || !red || !green || !blue) return 0;
    page->palette[0] = red;
    page->palette[1] = green;
    page->palette[2] = blue;
    // Like libtiff, accept palettes with 8 bits per sample, which old programs wrote.
    page->palette_white = 255;
    for (uint32_t index = 0; index < UINT32_C(1) << page->bits; index++)
        if (red[index] > 255 || green[index] > 255 || blue[index] > 255) page->palette_white = 65535;
    return 1;
}

static int describe(TIFF *tiff, layout *page, wi_tiff_samples_kind kind) {
    memset(page, 0, sizeof *page);
    libtiff.TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &page->width);
    libtiff.TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &page->height);
    libtiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &page->bits);
    libtiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &page->samples);
    libtiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &page->format);
    libtiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &page->planar);
    if (!libtiff.TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &page->photometric)) return 0;
    // Pages with other sets of inks are read as CMYK without alpha.
    page->colours = page->photometric == PHOTOMETRIC_SEPARATED ? 4 : wi_tiff_color_samples(tiff);
    if (!page->colours || page->samples < page->colours || !page->bits || page->bits > 64) return 0;
    int is_float = page->format == SAMPLEFORMAT_IEEEFP;
    if (is_float && page->bits != 16 && page->bits != 32 && page->bits != 64) return 0;
    if (page->photometric == PHOTOMETRIC_PALETTE && !read_palette(tiff, page)) return 0;
    const wi_tiff_alpha alpha = wi_tiff_find_alpha(tiff);
    page->kind = kind == WI_TIFF_INK && page->colours != 4 ? WI_TIFF_BYTES : kind;
    page->alpha = alpha.kind;
    if (kind == WI_TIFF_MATTE && !alpha.kind) return 0;
    for (int color = 0; color < page->colours && kind != WI_TIFF_MATTE; color++)
        page->channel_samples[page->channels++] = color;
    if (alpha.kind) page->channel_samples[page->channels++] = alpha.sample;
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
    if (page->bits == 8) return row[index] / 255.0;
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

static void store_wide(const double *colour, double alpha, int is_straight, uint8_t *pixel) {
    uint16_t words[4];
    for (int channel = 0; channel < 3; channel++) {
        double value = cut(colour[channel]);
        if (is_straight) value *= alpha;
        words[channel] = (uint16_t)((value < alpha ? value : alpha) * 65535 + 0.5);
    }
    words[3] = (uint16_t)(alpha * 65535 + 0.5);
    memcpy(pixel, words, sizeof words);
}

/// Gets red, green, and blue as fractions of white.
static void get_color(const layout *page, const double *samples, double *colour) {
    if (page->palette[0]) {
        uint32_t top = (UINT32_C(1) << page->bits) - 1, index = (uint32_t)(cut(samples[0]) * top + 0.5);
        for (int channel = 0; channel < 3; channel++)
            colour[channel] = page->palette[channel][index] / page->palette_white;
        return;
    }
    for (int channel = 0; channel < 3; channel++) {
        double value = samples[page->colours == 1 ? 0 : channel];
        if (page->photometric == PHOTOMETRIC_MINISWHITE) value = 1 - value;
        if (page->colours == 4) value = (1 - cut(value)) * (1 - cut(samples[3]));
        colour[channel] = value;
    }
}

static void convert(const layout *page, double *samples, uint8_t *pixel) {
    double colour[3];
    int is_straight = page->alpha == EXTRASAMPLE_UNASSALPHA;
    if (page->kind == WI_TIFF_MATTE) {
        *pixel = byte_of(samples[0]);
        return;
    }
    // Associated inks are multiplied by alpha, but the color of no ink is white, so only straight inks have a color.
    // The indices of palettes can't be multiplied by alpha.
    if (page->colours == 4 && page->alpha == EXTRASAMPLE_ASSOCALPHA) {
        double alpha = cut(samples[4]);
        for (int channel = 0; channel < 4; channel++)
            samples[channel] = alpha > 0 ? cut(samples[channel] / alpha) : 0;
        is_straight = 1;
    }
    if (page->palette[0]) is_straight = 1;
    if (page->kind == WI_TIFF_INK) {
        for (int channel = 0; channel < 4; channel++) pixel[channel] = byte_of(samples[channel]);
        return;
    }
    get_color(page, samples, colour);
    const double matte = page->alpha ? cut(samples[page->colours]) : 1;
    if (page->kind == WI_TIFF_WIDE) {
        store_wide(colour, matte, page->alpha && is_straight, pixel);
        return;
    }
    const uint8_t alpha = byte_of(matte);
    for (int channel = 0; channel < 3; channel++) {
        uint8_t value = byte_of(colour[channel]);
        if (is_straight) value = (uint8_t)((value * alpha + 127) / 255);
        pixel[channel] = value < alpha ? value : alpha;
    }
    pixel[3] = alpha;
}

static size_t pixel_bytes(wi_tiff_samples_kind kind) {
    return kind == WI_TIFF_MATTE ? 1 : kind == WI_TIFF_WIDE ? 8 : 4;
}

int wi_tiff_reports_missing(TIFF *tiff) {
    uint16_t compression = COMPRESSION_NONE;
    libtiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
    return compression == COMPRESSION_NONE || compression == COMPRESSION_LZW || compression == COMPRESSION_PACKBITS ||
           compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE;
}

/// Returns the number of bytes of a strip or tile that the file contains if its byte count is larger, or 0. libtiff rejects
/// such strips and tiles even if it doesn't need the missing bytes.
static uint64_t available_bytes(TIFF *tiff, uint32_t unit) {
    const wi_tiff_stream *stream = libtiff.TIFFClientdata(tiff);
    const uint64_t start = libtiff.TIFFGetStrileOffset(tiff, unit), count = libtiff.TIFFGetStrileByteCount(tiff, unit);
    if (!stream->data || start >= stream->count || count <= stream->count - start) return 0;
    return stream->count - start;
}

/// Decodes the bytes of a strip or tile that the file contains, and returns whether they're sufficient for `size` bytes.
static int read_available(TIFF *tiff, uint32_t unit, uint64_t available, uint8_t *to, tmsize_t size) {
    wi_tiff_stream *stream = libtiff.TIFFClientdata(tiff);
    // No encoder doubles the size, so the work doesn't depend on a byte count that's much too large.
    const uint64_t most = (uint64_t)size * 2 + 4096;
    const size_t count = (size_t)(available < most ? available : most);
    // libtiff can reverse the bits of the buffer.
    uint8_t *copy = malloc(count);
    if (!copy) {
        stream->is_short_of_memory = 1;
        return 0;
    }
    memcpy(copy, stream->data + libtiff.TIFFGetStrileOffset(tiff, unit), count);
    const int is_whole = libtiff.TIFFReadFromUserBuffer(tiff, unit, copy, (tmsize_t)count, to, size);
    free(copy);
    if (!is_whole) stream->hit_end = 1;
    return is_whole;
}

static int read_plane(TIFF *tiff, const layout *page, uint32_t x, uint32_t y, uint16_t sample, uint8_t *to) {
    const uint32_t unit = page->is_tiled ? libtiff.TIFFComputeTile(tiff, x, y, 0, sample)
                                         : libtiff.TIFFComputeStrip(tiff, y, sample);
    const uint64_t available = wi_tiff_reports_missing(tiff) ? available_bytes(tiff, unit) : 0;
    if (available) {
        const uint32_t rows = page->height - y < page->unit_height ? page->height - y : page->unit_height;
        const tmsize_t size = page->is_tiled ? page->unit_bytes : libtiff.TIFFVStripSize(tiff, rows);
        return size > 0 && size <= page->unit_bytes && read_available(tiff, unit, available, to, size);
    }
    return (page->is_tiled ? libtiff.TIFFReadEncodedTile(tiff, unit, to, page->unit_bytes)
                           : libtiff.TIFFReadEncodedStrip(tiff, unit, to, page->unit_bytes)) >= 0;
}

static int read_unit(TIFF *tiff, const layout *page, uint32_t x, uint32_t y, uint8_t *buffers) {
    int planes = page->planar == PLANARCONFIG_CONTIG ? 1 : page->channels;
    for (int plane = 0; plane < planes; plane++) {
        uint8_t *to = buffers + (size_t)plane * (size_t)page->unit_bytes;
        uint16_t sample = page->planar == PLANARCONFIG_CONTIG ? 0 : (uint16_t)page->channel_samples[plane];
        if (!read_plane(tiff, page, x, y, sample, to)) return 0;
    }
    return 1;
}

static void draw_unit(const layout *page, const uint8_t *buffers, uint64_t left, uint64_t top, uint64_t first,
                      uint64_t count, uint8_t *out, size_t stride) {
    double samples[MAX_CHANNELS];
    const size_t bytes = pixel_bytes(page->kind);
    int is_packed = page->planar == PLANARCONFIG_CONTIG;
    for (uint64_t y = top < first ? first : top; y < first + count && y - top < page->unit_height; y++) {
        for (uint64_t x = left; x < page->width && x - left < page->unit_width; x++) {
            for (int channel = 0; channel < page->channels; channel++) {
                const uint8_t *row = buffers + (size_t)(y - top) * (size_t)page->row_bytes +
                                     (is_packed ? 0 : (size_t)channel * (size_t)page->unit_bytes);
                uint64_t index =
                    is_packed ? (x - left) * page->samples + (uint64_t)page->channel_samples[channel] : x - left;
                samples[channel] = value_at(page, row, index);
            }
            convert(page, samples, out + (size_t)(y - first) * stride + (size_t)x * bytes);
        }
    }
}

int wi_tiff_is_deep(TIFF *tiff) {
    layout page;
    return describe(tiff, &page, WI_TIFF_BYTES) && page.bits > 8 && page.colours != 4 && !page.palette[0];
}

int wi_tiff_samples(TIFF *tiff, uint32_t first, uint32_t count, size_t max_bytes, wi_tiff_samples_kind kind,
                    uint8_t *out, size_t stride) {
    layout page;
    if (!describe(tiff, &page, kind)) return -2;
    size_t planes = page.planar == PLANARCONFIG_CONTIG ? 1 : (size_t)page.channels;
    if ((uint64_t)first + count > page.height || stride / pixel_bytes(page.kind) < page.width) return -2;
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
