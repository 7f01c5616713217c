// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <libheif/heif.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "CHEIF.h"
#include "library.h"

typedef struct {
    uint8_t *bytes;
    size_t count;
} output;

static struct heif_error on_write(struct heif_context *context, const void *data, size_t size, void *user) {
    output *to = user;
    (void)context;
    struct heif_error done = {heif_error_Ok, heif_suberror_Unspecified, "ok"};
    struct heif_error failed = {heif_error_Memory_allocation_error, heif_suberror_Unspecified, "out of memory"};
    to->bytes = malloc(size);
    if (!to->bytes) return failed;
    memcpy(to->bytes, data, size);
    to->count = size;
    return done;
}

int wi_heif_can_encode(void) { return libheif.heif_have_encoder_for_format(heif_compression_HEVC); }

static struct heif_image *picture(const uint8_t *pixels, size_t stride, uint32_t width, uint32_t height,
                                  int is_opaque) {
    struct heif_image *image = NULL;
    int channels = is_opaque ? 3 : 4, own_stride = 0;
    enum heif_chroma chroma = is_opaque ? heif_chroma_interleaved_RGB : heif_chroma_interleaved_RGBA;
    if (libheif.heif_image_create((int)width, (int)height, heif_colorspace_RGB, chroma, &image).code) return NULL;
    uint8_t *plane = NULL;
    if (!libheif.heif_image_add_plane(image, heif_channel_interleaved, (int)width, (int)height, 8).code)
        plane = libheif.heif_image_get_plane(image, heif_channel_interleaved, &own_stride);
    if (!plane) {
        libheif.heif_image_release(image);
        return NULL;
    }
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            memcpy(plane + (size_t)y * (size_t)own_stride + (size_t)x * (size_t)channels, pixels + y * stride + x * 4,
                   (size_t)channels);
    return image;
}

static int embed(struct heif_context *context, struct heif_image_handle *handle, const wi_heif_blocks *blocks) {
    if (blocks->exif_count > INT_MAX || blocks->xmp_count > INT_MAX) return 0;
    return (!blocks->exif_count ||
            !libheif.heif_context_add_exif_metadata(context, handle, blocks->exif, (int)blocks->exif_count).code) &&
           (!blocks->xmp_count ||
            !libheif.heif_context_add_XMP_metadata(context, handle, blocks->xmp, (int)blocks->xmp_count).code);
}

/// Sets the code points. The matrix is that of BT.601, which is the default of libheif.
static int set_colors(struct heif_image *image, const wi_heif_options *options) {
    if (!options->primaries) return 1;
    struct heif_color_profile_nclx *nclx = libheif.heif_nclx_color_profile_alloc();
    if (!nclx) return 0;
    int is_done = !libheif.heif_nclx_color_profile_set_color_primaries(nclx, (uint16_t)options->primaries).code &&
                  !libheif.heif_nclx_color_profile_set_transfer_characteristics(nclx, (uint16_t)options->transfer).code &&
                  !libheif.heif_nclx_color_profile_set_matrix_coefficients(nclx, 6).code;
    nclx->full_range_flag = 1;
    is_done = is_done && !libheif.heif_image_set_nclx_color_profile(image, nclx).code;
    libheif.heif_nclx_color_profile_free(nclx);
    return is_done;
}

static wi_heif_status write(struct heif_context *context, struct heif_image *image, const wi_heif_options *options,
                            const wi_heif_blocks *blocks) {
    struct heif_encoder *encoder = NULL;
    struct heif_image_handle *handle = NULL, *thumbnail = NULL;
    if (libheif.heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder).code)
        return WI_HEIF_UNSUPPORTED;
    libheif.heif_encoder_set_lossy_quality(encoder, options->quality);
    // Encoders other than x265 don't have the parameter, or have other values.
    if (options->preset) libheif.heif_encoder_set_parameter_string(encoder, "preset", options->preset);
    struct heif_encoding_options *encoding = libheif.heif_encoding_options_alloc();
    // By default, libheif omits the code points.
    if (encoding && encoding->version >= 4 && options->primaries)
        encoding->macOS_compatibility_workaround_no_nclx_profile = 0;
    int is_done = !libheif.heif_encoder_set_parameter_string(encoder, "chroma", options->chroma).code &&
                  set_colors(image, options) &&
                  (!blocks->icc_count ||
                   !libheif.heif_image_set_raw_color_profile(image, "prof", blocks->icc, blocks->icc_count).code) &&
                  !libheif.heif_context_encode_image(context, image, encoder, encoding, &handle).code &&
                  embed(context, handle, blocks) &&
                  (!options->thumbnail_side ||
                   !libheif.heif_context_encode_thumbnail(context, image, handle, encoder, NULL, options->thumbnail_side,
                                                  &thumbnail)
                        .code);
    if (thumbnail) libheif.heif_image_handle_release(thumbnail);
    if (handle) libheif.heif_image_handle_release(handle);
    if (encoding) libheif.heif_encoding_options_free(encoding);
    libheif.heif_encoder_release(encoder);
    return is_done ? WI_HEIF_OK : WI_HEIF_CORRUPT;
}

wi_heif_status wi_heif_encode(const uint8_t *pixels, size_t stride, uint32_t width, uint32_t height, int is_opaque,
                              const wi_heif_options *options, const wi_heif_blocks *blocks, uint8_t **bytes,
                              size_t *count) {
    output to = {NULL, 0};
    struct heif_writer writer = {.writer_api_version = 1, .write = on_write};
    struct heif_context *context = libheif.heif_context_alloc();
    struct heif_image *image = picture(pixels, stride, width, height, is_opaque);
    wi_heif_status status = context && image ? write(context, image, options, blocks) : WI_HEIF_MEMORY;
    if (status == WI_HEIF_OK && (libheif.heif_context_write(context, &writer, &to).code || !to.bytes))
        status = WI_HEIF_CORRUPT;
    if (image) libheif.heif_image_release(image);
    if (context) libheif.heif_context_free(context);
    if (status != WI_HEIF_OK) {
        free(to.bytes);
        return status;
    }
    *bytes = to.bytes;
    *count = to.count;
    return WI_HEIF_OK;
}
#endif
