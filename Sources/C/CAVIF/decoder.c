// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <avif/avif.h>
#include <stdlib.h>
#include <string.h>
#include "CAVIF.h"
#include "library.h"
#include "status.h"

struct wi_avif_decoder {
    avifDecoder *decoder;
    /// The size in the header, for which the caller allocates memory. libavif changes the size of its image with each
    /// frame, even if a frame fails.
    uint32_t width, height;
    const char *message;
};

wi_avif_status wi_avif_status_of(avifResult result) {
    switch (result) {
    case AVIF_RESULT_OK:
        return WI_AVIF_OK;
    case AVIF_RESULT_TRUNCATED_DATA:
    case AVIF_RESULT_WAITING_ON_IO:
        return WI_AVIF_TRUNCATED;
    case AVIF_RESULT_OUT_OF_MEMORY:
        return WI_AVIF_MEMORY;
    case AVIF_RESULT_UNSUPPORTED_DEPTH:
    case AVIF_RESULT_NO_CODEC_AVAILABLE:
    case AVIF_RESULT_NOT_IMPLEMENTED:
        return WI_AVIF_UNSUPPORTED;
    default:
        return WI_AVIF_CORRUPT;
    }
}

/// Returns the offset of a centered region of `part` pixels that is shifted by a fraction, clamped to the image.
static uint32_t edge(uint32_t whole, uint32_t part, uint32_t numerator, uint32_t denominator) {
    double place = ((double)whole - part) / 2;
    if (denominator) place += (double)(int32_t)numerator / denominator;
    if (place < 0) return 0;
    if (place > whole - part) return whole - part;
    return (uint32_t)place;
}

void wi_avif_describe(const avifDecoder *decoder, wi_avif_info *info) {
    const avifImage *image = decoder->image;
    info->width = image->width;
    info->height = image->height;
    info->depth = image->depth;
    info->has_alpha = decoder->alphaPresent;
    info->frames = decoder->imageCount > 0 ? (uint32_t)decoder->imageCount : 0;
    info->icc = image->icc.size ? image->icc.data : NULL;
    info->icc_count = image->icc.size;
    info->primaries = image->colorPrimaries;
    info->transfer = image->transferCharacteristics;
    info->crop_x = info->crop_y = 0;
    info->crop_width = image->width;
    info->crop_height = image->height;
    if (!(image->transformFlags & AVIF_TRANSFORM_CLAP)) return;
    const avifCleanApertureBox *box = &image->clap;
    if (!box->widthD || !box->heightD) return;
    uint32_t width = box->widthN / box->widthD, height = box->heightN / box->heightD;
    if (!width || !height || width > image->width || height > image->height) return;
    info->crop_width = width;
    info->crop_height = height;
    info->crop_x = edge(image->width, width, box->horizOffN, box->horizOffD);
    info->crop_y = edge(image->height, height, box->vertOffN, box->vertOffD);
}

wi_avif_status wi_avif_open(const uint8_t *data, size_t count, uint32_t max_pixels, uint32_t max_side,
                            uint32_t max_frames, int uses_tracks, wi_avif_info *info, wi_avif_decoder **result) {
    wi_avif_decoder *own = calloc(1, sizeof *own);
    if (!own) return WI_AVIF_MEMORY;
    *result = own;
    own->decoder = libavif.avifDecoderCreate();
    if (!own->decoder) return WI_AVIF_MEMORY;
    own->decoder->requestedSource = uses_tracks ? AVIF_DECODER_SOURCE_TRACKS : AVIF_DECODER_SOURCE_PRIMARY_ITEM;
    own->decoder->ignoreExif = AVIF_TRUE;
    own->decoder->ignoreXMP = AVIF_TRUE;
    own->decoder->imageSizeLimit =
        max_pixels < AVIF_DEFAULT_IMAGE_SIZE_LIMIT ? max_pixels : AVIF_DEFAULT_IMAGE_SIZE_LIMIT;
    own->decoder->imageDimensionLimit = max_side;
    own->decoder->imageCountLimit = max_frames;
    // Like browsers, accept files without a stored depth or with an invalid crop, because many encoders write them.
    own->decoder->strictFlags &= ~(avifStrictFlags)(AVIF_STRICT_PIXI_REQUIRED | AVIF_STRICT_CLAP_VALID);
    avifResult status = libavif.avifDecoderSetIOMemory(own->decoder, data, count);
    if (status == AVIF_RESULT_OK) status = libavif.avifDecoderParse(own->decoder);
    own->message = libavif.avifResultToString(status);
    if (status == AVIF_RESULT_OK) {
        wi_avif_describe(own->decoder, info);
        own->width = info->width;
        own->height = info->height;
    }
    return wi_avif_status_of(status);
}

void wi_avif_close(wi_avif_decoder *own) {
    if (!own) return;
    if (own->decoder) libavif.avifDecoderDestroy(own->decoder);
    free(own);
}

void wi_avif_use_threads(wi_avif_decoder *own, int threads) { own->decoder->maxThreads = threads; }

const char *wi_avif_message(const wi_avif_decoder *own) { return own && own->message ? own->message : "out of memory"; }

double wi_avif_mean_milliseconds(const wi_avif_decoder *own) {
    if (!own->decoder || own->decoder->imageCount <= 0) return 0;
    double mean = own->decoder->duration * 1000 / own->decoder->imageCount;
    // The comparison is also false if the duration isn't a number.
    return mean > 0 && mean < 1e9 ? mean : 0;
}

wi_avif_status wi_avif_frame(wi_avif_decoder *own, uint32_t index, int bits, void *out, size_t stride,
                             int *is_premultiplied) {
    size_t row_bytes = (size_t)own->width * (bits == 16 ? 8 : 4);
    if (!row_bytes || stride < row_bytes || stride > UINT32_MAX) return WI_AVIF_INCONSISTENT;
    avifResult status = libavif.avifDecoderNthImage(own->decoder, index);
    if (status == AVIF_RESULT_OK) {
        const avifImage *image = own->decoder->image;
        if (image->width != own->width || image->height != own->height) return WI_AVIF_INCONSISTENT;
        avifRGBImage rgb;
        libavif.avifRGBImageSetDefaults(&rgb, image);
        rgb.depth = bits == 16 ? 16 : 8;
        rgb.format = AVIF_RGB_FORMAT_RGBA;
        rgb.alphaPremultiplied = image->alphaPremultiplied;
        rgb.pixels = out;
        rgb.rowBytes = (uint32_t)stride;
        *is_premultiplied = image->alphaPremultiplied;
        status = libavif.avifImageYUVToRGB(image, &rgb);
    }
    own->message = libavif.avifResultToString(status);
    return wi_avif_status_of(status);
}

const char *wi_avif_version(void) { return libavif.avifVersion(); }

void wi_avif_codecs(char names[256]) { libavif.avifCodecVersions(names); }
#endif
