// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include "chroma.h"
#include "shim.h"

struct wi_jpeg_encoder {
    struct jpeg_compress_struct info;
    wi_jpeg_errors errors;
    int is_created;
    JSAMPROW blended;
    /// The conversion to luma and reduced chroma, or NULL if libjpeg converts the pixels.
    wi_jpeg_chroma *chroma;
    unsigned char *bytes;
    unsigned long count;
};

wi_jpeg_encoder *wi_jpeg_encoder_open(void) {
    wi_jpeg_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) return NULL;
    wi_jpeg_errors_install(&encoder->errors, (j_common_ptr)&encoder->info);
    if (setjmp(encoder->errors.escape)) {
        wi_jpeg_encoder_close(encoder);
        return NULL;
    }
    jpeg_create_compress(&encoder->info);
    encoder->is_created = 1;
    jpeg_mem_dest(&encoder->info, &encoder->bytes, &encoder->count);
    return encoder;
}

void wi_jpeg_encoder_close(wi_jpeg_encoder *encoder) {
    if (!encoder) return;
    if (encoder->is_created) jpeg_destroy_compress(&encoder->info);
    wi_jpeg_chroma_close(encoder->chroma);
    free(encoder->blended);
    free(encoder->bytes);
    free(encoder);
}

const char *wi_jpeg_encoder_message(const wi_jpeg_encoder *encoder) { return encoder->errors.message; }

wi_jpeg_status wi_jpeg_encoder_start(wi_jpeg_encoder *encoder, uint32_t width, uint32_t height,
                                     const wi_jpeg_options *options) {
    j_compress_ptr info = &encoder->info;
    if (setjmp(encoder->errors.escape)) return encoder->errors.status;
    info->image_width = width;
    info->image_height = height;
    info->input_components = 4;
    info->in_color_space = JCS_EXT_RGBX;
    jpeg_set_defaults(info);
    if (options->is_gray) jpeg_set_colorspace(info, JCS_GRAYSCALE);
    jpeg_set_quality(info, options->quality, TRUE);
    if (options->is_fine)
        for (int table = 0; table < 2; table++)
            for (int at = 0; at < DCTSIZE2; at++) info->quant_tbl_ptrs[table]->quantval[at] = 1;
    info->dct_method = JDCT_ISLOW;
    info->optimize_coding = options->optimizes_tables ? TRUE : FALSE;
    info->comp_info[0].h_samp_factor = options->is_gray ? 1 : options->columns;
    info->comp_info[0].v_samp_factor = options->is_gray ? 1 : options->rows;
    if (options->is_progressive) jpeg_simple_progression(info);
    encoder->blended = malloc((size_t)width * 4);
    if (!encoder->blended) return WI_JPEG_MEMORY;
    if (!options->is_gray && options->columns == 2 && options->rows == 2) {
        encoder->chroma = wi_jpeg_chroma_open(width);
        if (!encoder->chroma) return WI_JPEG_MEMORY;
        info->raw_data_in = TRUE;
    }
    jpeg_start_compress(info, TRUE);
    return WI_JPEG_OK;
}

wi_jpeg_status wi_jpeg_encoder_segment(wi_jpeg_encoder *encoder, int number, const char *name, size_t name_count,
                                       const uint8_t *bytes, size_t count) {
    if (name_count + count > WI_JPEG_MAX_SEGMENT) return WI_JPEG_UNSUPPORTED;
    if (setjmp(encoder->errors.escape)) return encoder->errors.status;
    jpeg_write_m_header(&encoder->info, JPEG_APP0 + number, (unsigned)(name_count + count));
    for (size_t at = 0; at < name_count; at++) jpeg_write_m_byte(&encoder->info, (unsigned char)name[at]);
    for (size_t at = 0; at < count; at++) jpeg_write_m_byte(&encoder->info, bytes[at]);
    return WI_JPEG_OK;
}

wi_jpeg_status wi_jpeg_encoder_profile(wi_jpeg_encoder *encoder, const uint8_t *bytes, size_t count) {
    if (setjmp(encoder->errors.escape)) return encoder->errors.status;
    jpeg_write_icc_profile(&encoder->info, bytes, (unsigned)count);
    return WI_JPEG_OK;
}

static void blend(const uint8_t *from, uint8_t *to, size_t width, const uint8_t *background) {
    for (size_t x = 0; x < width; x++, from += 4, to += 4) {
        unsigned rest = 255u - from[3];
        for (int c = 0; c < 3; c++) {
            unsigned value = from[c] + (background[c] * rest + 127) / 255;
            to[c] = (uint8_t)(value > 255 ? 255 : value);
        }
        to[3] = 255;
    }
}

wi_jpeg_status wi_jpeg_encoder_rows(wi_jpeg_encoder *encoder, const uint8_t *rows, size_t stride, uint32_t count,
                                    int is_opaque, const uint8_t *background) {
    if (setjmp(encoder->errors.escape)) return encoder->errors.status;
    for (uint32_t done = 0; done < count; done++) {
        JSAMPROW row = (JSAMPROW)(rows + done * stride);
        if (!is_opaque) {
            blend(row, encoder->blended, encoder->info.image_width, background);
            row = encoder->blended;
        }
        if (encoder->chroma) wi_jpeg_chroma_add(encoder->chroma, &encoder->info, row);
        else jpeg_write_scanlines(&encoder->info, &row, 1);
    }
    return WI_JPEG_OK;
}

wi_jpeg_status wi_jpeg_encoder_finish(wi_jpeg_encoder *encoder, const uint8_t **bytes, size_t *count) {
    if (setjmp(encoder->errors.escape)) return encoder->errors.status;
    if (encoder->chroma) wi_jpeg_chroma_finish(encoder->chroma, &encoder->info);
    jpeg_finish_compress(&encoder->info);
    *bytes = encoder->bytes;
    *count = encoder->count;
    return WI_JPEG_OK;
}
