// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <libheif/heif.h>
#include <stdlib.h>
#include <string.h>
#include "CHEIF.h"

typedef struct {
    uint8_t *bytes;
    size_t count;
} output;

static struct heif_error on_write(struct heif_context *context, const void *data, size_t size, void *user) {
    output *to = user;
    (void)context;
    struct heif_error done = {heif_error_Ok, heif_suberror_Unspecified, "ok"};
    struct heif_error failed = {heif_error_Memory_allocation_error, heif_suberror_Unspecified, "no memory"};
    to->bytes = malloc(size);
    if (!to->bytes) return failed;
    memcpy(to->bytes, data, size);
    to->count = size;
    return done;
}

int wi_heif_can_encode(void) { return heif_have_encoder_for_format(heif_compression_HEVC); }

static struct heif_image *picture(const uint8_t *pixels, size_t stride, uint32_t width, uint32_t height,
                                  int is_opaque) {
    struct heif_image *image = NULL;
    int channels = is_opaque ? 3 : 4, own_stride = 0;
    enum heif_chroma chroma = is_opaque ? heif_chroma_interleaved_RGB : heif_chroma_interleaved_RGBA;
    if (heif_image_create((int)width, (int)height, heif_colorspace_RGB, chroma, &image).code) return NULL;
    uint8_t *plane = NULL;
    if (!heif_image_add_plane(image, heif_channel_interleaved, (int)width, (int)height, 8).code)
        plane = heif_image_get_plane(image, heif_channel_interleaved, &own_stride);
    if (!plane) {
        heif_image_release(image);
        return NULL;
    }
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            memcpy(plane + (size_t)y * (size_t)own_stride + (size_t)x * (size_t)channels, pixels + y * stride + x * 4,
                   (size_t)channels);
    return image;
}

wi_heif_status wi_heif_encode(const uint8_t *pixels, size_t stride, uint32_t width, uint32_t height, int is_opaque,
                              int quality, uint8_t **bytes, size_t *count) {
    output to = {NULL, 0};
    struct heif_writer writer = {.writer_api_version = 1, .write = on_write};
    struct heif_context *context = heif_context_alloc();
    struct heif_image *image = picture(pixels, stride, width, height, is_opaque);
    struct heif_encoder *encoder = NULL;
    wi_heif_status status = context && image ? WI_HEIF_OK : WI_HEIF_MEMORY;
    if (status == WI_HEIF_OK &&
        heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder).code)
        status = WI_HEIF_UNSUPPORTED;
    if (status == WI_HEIF_OK) {
        heif_encoder_set_lossy_quality(encoder, quality);
        if (heif_context_encode_image(context, image, encoder, NULL, NULL).code ||
            heif_context_write(context, &writer, &to).code || !to.bytes)
            status = WI_HEIF_CORRUPT;
    }
    if (encoder) heif_encoder_release(encoder);
    if (image) heif_image_release(image);
    if (context) heif_context_free(context);
    if (status != WI_HEIF_OK) {
        free(to.bytes);
        return status;
    }
    *bytes = to.bytes;
    *count = to.count;
    return WI_HEIF_OK;
}
#endif
