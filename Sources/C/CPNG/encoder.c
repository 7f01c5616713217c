// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <png.h>
#include "survey.h"

struct wi_png_encoder {
    png_structp png;
    png_infop info;
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    wi_png_layout layout;
    /// The buffer for an output row, and the palette index of each color in the survey.
    uint8_t *row;
    const wi_png_survey *survey;
    uint8_t indices[MAX_COLOURS];
    /// The EXIF data, which this encoder writes itself. libpng would write it after the pixels, where some decoders
    /// don't look for it.
    uint8_t *exif;
    size_t exif_count;
    bool has_begun;
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
    free(encoder->exif);
    free(encoder->row);
    free(encoder->bytes);
    free(encoder);
}

const char *wi_png_encoder_message(const wi_png_encoder *encoder) { return encoder->message; }

/// Sets the palette. Colors with transparency are first, so that the list of alpha values is short.
static void set_palette(wi_png_encoder *encoder, const wi_png_survey *survey) {
    png_color colours[MAX_COLOURS];
    png_byte alphas[MAX_COLOURS];
    int place = 0, clear = 0;
    for (int opaque = 0; opaque < 2; opaque++) {
        for (int index = 0; index < survey->count; index++) {
            uint8_t parts[4];
            memcpy(parts, &survey->colours[index], 4);
            if ((parts[3] == 255) != opaque) continue;
            colours[place] = (png_color){parts[0], parts[1], parts[2]};
            alphas[place] = parts[3];
            encoder->indices[index] = (uint8_t)place++;
        }
        if (!opaque) clear = place;
    }
    png_set_PLTE(encoder->png, encoder->info, colours, place);
    if (clear) png_set_tRNS(encoder->png, encoder->info, alphas, clear, NULL);
}

wi_png_status wi_png_encoder_start(wi_png_encoder *encoder, const wi_png_layout *layout, const wi_png_survey *survey) {
    static const int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGBA,
                                PNG_COLOR_TYPE_PALETTE};
    png_structp png = encoder->png;
    if (setjmp(encoder->escape)) return encoder->status;
    encoder->layout = *layout;
    encoder->survey = survey;
    png_set_user_limits(png, 0x7FFFFFFF, 0x7FFFFFFF);
    // libpng omits invalid color profiles.
    png_set_benign_errors(png, 1);
    png_set_IHDR(png, encoder->info, layout->width, layout->height, layout->bits, types[layout->kind], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (layout->kind == WI_PNG_PALETTE) set_palette(encoder, survey);
    if (layout->effort >= 0) png_set_compression_level(png, layout->effort);
    encoder->row = malloc((size_t)layout->width * 8);
    return encoder->row ? WI_PNG_OK : WI_PNG_MEMORY;
}

wi_png_status wi_png_encoder_embed(wi_png_encoder *encoder, const uint8_t *cicp, const uint8_t *icc, size_t icc_count,
                                   const uint8_t *exif, size_t exif_count, const uint8_t *xmp, size_t xmp_count) {
    char *volatile text = NULL;
    if (icc_count > INT32_MAX || exif_count > INT32_MAX || xmp_count > INT32_MAX) return WI_PNG_MEMORY;
    if (setjmp(encoder->escape)) {
        free(text);
        return encoder->status;
    }
    if (icc_count) png_set_iCCP(encoder->png, encoder->info, "ICC", PNG_COMPRESSION_TYPE_BASE, icc, (png_uint_32)icc_count);
    if (cicp) {
        // libpng 1.6.39 doesn't know the chunk, so it's written as an unknown chunk before the palette.
        png_unknown_chunk chunk = {.name = "cICP", .data = (png_bytep)cicp, .size = 4, .location = PNG_HAVE_IHDR};
        png_set_keep_unknown_chunks(encoder->png, PNG_HANDLE_CHUNK_ALWAYS, (png_const_bytep) "cICP", 1);
        png_set_unknown_chunks(encoder->png, encoder->info, &chunk, 1);
    }
    if (exif_count) {
        encoder->exif = malloc(exif_count);
        if (!encoder->exif) return WI_PNG_MEMORY;
        memcpy(encoder->exif, exif, exif_count);
        encoder->exif_count = exif_count;
    }
    if (xmp_count) {
        text = calloc(1, xmp_count + 1);
        if (!text) return WI_PNG_MEMORY;
        memcpy(text, xmp, xmp_count);
        png_text entry = {.compression = PNG_ITXT_COMPRESSION_NONE, .key = "XML:com.adobe.xmp", .text = text,
                          .lang = "", .lang_key = ""};
        png_set_text(encoder->png, encoder->info, &entry, 1);
        free(text);
    }
    return WI_PNG_OK;
}

/// Stores a sample or an index with fewer than 8 bits. The first one is in the highest bits.
static void put(uint8_t *row, size_t at, int bits, uint8_t value) {
    size_t shift = 8 - (size_t)bits - at * (size_t)bits % 8;
    if (shift + (size_t)bits == 8) row[at * (size_t)bits / 8] = 0;
    row[at * (size_t)bits / 8] |= (uint8_t)(value << shift);
}

static void pack_narrow(wi_png_encoder *encoder, const uint8_t *pixels) {
    const wi_png_layout *layout = &encoder->layout;
    uint8_t *row = encoder->row;
    for (size_t x = 0; x < layout->width; x++, pixels += 4) {
        uint8_t value = (uint8_t)(pixels[0] >> (8 - layout->bits));
        if (layout->kind == WI_PNG_PALETTE) {
            uint32_t colour;
            memcpy(&colour, pixels, 4);
            int found = wi_png_survey_find(encoder->survey, colour);
            value = found < 0 ? 0 : encoder->indices[found];
        }
        put(row, x, layout->bits, value);
    }
}

/// Packs samples of whole bytes. `samples` selects the channels of R, G, B, A for each kind.
static void pack_wide(wi_png_encoder *encoder, const uint8_t *pixels) {
    static const int samples[][4] = {{0}, {0, 3}, {0, 1, 2}, {0, 1, 2, 3}};
    static const int counts[] = {1, 2, 3, 4};
    int count = counts[encoder->layout.kind], bytes = encoder->layout.bits / 8;
    const int *which = samples[encoder->layout.kind];
    uint8_t *row = encoder->row;
    for (uint32_t x = 0; x < encoder->layout.width; x++, pixels += 4 * bytes) {
        for (int at = 0; at < count; at++) {
            if (bytes == 1) {
                *row++ = pixels[which[at]];
                continue;
            }
            uint16_t value;
            memcpy(&value, pixels + 2 * which[at], 2);
            *row++ = (uint8_t)(value >> 8);
            *row++ = (uint8_t)value;
        }
    }
}

wi_png_status wi_png_encoder_rows(wi_png_encoder *encoder, const void *rows, size_t stride, uint32_t count) {
    if (setjmp(encoder->escape)) return encoder->status;
    if (!encoder->has_begun) {
        encoder->has_begun = true;
        png_write_info(encoder->png, encoder->info);
        if (encoder->exif_count)
            png_write_chunk(encoder->png, (png_const_bytep) "eXIf", encoder->exif, encoder->exif_count);
    }
    bool is_narrow = encoder->layout.kind == WI_PNG_PALETTE || encoder->layout.bits < 8;
    bool is_ready = encoder->layout.kind == WI_PNG_RGBA && encoder->layout.bits == 8;
    for (uint32_t done = 0; done < count; done++) {
        const uint8_t *row = (const uint8_t *)rows + done * stride;
        if (is_narrow) pack_narrow(encoder, row);
        else if (!is_ready) pack_wide(encoder, row);
        png_write_row(encoder->png, is_ready ? row : encoder->row);
    }
    return WI_PNG_OK;
}

wi_png_status wi_png_encoder_finish(wi_png_encoder *encoder, const uint8_t **bytes, size_t *count) {
    if (setjmp(encoder->escape)) return encoder->status;
    png_write_end(encoder->png, encoder->info);
    *bytes = encoder->bytes;
    *count = encoder->count;
    return WI_PNG_OK;
}
