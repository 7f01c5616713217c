// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <stdlib.h>
#include "CTIFF.h"
#include "library.h"
#include "stream.h"

/// Sets the properties of the image and its samples.
static int describe(TIFF *tiff, const wi_tiff_picture *picture) {
    const uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    int is_done = libtiff.TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, picture->width) &&
                  libtiff.TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, picture->height) &&
                  libtiff.TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, picture->bits) &&
                  libtiff.TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, picture->channels) &&
                  libtiff.TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB) &&
                  libtiff.TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
                  libtiff.TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    if (is_done && picture->channels == 4) is_done = libtiff.TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha);
    return is_done;
}

static int compress(TIFF *tiff, const wi_tiff_picture *picture) {
    static const uint16_t kinds[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE};
    int is_done = libtiff.TIFFSetField(tiff, TIFFTAG_COMPRESSION, kinds[picture->compression]);
    // Differences between neighboring pixels compress better than the pixels.
    if (is_done && picture->compression) is_done = libtiff.TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
    if (is_done && picture->compression == 2 && picture->level >= 0)
        is_done = libtiff.TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, picture->level);
    return is_done && libtiff.TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, libtiff.TIFFDefaultStripSize(tiff, (uint32_t)-1));
}

static int embed(TIFF *tiff, const uint8_t *icc, size_t icc_count, const uint8_t *xmp, size_t xmp_count) {
    return (!icc_count || libtiff.TIFFSetField(tiff, TIFFTAG_ICCPROFILE, (uint32_t)icc_count, icc)) &&
           (!xmp_count || libtiff.TIFFSetField(tiff, TIFFTAG_XMLPACKET, (uint32_t)xmp_count, xmp));
}

wi_tiff_status wi_tiff_encode(const void *pixels, const wi_tiff_picture *picture, const uint8_t *icc, size_t icc_count,
                              const uint8_t *xmp, size_t xmp_count, uint8_t **bytes, size_t *count) {
    wi_tiff_stream stream = {0};
    TIFF *tiff = wi_tiff_stream_open(&stream, "w", 0);
    int is_done = tiff && describe(tiff, picture) && compress(tiff, picture) &&
                  embed(tiff, icc, icc_count, xmp, xmp_count);
    size_t row_bytes = (size_t)picture->width * picture->channels * picture->bits / 8;
    for (uint32_t row = 0; is_done && row < picture->height; row++)
        is_done = libtiff.TIFFWriteScanline(tiff, (void *)((const uint8_t *)pixels + row * row_bytes), row, 0) == 1;
    is_done = is_done && libtiff.TIFFFlush(tiff);
    if (tiff) libtiff.TIFFClose(tiff);
    if (!is_done || stream.is_short_of_memory) {
        free(stream.memory);
        return stream.is_short_of_memory ? WI_TIFF_MEMORY : WI_TIFF_CORRUPT;
    }
    *bytes = stream.memory;
    *count = stream.count;
    return WI_TIFF_OK;
}
#endif
