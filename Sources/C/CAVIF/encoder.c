// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <avif/avif.h>
#include "CAVIF.h"
#include "library.h"
#include "encoder.h"
#include "status.h"

static avifImage *empty_picture(uint32_t width, uint32_t height, wi_avif_options options) {
    static const avifPixelFormat formats[] = {AVIF_PIXEL_FORMAT_YUV444, AVIF_PIXEL_FORMAT_YUV422,
                                              AVIF_PIXEL_FORMAT_YUV420};
    avifPixelFormat format = formats[options.is_lossless ? WI_AVIF_444 : options.subsampling];
    avifImage *image = libavif.avifImageCreate(width, height, (uint32_t)options.depth, format);
    if (!image) return NULL;
    image->colorPrimaries = (avifColorPrimaries)options.primaries;
    image->transferCharacteristics = (avifTransferCharacteristics)options.transfer;
    image->matrixCoefficients =
        options.is_lossless ? AVIF_MATRIX_COEFFICIENTS_IDENTITY : AVIF_MATRIX_COEFFICIENTS_BT601;
    return image;
}

avifResult wi_avif_picture(const void *pixels, size_t stride, uint32_t width, uint32_t height, int is_opaque,
                           wi_avif_options options, const wi_avif_blocks *blocks, avifImage **image) {
    *image = empty_picture(width, height, options);
    if (!*image) return AVIF_RESULT_OUT_OF_MEMORY;
    if (blocks->icc_count) libavif.avifImageSetProfileICC(*image, blocks->icc, blocks->icc_count);
    if (blocks->exif_count) libavif.avifImageSetMetadataExif(*image, blocks->exif, blocks->exif_count);
    if (blocks->xmp_count) libavif.avifImageSetMetadataXMP(*image, blocks->xmp, blocks->xmp_count);
    avifRGBImage rgb;
    libavif.avifRGBImageSetDefaults(&rgb, *image);
    rgb.depth = options.is_wide ? 16 : 8;
    rgb.format = AVIF_RGB_FORMAT_RGBA;
    rgb.ignoreAlpha = is_opaque;
    rgb.pixels = (uint8_t *)pixels;
    rgb.rowBytes = (uint32_t)stride;
    return libavif.avifImageRGBToYUV(*image, &rgb);
}

void wi_avif_configure(avifEncoder *encoder, wi_avif_options options) {
    // Quality 100 corresponds to quantizer 0, and quality 1 to the coarsest quantizer.
    int quantizer =
        options.is_lossless ? 0 : ((100 - options.quality) * AVIF_QUANTIZER_WORST_QUALITY + 49) / 99;
    encoder->speed = options.speed;
    encoder->minQuantizer = quantizer > 5 ? quantizer - 5 : 0;
    encoder->maxQuantizer = options.is_lossless ? 0 : quantizer;
    encoder->minQuantizerAlpha = 0;
    encoder->maxQuantizerAlpha = options.is_lossless ? 0 : quantizer / 2;
}

wi_avif_status wi_avif_encode(const void *pixels, size_t stride, uint32_t width, uint32_t height, int is_opaque,
                              wi_avif_options options, const wi_avif_blocks *blocks, uint8_t **bytes, size_t *count,
                              const char **message) {
    avifRWData output = AVIF_DATA_EMPTY;
    avifImage *image = NULL;
    avifEncoder *encoder = libavif.avifEncoderCreate();
    avifResult status = encoder ? wi_avif_picture(pixels, stride, width, height, is_opaque, options, blocks, &image)
                                : AVIF_RESULT_OUT_OF_MEMORY;
    if (status == AVIF_RESULT_OK) {
        wi_avif_configure(encoder, options);
        status = libavif.avifEncoderWrite(encoder, image, &output);
    }
    if (encoder) libavif.avifEncoderDestroy(encoder);
    if (image) libavif.avifImageDestroy(image);
    *message = libavif.avifResultToString(status);
    if (status != AVIF_RESULT_OK) {
        libavif.avifRWDataFree(&output);
        return wi_avif_status_of(status);
    }
    *bytes = output.data;
    *count = output.size;
    return WI_AVIF_OK;
}

void wi_avif_free(uint8_t *bytes) {
    avifRWData data = {bytes, 0};
    libavif.avifRWDataFree(&data);
}
#endif
