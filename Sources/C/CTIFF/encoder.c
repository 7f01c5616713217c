// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <stdlib.h>
#include "CTIFF.h"
#include "stream.h"

static int describe(TIFF *tiff, uint32_t width, uint32_t height, uint32_t channels, int compression, int level) {
    static const uint16_t kinds[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE};
    const uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    int is_done = TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width) && TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height) &&
                  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8) && TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, channels) &&
                  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB) &&
                  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
                  TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT) &&
                  TIFFSetField(tiff, TIFFTAG_COMPRESSION, kinds[compression]);
    if (is_done && channels == 4) is_done = TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha);
    // Differences of neighbours pack better than pixels.
    if (is_done && compression) is_done = TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
    if (is_done && compression == 2 && level >= 0) is_done = TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, level);
    return is_done && TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, TIFFDefaultStripSize(tiff, (uint32_t)-1));
}

wi_tiff_status wi_tiff_encode(const uint8_t *pixels, uint32_t width, uint32_t height, uint32_t channels,
                              int compression, int level, uint8_t **bytes, size_t *count) {
    wi_tiff_stream stream = {0};
    TIFF *tiff = wi_tiff_stream_open(&stream, "w", 0);
    int is_done = tiff && describe(tiff, width, height, channels, compression, level);
    for (uint32_t row = 0; is_done && row < height; row++)
        is_done = TIFFWriteScanline(tiff, (void *)(pixels + (size_t)row * width * channels), row, 0) == 1;
    is_done = is_done && TIFFFlush(tiff);
    if (tiff) TIFFClose(tiff);
    if (!is_done || stream.is_short_of_memory) {
        free(stream.memory);
        return stream.is_short_of_memory ? WI_TIFF_MEMORY : WI_TIFF_CORRUPT;
    }
    *bytes = stream.memory;
    *count = stream.count;
    return WI_TIFF_OK;
}
#endif
