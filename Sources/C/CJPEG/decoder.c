// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include "decoder.h"

static const JOCTET end_of_image[2] = {0xFF, JPEG_EOI};

void wi_jpeg_source_nothing(j_decompress_ptr info) { (void)info; }

/// Handles a request for more data. The whole file is in memory, so the request means that the file is truncated.
boolean wi_jpeg_source_end(j_decompress_ptr info) {
    ((wi_jpeg_errors *)info->err)->input_ended = 1;
    info->src->next_input_byte = end_of_image;
    info->src->bytes_in_buffer = sizeof end_of_image;
    return TRUE;
}

static void source_skip(j_decompress_ptr info, long count) {
    if (count <= 0) return;
    if ((size_t)count > info->src->bytes_in_buffer) {
        wi_jpeg_source_end(info);
        return;
    }
    info->src->next_input_byte += count;
    info->src->bytes_in_buffer -= (size_t)count;
}

wi_jpeg_decoder *wi_jpeg_decoder_make(size_t max_memory, int max_scans) {
    wi_jpeg_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->max_scans = max_scans;
    wi_jpeg_errors_install(&decoder->errors, (j_common_ptr)&decoder->info);
    if (setjmp(decoder->errors.escape)) {
        wi_jpeg_decoder_close(decoder);
        return NULL;
    }
    jpeg_create_decompress(&decoder->info);
    decoder->is_created = 1;
    decoder->info.mem->max_memory_to_use = (long)max_memory;
    decoder->source.init_source = wi_jpeg_source_nothing;
    decoder->source.resync_to_restart = jpeg_resync_to_restart;
    decoder->source.term_source = wi_jpeg_source_nothing;
    decoder->info.src = &decoder->source;
    return decoder;
}

wi_jpeg_decoder *wi_jpeg_decoder_open(const uint8_t *data, size_t count, size_t max_memory, int max_scans) {
    wi_jpeg_decoder *decoder = wi_jpeg_decoder_make(max_memory, max_scans);
    if (!decoder) return NULL;
    decoder->source.fill_input_buffer = wi_jpeg_source_end;
    decoder->source.skip_input_data = source_skip;
    decoder->source.next_input_byte = data;
    decoder->source.bytes_in_buffer = count;
    return decoder;
}

void wi_jpeg_decoder_close(wi_jpeg_decoder *decoder) {
    if (!decoder) return;
    if (decoder->is_created) jpeg_destroy_decompress(&decoder->info);
    free(decoder->cmyk);
    free(decoder->pending);
    free(decoder);
}

const char *wi_jpeg_decoder_message(const wi_jpeg_decoder *decoder) { return decoder->errors.message; }

wi_jpeg_status wi_jpeg_decoder_failure(const wi_jpeg_decoder *decoder) {
    int ended = decoder->errors.input_ended && decoder->errors.status == WI_JPEG_CORRUPT;
    return ended ? WI_JPEG_TRUNCATED : decoder->errors.status;
}

wi_jpeg_status wi_jpeg_decoder_header(wi_jpeg_decoder *decoder, wi_jpeg_info *info) {
    if (setjmp(decoder->errors.escape)) return wi_jpeg_decoder_failure(decoder);
    jpeg_save_markers(&decoder->info, JPEG_APP0 + 2, 0xFFFF);
    if (jpeg_read_header(&decoder->info, TRUE) == JPEG_SUSPENDED) return WI_JPEG_MORE;
    info->width = decoder->info.image_width;
    info->height = decoder->info.image_height;
    info->components = decoder->info.num_components;
    info->is_cmyk = decoder->info.jpeg_color_space == JCS_CMYK || decoder->info.jpeg_color_space == JCS_YCCK;
    info->is_progressive = decoder->info.progressive_mode;
    info->bits = decoder->info.data_precision;
    info->has_scans = jpeg_has_multiple_scans(&decoder->info);
    info->coefficient_bytes = 0;
    for (int c = 0; c < decoder->info.num_components; c++) {
        const jpeg_component_info *component = &decoder->info.comp_info[c];
        size_t blocks = (size_t)component->width_in_blocks * component->height_in_blocks;
        info->coefficient_bytes += blocks * sizeof(JBLOCK);
    }
    return WI_JPEG_OK;
}

wi_jpeg_status wi_jpeg_decoder_start(wi_jpeg_decoder *decoder, unsigned denominator, uint32_t *width,
                                     uint32_t *height) {
    j_decompress_ptr info = &decoder->info;
    if (setjmp(decoder->errors.escape)) return wi_jpeg_decoder_failure(decoder);
    int is_cmyk = info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK;
    info->out_color_space = is_cmyk ? JCS_CMYK : JCS_EXT_RGBA;
    info->scale_num = 1;
    info->scale_denom = denominator;
    info->dct_method = JDCT_ISLOW;
    info->do_fancy_upsampling = TRUE;
    info->buffered_image = jpeg_has_multiple_scans(info);
    jpeg_start_decompress(info);
    *width = info->output_width;
    *height = info->output_height;
    if (!is_cmyk) return WI_JPEG_OK;
    free(decoder->cmyk);
    decoder->cmyk = calloc(info->output_width, 4);
    decoder->cmyk_width = info->output_width;
    return decoder->cmyk ? WI_JPEG_OK : WI_JPEG_MEMORY;
}

wi_jpeg_status wi_jpeg_decoder_absorb(wi_jpeg_decoder *decoder, int steps) {
    j_decompress_ptr info = &decoder->info;
    if (!info->buffered_image) return WI_JPEG_OK;
    if (setjmp(decoder->errors.escape)) return wi_jpeg_decoder_failure(decoder);
    while (steps-- > 0) {
        if (jpeg_consume_input(info) == JPEG_REACHED_EOI) {
            jpeg_start_output(info, info->input_scan_number);
            return WI_JPEG_OK;
        }
        if (info->input_scan_number > decoder->max_scans)
            wi_jpeg_fail((j_common_ptr)info, WI_JPEG_SCANS, "too many scans");
    }
    return WI_JPEG_MORE;
}

void wi_jpeg_decoder_keep_ink(wi_jpeg_decoder *decoder) { decoder->keeps_ink = 1; }

/// Copies the samples of a CMYK image as ink.
///
/// The samples are inverted: 255 means no ink. Adobe introduced this convention, and all encoders follow it, whether or not
/// they write its marker APP14. Browsers, Pillow, ImageMagick, and libvips don't consider the marker either.
static void copy_ink(const JSAMPLE *from, uint8_t *to, uint32_t width) {
    for (size_t index = 0; index < (size_t)width * 4; index++) to[index] = 255 - from[index];
}

/// Converts the inverted samples of a CMYK image to RGB without a profile. Each channel is the light that its ink and black
/// leave of white.
static void convert_cmyk(const JSAMPLE *from, uint8_t *to, uint32_t width) {
    for (uint32_t x = 0; x < width; x++, from += 4, to += 4) {
        for (int c = 0; c < 3; c++) to[c] = (uint8_t)((from[c] * from[3] + 127) / 255);
        to[3] = 255;
    }
}

wi_jpeg_status wi_jpeg_decoder_rows(wi_jpeg_decoder *decoder, uint8_t *out, size_t stride, uint32_t rows,
                                    uint32_t *done) {
    j_decompress_ptr info = &decoder->info;
    *done = 0;
    if (setjmp(decoder->errors.escape)) return wi_jpeg_decoder_failure(decoder);
    if (!info->output_width) wi_jpeg_fail((j_common_ptr)info, WI_JPEG_CORRUPT, "decoding hasn't started");
    if (stride / 4 < info->output_width || (decoder->cmyk && decoder->cmyk_width != info->output_width))
        wi_jpeg_fail((j_common_ptr)info, WI_JPEG_CORRUPT, "the rows are wider than the image");
    while (*done < rows && info->output_scanline < info->output_height) {
        JSAMPROW row = decoder->cmyk ? decoder->cmyk : out + *done * stride;
        if (jpeg_read_scanlines(info, &row, 1) == 0) return WI_JPEG_MORE;
        if (decoder->cmyk && decoder->keeps_ink)
            copy_ink(decoder->cmyk, out + *done * stride, info->output_width);
        else if (decoder->cmyk)
            convert_cmyk(decoder->cmyk, out + *done * stride, info->output_width);
        *done += 1;
    }
    return WI_JPEG_OK;
}

/// Returns whether all bits of the coefficients of all components were received.
static int is_refined(const struct jpeg_decompress_struct *info) {
    if (!info->progressive_mode || !info->coef_bits) return 0;
    for (int c = 0; c < info->num_components; c++)
        for (int k = 0; k < DCTSIZE2; k++)
            if (info->coef_bits[c][k] != 0) return 0;
    return 1;
}

int wi_jpeg_decoder_is_truncated(const wi_jpeg_decoder *decoder) {
    // Like other decoders, treat a file that lacks only its end marker as complete.
    if (!decoder->errors.input_ended) return 0;
    if (decoder->errors.missed_data || decoder->info.arith_code) return 1;
    return decoder->info.buffered_image && !is_refined(&decoder->info);
}

int wi_jpeg_version(void) {
#ifdef LIBJPEG_TURBO_VERSION_NUMBER
    return LIBJPEG_TURBO_VERSION_NUMBER;
#else
    return 0;
#endif
}
