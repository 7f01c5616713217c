// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <stdlib.h>
#include "CAVIF.h"
#include "library.h"
#include "encoder.h"
#include "status.h"

struct wi_avif_animator {
    avifEncoder *encoder;
    wi_avif_options options;
    const char *message;
};

wi_avif_animator *wi_avif_animator_open(wi_avif_options options) {
    wi_avif_animator *animator = calloc(1, sizeof *animator);
    if (!animator) return NULL;
    animator->options = options;
    animator->encoder = libavif.avifEncoderCreate();
    if (!animator->encoder) {
        free(animator);
        return NULL;
    }
    wi_avif_configure(animator->encoder, options);
    animator->encoder->timescale = 1000;
    return animator;
}

void wi_avif_animator_close(wi_avif_animator *animator) {
    if (!animator) return;
    libavif.avifEncoderDestroy(animator->encoder);
    free(animator);
}

int wi_avif_animator_set_plays(wi_avif_animator *animator, uint32_t plays) {
#if AVIF_VERSION_MAJOR >= 1
    // The library counts the repetitions after the first play.
    uint32_t repetitions = plays > INT32_MAX ? INT32_MAX : plays - 1;
    animator->encoder->repetitionCount = plays == 0 ? AVIF_REPETITION_COUNT_INFINITE : (int)repetitions;
    return 1;
#else
    (void)animator;
    (void)plays;
    return 0;
#endif
}

const char *wi_avif_animator_message(const wi_avif_animator *animator) {
    return animator->message ? animator->message : "out of memory";
}

wi_avif_status wi_avif_animator_add(wi_avif_animator *animator, const void *pixels, size_t stride, uint32_t width,
                                    uint32_t height, int is_opaque, const wi_avif_blocks *blocks,
                                    uint64_t milliseconds) {
    avifImage *image = NULL;
    avifResult status = wi_avif_picture(pixels, stride, width, height, is_opaque, animator->options, blocks, &image);
    if (status == AVIF_RESULT_OK)
        status = libavif.avifEncoderAddImage(animator->encoder, image, milliseconds, AVIF_ADD_IMAGE_FLAG_NONE);
    if (image) libavif.avifImageDestroy(image);
    animator->message = libavif.avifResultToString(status);
    return wi_avif_status_of(status);
}

wi_avif_status wi_avif_animator_finish(wi_avif_animator *animator, uint8_t **bytes, size_t *count) {
    avifRWData output = AVIF_DATA_EMPTY;
    avifResult status = libavif.avifEncoderFinish(animator->encoder, &output);
    animator->message = libavif.avifResultToString(status);
    if (status != AVIF_RESULT_OK) {
        libavif.avifRWDataFree(&output);
        return wi_avif_status_of(status);
    }
    *bytes = output.data;
    *count = output.size;
    return WI_AVIF_OK;
}
#endif
