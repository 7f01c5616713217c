// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <libheif/heif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "CHEIF.h"
#include "library.h"

struct wi_heif_decoder {
    struct heif_context *context;
    /// The handle that is decoded, either of the image or of its thumbnail.
    struct heif_image_handle *handle;
    /// The handle of the image while a thumbnail replaces it.
    struct heif_image_handle *picture;
    uint32_t width, height;
    char message[160];
};

static wi_heif_status note(wi_heif_decoder *own, struct heif_error error) {
    if (error.code == heif_error_Ok) return WI_HEIF_OK;
    snprintf(own->message, sizeof own->message, "%s", error.message ? error.message : "libheif can't decode it");
    if (error.subcode == heif_suberror_End_of_data) return WI_HEIF_TRUNCATED;
    switch (error.code) {
    case heif_error_Memory_allocation_error:
        return WI_HEIF_MEMORY;
    case heif_error_Unsupported_filetype:
    case heif_error_Unsupported_feature:
        return WI_HEIF_UNSUPPORTED;
    default:
        return WI_HEIF_CORRUPT;
    }
}

static int is_part(heif_item_id item, const uint32_t *parts, size_t part_count) {
    for (size_t index = 0; index < part_count; index++)
        if (parts[index] == item) return 1;
    return 0;
}

static wi_heif_status choose(wi_heif_decoder *own, uint32_t picture, const uint32_t *parts, size_t part_count,
                             uint32_t *pictures) {
    heif_item_id primary = 0, *ids;
    int count = libheif.heif_context_get_number_of_top_level_images(own->context);
    *pictures = count > 0 ? (uint32_t)count : 0;
    wi_heif_status status = note(own, libheif.heif_context_get_primary_image_ID(own->context, &primary));
    if (status != WI_HEIF_OK) return status;
    if (picture) {
        if (count <= 0) return WI_HEIF_END;
        ids = calloc((size_t)count, sizeof *ids);
        if (!ids) return WI_HEIF_MEMORY;
        libheif.heif_context_get_list_of_top_level_image_IDs(own->context, ids, count);
        // The primary image is first, and the others follow in the order of the file.
        uint32_t place = 0, left_out = 0;
        heif_item_id chosen = primary;
        for (int index = 0; index < count; index++) {
            if (is_part(ids[index], parts, part_count))
                left_out++;
            else if (ids[index] != primary && ++place == picture)
                chosen = ids[index];
        }
        free(ids);
        *pictures -= left_out;
        if (picture >= *pictures) return WI_HEIF_END;
        primary = chosen;
    }
    return note(own, libheif.heif_context_get_image_handle(own->context, primary, &own->handle));
}

static wi_heif_status describe(struct heif_image_handle *handle, wi_heif_info *info) {
    int width = libheif.heif_image_handle_get_width(handle), height = libheif.heif_image_handle_get_height(handle);
    int depth = libheif.heif_image_handle_get_luma_bits_per_pixel(handle);
    if (width <= 0 || height <= 0) return WI_HEIF_CORRUPT;
    info->width = (uint32_t)width;
    info->height = (uint32_t)height;
    info->depth = depth > 0 ? (uint32_t)depth : 8;
    info->has_alpha = libheif.heif_image_handle_has_alpha_channel(handle);
    info->is_premultiplied = libheif.heif_image_handle_is_premultiplied_alpha(handle);
    info->icc_count = libheif.heif_image_handle_get_raw_color_profile_size(handle);
    struct heif_color_profile_nclx *numbers = NULL;
    if (libheif.heif_image_handle_get_nclx_color_profile(handle, &numbers).code == heif_error_Ok && numbers) {
        info->primaries = (uint32_t)numbers->color_primaries;
        info->transfer = (uint32_t)numbers->transfer_characteristics;
        libheif.heif_nclx_color_profile_free(numbers);
    }
    return WI_HEIF_OK;
}

wi_heif_status wi_heif_open(const uint8_t *data, size_t count, uint32_t max_side, uint32_t picture,
                            const uint32_t *parts, size_t part_count, wi_heif_info *info, wi_heif_decoder **result) {
    wi_heif_decoder *own = calloc(1, sizeof *own);
    if (!own) return WI_HEIF_MEMORY;
    *result = own;
    own->context = libheif.heif_context_alloc();
    if (!own->context) return WI_HEIF_MEMORY;
    libheif.heif_context_set_maximum_image_size_limit(own->context, (int)(max_side > 0x7FFFFFFF ? 0x7FFFFFFF : max_side));
    wi_heif_status status = note(own, libheif.heif_context_read_from_memory_without_copy(own->context, data, count, NULL));
    if (status == WI_HEIF_OK) status = choose(own, picture, parts, part_count, &info->pictures);
    if (status != WI_HEIF_OK) return status;
    status = describe(own->handle, info);
    own->width = info->width;
    own->height = info->height;
    return status;
}

/// Returns whether two images have the same aspect ratio, with a tolerance of half a pixel of the smaller one.
static int is_alike(const wi_heif_info *small, const wi_heif_info *large) {
    double across = (double)small->width * large->height, down = (double)small->height * large->width;
    double slack = large->width > large->height ? large->width : large->height;
    return across - down <= slack && down - across <= slack;
}

/// Replaces the image with its thumbnail `handle`, which `found` describes.
static void replace(wi_heif_decoder *own, struct heif_image_handle *handle, const wi_heif_info *found,
                    wi_heif_info *info) {
    const uint32_t pictures = info->pictures;
    own->picture = own->handle;
    own->handle = handle;
    *info = *found;
    info->pictures = pictures;
    own->width = info->width;
    own->height = info->height;
}

int wi_heif_use_thumbnail_item(wi_heif_decoder *own, uint32_t item, wi_heif_info *info) {
    struct heif_image_handle *handle = NULL;
    wi_heif_info found = {0};
    if (own->picture || libheif.heif_image_handle_get_thumbnail(own->handle, item, &handle).code != heif_error_Ok) return 0;
    if (describe(handle, &found) != WI_HEIF_OK) {
        libheif.heif_image_handle_release(handle);
        return 0;
    }
    replace(own, handle, &found, info);
    return 1;
}

int wi_heif_use_thumbnail(wi_heif_decoder *own, double width, double height, uint32_t depth, wi_heif_info *info) {
    heif_item_id ids[16];
    struct heif_image_handle *best = NULL;
    wi_heif_info chosen = *info;
    if (own->picture) return 0;
    int count = libheif.heif_image_handle_get_list_of_thumbnail_IDs(own->handle, ids, 16);
    for (int index = 0; index < count && index < 16; index++) {
        struct heif_image_handle *handle = NULL;
        wi_heif_info found = {0};
        if (libheif.heif_image_handle_get_thumbnail(own->handle, ids[index], &handle).code != heif_error_Ok) continue;
        int fits = describe(handle, &found) == WI_HEIF_OK && found.width >= width && found.height >= height &&
                   found.depth >= depth && (found.has_alpha || !info->has_alpha) && is_alike(&found, info) &&
                   found.width < chosen.width;
        struct heif_image_handle *unused = fits ? best : handle;
        if (unused) libheif.heif_image_handle_release(unused);
        if (!fits) continue;
        best = handle;
        chosen = found;
    }
    if (!best) return 0;
    replace(own, best, &chosen, info);
    return 1;
}

void wi_heif_use_picture(wi_heif_decoder *own, const wi_heif_info *info) {
    if (!own->picture) return;
    libheif.heif_image_handle_release(own->handle);
    own->handle = own->picture;
    own->picture = NULL;
    own->width = info->width;
    own->height = info->height;
}

void wi_heif_close(wi_heif_decoder *own) {
    if (!own) return;
    if (own->handle) libheif.heif_image_handle_release(own->handle);
    if (own->picture) libheif.heif_image_handle_release(own->picture);
    if (own->context) libheif.heif_context_free(own->context);
    free(own);
}

const char *wi_heif_message(const wi_heif_decoder *own) {
    return own && own->message[0] ? own->message : "libheif can't decode it";
}

int wi_heif_icc(const wi_heif_decoder *own, uint8_t *out) {
    return libheif.heif_image_handle_get_raw_color_profile(own->handle, out).code == heif_error_Ok;
}

/// Copies rows. 16-bit samples are scaled up from `depth` bits.
static void copy(const uint8_t *from, size_t from_stride, uint8_t *to, size_t to_stride, uint32_t width,
                 uint32_t height, int bits, int depth) {
    uint32_t top = (1u << depth) - 1;
    for (uint32_t y = 0; y < height; y++, from += from_stride, to += to_stride) {
        if (bits == 8) {
            memcpy(to, from, (size_t)width * 4);
            continue;
        }
        const uint8_t *bytes = from;
        uint16_t *words = (uint16_t *)(void *)to;
        for (size_t index = 0; index < (size_t)width * 4; index++, bytes += 2) {
            uint32_t value = bytes[0] | (uint32_t)bytes[1] << 8;
            words[index] = (uint16_t)(((value > top ? top : value) * 65535u + top / 2) / top);
        }
    }
}

wi_heif_status wi_heif_decode(wi_heif_decoder *own, int threads, int bits, void *out, size_t stride) {
    struct heif_image *image = NULL;
    struct heif_decoding_options *options = libheif.heif_decoding_options_alloc();
    if (!options) return WI_HEIF_MEMORY;
    options->convert_hdr_to_8bit = bits == 8;
    // libheif uses the calling thread if the number is 0, and starts a thread per tile otherwise.
    libheif.heif_context_set_max_decoding_threads(own->context, threads > 1 ? threads : 0);
    enum heif_chroma layout = bits == 8 ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RRGGBBAA_LE;
    wi_heif_status status =
        note(own, libheif.heif_decode_image(own->handle, &image, heif_colorspace_RGB, layout, options));
    libheif.heif_decoding_options_free(options);
    if (status != WI_HEIF_OK) return status;
    int source_stride = 0, bytes = bits / 2;
    const uint8_t *pixels = libheif.heif_image_get_plane_readonly(image, heif_channel_interleaved, &source_stride);
    int width = libheif.heif_image_get_width(image, heif_channel_interleaved);
    int height = libheif.heif_image_get_height(image, heif_channel_interleaved);
    int depth = libheif.heif_image_get_bits_per_pixel_range(image, heif_channel_interleaved);
    if (!pixels || width < 0 || height < 0 || (uint32_t)width != own->width || (uint32_t)height != own->height ||
        source_stride < width * bytes || stride < (size_t)width * (size_t)bytes ||
        (bits == 16 && (depth < 1 || depth > 16))) {
        status = WI_HEIF_INCONSISTENT;
    } else {
        copy(pixels, (size_t)source_stride, out, stride, own->width, own->height, bits, depth);
    }
    libheif.heif_image_release(image);
    return status;
}

const char *wi_heif_version(void) { return libheif.heif_get_version(); }

const char *wi_heif_decoder_name(int index) {
    const struct heif_decoder_descriptor *found[32];
    int count = libheif.heif_get_decoder_descriptors(heif_compression_undefined, found, 32);
    return index >= 0 && index < count ? libheif.heif_decoder_descriptor_get_name(found[index]) : NULL;
}
#endif
