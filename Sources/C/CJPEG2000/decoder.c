// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <openjpeg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CJPEG2000.h"

enum { MAX_COMPONENTS = 5 };

struct wi_jpeg2000_decoder {
    const uint8_t *data;
    size_t count, offset;
    opj_codec_t *codec;
    opj_stream_t *stream;
    opj_image_t *image;
    int hit_end, is_codestream;
    /// The indices of the color components and of alpha, which is -1 if there's none.
    uint32_t colors[4], color_count;
    int alpha;
    /// The size of the reduced image, and the smallest distance of the samples of a component.
    uint32_t width, height, step_x, step_y;
    char message[160];
};

static OPJ_SIZE_T read_bytes(void *buffer, OPJ_SIZE_T count, void *user) {
    wi_jpeg2000_decoder *own = user;
    size_t left = own->count - own->offset;
    if (!left) {
        own->hit_end = 1;
        return (OPJ_SIZE_T)-1;
    }
    if (count > left) count = left;
    memcpy(buffer, own->data + own->offset, count);
    own->offset += count;
    return count;
}

static OPJ_OFF_T skip_bytes(OPJ_OFF_T count, void *user) {
    wi_jpeg2000_decoder *own = user;
    if (count < 0) return -1;
    size_t left = own->count - own->offset;
    if ((uint64_t)count > left) {
        own->hit_end = 1;
        count = (OPJ_OFF_T)left;
    }
    own->offset += (size_t)count;
    return count;
}

static OPJ_BOOL seek_bytes(OPJ_OFF_T offset, void *user) {
    wi_jpeg2000_decoder *own = user;
    if (offset < 0 || (uint64_t)offset > own->count) return OPJ_FALSE;
    own->offset = (size_t)offset;
    return OPJ_TRUE;
}

static void note(const char *message, void *user) {
    wi_jpeg2000_decoder *own = user;
    if (own->message[0]) return;
    snprintf(own->message, sizeof own->message, "%s", message);
    own->message[strcspn(own->message, "\n")] = 0;
}

static wi_jpeg2000_status failure(const wi_jpeg2000_decoder *own) {
    if (strstr(own->message, "emory") || strstr(own->message, "allocat")) return WI_JPEG2000_MEMORY;
    // OpenJPEG compares some lengths with the size of the stream before it reads.
    int is_short = strstr(own->message, "stream length") || strstr(own->message, "too short");
    return own->hit_end || is_short ? WI_JPEG2000_TRUNCATED : WI_JPEG2000_CORRUPT;
}

/// Describes the image by its component with the most samples.
static void describe(wi_jpeg2000_decoder *own, wi_jpeg2000_info *info) {
    const opj_image_t *image = own->image;
    info->width = info->height = info->depth = 0;
    own->step_x = own->step_y = UINT32_MAX;
    for (uint32_t index = 0; index < image->numcomps; index++) {
        const opj_image_comp_t *part = &image->comps[index];
        if (part->dx < own->step_x) own->step_x = part->dx;
        if (part->dy < own->step_y) own->step_y = part->dy;
        if (part->w > info->width) info->width = part->w;
        if (part->h > info->height) info->height = part->h;
        if (part->prec > info->depth) info->depth = part->prec;
    }
    own->width = info->width;
    own->height = info->height;
    info->reduction = image->comps[0].factor;
    info->icc = image->icc_profile_buf;
    info->icc_count = image->icc_profile_buf ? image->icc_profile_len : 0;
}

wi_jpeg2000_status wi_jpeg2000_open(const uint8_t *data, size_t count, uint32_t reduction, wi_jpeg2000_info *info,
                                    wi_jpeg2000_decoder **result) {
    wi_jpeg2000_decoder *own = calloc(1, sizeof *own);
    if (!own) return WI_JPEG2000_MEMORY;
    *result = own;
    own->data = data;
    own->count = count;
    own->is_codestream = count > 1 && data[0] == 0xFF && data[1] == 0x4F;
    own->codec = opj_create_decompress(own->is_codestream ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
    own->stream = opj_stream_create(64 << 10, OPJ_TRUE);
    if (!own->codec || !own->stream) return WI_JPEG2000_MEMORY;
    opj_set_error_handler(own->codec, note, own);
    opj_stream_set_user_data(own->stream, own, NULL);
    opj_stream_set_user_data_length(own->stream, count);
    opj_stream_set_read_function(own->stream, read_bytes);
    opj_stream_set_skip_function(own->stream, skip_bytes);
    opj_stream_set_seek_function(own->stream, seek_bytes);
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    // Keep the strict mode: without it, OpenJPEG 2.5.0 reads past the end of corrupt packet headers.
    if (!opj_setup_decoder(own->codec, &parameters) ||
        !opj_read_header(own->stream, own->codec, &own->image))
        return failure(own);
    if (!own->image->numcomps || own->image->numcomps > MAX_COMPONENTS) return WI_JPEG2000_UNSUPPORTED;
    while (reduction > 0 && !opj_set_decoded_resolution_factor(own->codec, reduction)) reduction--;
    own->message[0] = 0;
    // An area of zeros is the whole image. The call calculates the reduced size of the components.
    if (!opj_set_decode_area(own->codec, own->image, 0, 0, 0, 0)) return failure(own);
    memset(info, 0, sizeof *info);
    describe(own, info);
    return WI_JPEG2000_OK;
}

void wi_jpeg2000_close(wi_jpeg2000_decoder *own) {
    if (!own) return;
    if (own->image) opj_image_destroy(own->image);
    if (own->stream) opj_stream_destroy(own->stream);
    if (own->codec) opj_destroy_codec(own->codec);
    free(own);
}

const char *wi_jpeg2000_message(const wi_jpeg2000_decoder *own) { return own ? own->message : ""; }

/// Returns the number of colors that the color space of a file has, or 0 if it's unknown.
static uint32_t declared_colors(const opj_image_t *image) {
    const OPJ_UINT32 space_end = 20;
    switch (image->color_space) {
    case OPJ_CLRSPC_GRAY:
        return 1;
    case OPJ_CLRSPC_SRGB:
    case OPJ_CLRSPC_SYCC:
    case OPJ_CLRSPC_EYCC:
        return 3;
    case OPJ_CLRSPC_CMYK:
        return 4;
    default:
        // The header of a profile contains the color space (ICC.1:2010, section 7.2.6).
        if (!image->icc_profile_buf || image->icc_profile_len < space_end) return 0;
        if (!memcmp(image->icc_profile_buf + 16, "GRAY", 4)) return 1;
        return memcmp(image->icc_profile_buf + 16, "RGB ", 4) ? 0 : 3;
    }
}

/// Returns the index of the component that contains alpha although the file doesn't define its channels, or -1 if
/// there's none. Programs write such files with one component in addition to the colors.
static int undeclared_alpha(const wi_jpeg2000_decoder *own) {
    const opj_image_t *image = own->image;
    // Two and four components of a codestream are colors with alpha.
    if (own->is_codestream) return image->numcomps == 2 || image->numcomps == 4 ? (int)image->numcomps - 1 : -1;
    for (uint32_t index = 0; index < image->numcomps; index++)
        if (image->comps[index].alpha) return -1;
    const uint32_t colors = declared_colors(image);
    return colors && image->numcomps == colors + 1 ? (int)colors : -1;
}

wi_jpeg2000_status wi_jpeg2000_decode(wi_jpeg2000_decoder *own, wi_jpeg2000_info *info) {
    opj_image_t *image = own->image;
    if (!opj_decode(own->codec, own->stream, image)) return failure(own);
    own->alpha = undeclared_alpha(own);
    own->color_count = 0;
    for (uint32_t index = 0; index < image->numcomps; index++) {
        const opj_image_comp_t *part = &image->comps[index];
        if (!part->data || !part->w || !part->h || !part->prec || part->prec > 16) return failure(own);
        // Type 65535 is neither a color nor opacity.
        if ((part->alpha == 1 || part->alpha == 2) && own->alpha < 0) own->alpha = (int)index;
        if (!part->alpha && own->alpha != (int)index && own->color_count < 4) own->colors[own->color_count++] = index;
    }
    if (!own->color_count) return WI_JPEG2000_UNSUPPORTED;
    if (own->color_count == 2) own->color_count = 1;
    if (own->color_count == 4 && image->color_space != OPJ_CLRSPC_CMYK) own->color_count = 3;
    int is_subsampled = own->color_count == 3 && image->comps[own->colors[1]].dx != image->comps[own->colors[0]].dx;
    if (is_subsampled && image->color_space != OPJ_CLRSPC_EYCC) image->color_space = OPJ_CLRSPC_SYCC;
    describe(own, info);
    info->has_alpha = own->alpha >= 0;
    info->is_premultiplied = own->alpha >= 0 && image->comps[own->alpha].alpha == 2;
    info->colors = own->color_count == 1 ? 1 : 3;
    return WI_JPEG2000_OK;
}

/// Returns a sample as a fraction of the maximum value.
static double sample(const wi_jpeg2000_decoder *own, uint32_t index, uint32_t x, uint32_t y) {
    const opj_image_comp_t *part = &own->image->comps[index];
    uint32_t column = x / (part->dx / own->step_x), row = y / (part->dy / own->step_y);
    if (column >= part->w) column = part->w - 1;
    if (row >= part->h) row = part->h - 1;
    double value = part->data[(size_t)row * part->w + column];
    if (part->sgnd) value += (double)(1u << (part->prec - 1));
    value /= (double)((1u << part->prec) - 1);
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

static void convert(const wi_jpeg2000_decoder *own, uint32_t x, uint32_t y, double *pixel) {
    double values[4] = {0};
    for (uint32_t index = 0; index < own->color_count; index++)
        values[index] = sample(own, own->colors[index], x, y);
    if (own->color_count == 4) {
        for (int channel = 0; channel < 3; channel++) pixel[channel] = (1 - values[channel]) * (1 - values[3]);
    } else if (own->color_count == 3 &&
               (own->image->color_space == OPJ_CLRSPC_SYCC || own->image->color_space == OPJ_CLRSPC_EYCC)) {
        // ITU-R BT.601, as in JPEG. Zero is at half of the number of values.
        uint32_t bits = own->image->comps[own->colors[1]].prec;
        double zero = (double)(1u << (bits - 1)) / (double)((1u << bits) - 1);
        double blue = values[1] - zero, red = values[2] - zero;
        pixel[0] = values[0] + 1.402 * red;
        pixel[1] = values[0] - 0.344136 * blue - 0.714136 * red;
        pixel[2] = values[0] + 1.772 * blue;
    } else {
        for (int channel = 0; channel < 3; channel++) pixel[channel] = values[own->color_count == 1 ? 0 : channel];
    }
    pixel[3] = own->alpha >= 0 ? sample(own, (uint32_t)own->alpha, x, y) : 1;
}

void wi_jpeg2000_rows(const wi_jpeg2000_decoder *own, int bits, void *out, size_t stride) {
    for (uint32_t y = 0; y < own->height; y++) {
        uint8_t *row = (uint8_t *)out + (size_t)y * stride;
        for (uint32_t x = 0; x < own->width; x++) {
            double pixel[4];
            convert(own, x, y, pixel);
            for (int channel = 0; channel < 4; channel++) {
                double value = pixel[channel] < 0 ? 0 : pixel[channel] > 1 ? 1 : pixel[channel];
                uint16_t word = (uint16_t)(value * 65535 + 0.5);
                if (bits == 16) memcpy(row + (size_t)x * 8 + channel * 2, &word, sizeof word);
                else row[(size_t)x * 4 + channel] = (uint8_t)(value * 255 + 0.5);
            }
        }
    }
}

const char *wi_jpeg2000_version(void) { return opj_version(); }
#endif
