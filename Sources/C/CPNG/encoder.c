// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <png.h>
#include "CPNG.h"

struct wi_png_encoder {
    png_structp png;
    png_infop info;
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    jmp_buf escape;
    wi_png_status status;
    char message[128];
};

static void on_error(png_structp png, png_const_charp words) {
    wi_png_encoder *encoder = png_get_error_ptr(png);
    snprintf(encoder->message, sizeof encoder->message, "%s", words);
    longjmp(encoder->escape, 1);
}

static void on_warning(png_structp png, png_const_charp words) {
    (void)png;
    (void)words;
}

static void on_write(png_structp png, png_bytep bytes, size_t count) {
    wi_png_encoder *encoder = png_get_io_ptr(png);
    if (count > encoder->capacity - encoder->count) {
        size_t capacity = encoder->capacity * 2 > encoder->count + count ? encoder->capacity * 2 : encoder->count + count;
        uint8_t *grown = realloc(encoder->bytes, capacity);
        if (!grown) {
            encoder->status = WI_PNG_MEMORY;
            png_error(png, "out of memory");
        }
        encoder->bytes = grown;
        encoder->capacity = capacity;
    }
    memcpy(encoder->bytes + encoder->count, bytes, count);
    encoder->count += count;
}

static void on_flush(png_structp png) { (void)png; }

wi_png_encoder *wi_png_encoder_open(void) {
    wi_png_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) return NULL;
    encoder->status = WI_PNG_CORRUPT;
    if (setjmp(encoder->escape)) {
        wi_png_encoder_close(encoder);
        return NULL;
    }
    encoder->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, encoder, on_error, on_warning);
    encoder->info = encoder->png ? png_create_info_struct(encoder->png) : NULL;
    if (!encoder->info) {
        wi_png_encoder_close(encoder);
        return NULL;
    }
    png_set_write_fn(encoder->png, encoder, on_write, on_flush);
    return encoder;
}

void wi_png_encoder_close(wi_png_encoder *encoder) {
    if (!encoder) return;
    if (encoder->png) png_destroy_write_struct(&encoder->png, &encoder->info);
    free(encoder->bytes);
    free(encoder);
}

const char *wi_png_encoder_message(const wi_png_encoder *encoder) { return encoder->message; }

wi_png_status wi_png_encoder_start(wi_png_encoder *encoder, uint32_t width, uint32_t height, int is_opaque,
                                   int effort) {
    png_structp png = encoder->png;
    if (setjmp(encoder->escape)) return encoder->status;
    int type = is_opaque ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGBA;
    png_set_user_limits(png, 0x7FFFFFFF, 0x7FFFFFFF);
    png_set_IHDR(png, encoder->info, width, height, 8, type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (effort >= 0) png_set_compression_level(png, effort);
    png_write_info(png, encoder->info);
    if (is_opaque) png_set_filler(png, 0, PNG_FILLER_AFTER);
    return WI_PNG_OK;
}

wi_png_status wi_png_encoder_rows(wi_png_encoder *encoder, const uint8_t *rows, size_t stride, uint32_t count) {
    if (setjmp(encoder->escape)) return encoder->status;
    for (uint32_t done = 0; done < count; done++) png_write_row(encoder->png, rows + done * stride);
    return WI_PNG_OK;
}

wi_png_status wi_png_encoder_finish(wi_png_encoder *encoder, const uint8_t **bytes, size_t *count) {
    if (setjmp(encoder->escape)) return encoder->status;
    png_write_end(encoder->png, encoder->info);
    *bytes = encoder->bytes;
    *count = encoder->count;
    return WI_PNG_OK;
}
