// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <png.h>
#include "CPNG.h"
#include "bytes.h"
#include "colors.h"

struct wi_png_decoder {
    png_structp png;
    png_infop info;
    const uint8_t *start, *data;
    size_t left;
    /// The offset of the chunk with pixels in which the file ends, or SIZE_MAX, and the available size of its body.
    size_t cut_offset;
    uint32_t cut_length;
    uint32_t height;
    int is_interlaced;
    int is_damaged;
    jmp_buf escape;
    wi_png_status status;
    char message[128];
};

static void on_error(png_structp png, png_const_charp words) {
    wi_png_decoder *decoder = png_get_error_ptr(png);
    snprintf(decoder->message, sizeof decoder->message, "%s", words);
    // The second part is the message of zlib.
    if (strcmp(words, "IDAT: incorrect data check") == 0) decoder->status = WI_PNG_CHECK;
    longjmp(decoder->escape, 1);
}

/// Handles a warning. After the last row, libpng reports errors in the rest of the compressed data as warnings of the chunk,
/// and the checksum can't be verified then. More data than the image needs is no damage.
static void on_warning(png_structp png, png_const_charp words) {
    wi_png_decoder *decoder = png_get_error_ptr(png);
    if (strncmp(words, "IDAT: ", 6) != 0) return;
    if (strcmp(words + 6, "Extra compressed data") == 0 || strcmp(words + 6, "Too much image data") == 0) return;
    decoder->is_damaged = 1;
}

static void on_read(png_structp png, png_bytep out, size_t count) {
    wi_png_decoder *decoder = png_get_io_ptr(png);
    if (count > decoder->left) {
        decoder->left = 0;
        decoder->status = WI_PNG_TRUNCATED;
        png_error(png, "unexpected end of data");
    }
    memcpy(out, decoder->data, count);
    if ((size_t)(decoder->data - decoder->start) == decoder->cut_offset && count == 8)
        for (int index = 0; index < 4; index++) out[index] = (uint8_t)(decoder->cut_length >> (24 - index * 8));
    decoder->data += count;
    decoder->left -= count;
}

/// Finds the chunk with pixels in which the file ends. libpng reads a chunk in large parts and can't use a part of which bytes
/// are missing, so on_read shortens the chunk to the available data.
static void find_cut(wi_png_decoder *decoder, const uint8_t *data, size_t count) {
    size_t offset = 8;
    decoder->cut_offset = SIZE_MAX;
    while (count > offset && count - offset > 8) {
        const uint8_t *head = data + offset;
        const size_t left = count - offset - 8;
        const uint32_t length = number(head);
        if (length > 0x7FFFFFFF) return;
        if (left < 4 || length > left - 4) {
            if (length <= left || memcmp(head + 4, "IDAT", 4) != 0) return;
            decoder->cut_offset = offset;
            decoder->cut_length = (uint32_t)left;
            return;
        }
        offset += (size_t)length + 12;
    }
}

/// Configures libpng to skip chunks that this library doesn't use, without decompressing them.
static void ignore_text(png_structp png) {
    static const png_byte names[] = "tEXt\0zTXt\0iTXt\0tIME\0sPLT\0hIST\0eXIf\0pCAL\0sCAL\0oFFs";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, names, (int)(sizeof names / 5));
    wi_png_want_colors(png);
}

wi_png_decoder *wi_png_decoder_open(const uint8_t *data, size_t count, size_t max_chunk) {
    wi_png_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->start = decoder->data = data;
    decoder->left = count;
    find_cut(decoder, data, count);
    decoder->status = WI_PNG_CORRUPT;
    if (setjmp(decoder->escape)) {
        wi_png_decoder_close(decoder);
        return NULL;
    }
    decoder->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, decoder, on_error, on_warning);
    decoder->info = decoder->png ? png_create_info_struct(decoder->png) : NULL;
    if (!decoder->info) {
        wi_png_decoder_close(decoder);
        return NULL;
    }
    png_set_read_fn(decoder->png, decoder, on_read);
    // The caller checks the size between the header and the start. The limit of libpng would prevent this check.
    png_set_user_limits(decoder->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_cache_max(decoder->png, 64);
    png_set_chunk_malloc_max(decoder->png, max_chunk);
    // Use critical chunks with a wrong checksum. The caller verifies the checksums of all chunks.
    png_set_crc_action(decoder->png, PNG_CRC_QUIET_USE, PNG_CRC_NO_CHANGE);
    ignore_text(decoder->png);
    return decoder;
}

void wi_png_decoder_ignore_check(wi_png_decoder *decoder) {
    decoder->is_damaged = 1;
#if defined(PNG_SET_OPTION_SUPPORTED) && defined(PNG_IGNORE_ADLER32)
    if (setjmp(decoder->escape)) return;
    png_set_option(decoder->png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
#endif
}

int wi_png_decoder_is_damaged(const wi_png_decoder *decoder) { return decoder->is_damaged; }

int wi_png_decoder_failed_check(const wi_png_decoder *decoder) { return decoder->status == WI_PNG_CHECK; }

void wi_png_decoder_close(wi_png_decoder *decoder) {
    if (!decoder) return;
    if (decoder->png) png_destroy_read_struct(&decoder->png, &decoder->info, NULL);
    free(decoder);
}

const char *wi_png_decoder_message(const wi_png_decoder *decoder) { return decoder->message; }

static int plain_channels(int type, int has_alpha) {
    switch (type) {
    case PNG_COLOR_TYPE_GRAY:
    case PNG_COLOR_TYPE_PALETTE: return 1;
    case PNG_COLOR_TYPE_GRAY_ALPHA: return 2;
    case PNG_COLOR_TYPE_RGB: return has_alpha ? 0 : 3;
    case PNG_COLOR_TYPE_RGB_ALPHA: return 4;
    default: return 0;
    }
}

wi_png_status wi_png_decoder_header(wi_png_decoder *decoder, int reads_in_small_steps, wi_png_info *info) {
    png_structp png = decoder->png;
    if (setjmp(decoder->escape)) return decoder->status;
    // If the data is truncated, the input that libpng has buffered but not decompressed is lost. If partial rows
    // matter, use a small buffer.
    if (reads_in_small_steps) png_set_compression_buffer_size(png, 64);
    png_read_info(png, decoder->info);
    int type = png_get_color_type(png, decoder->info);
    info->width = png_get_image_width(png, decoder->info);
    info->height = png_get_image_height(png, decoder->info);
    info->bits = png_get_bit_depth(png, decoder->info);
    // libpng marks a misplaced tRNS chunk as valid, but without entries.
    int transparent = 0;
    png_get_tRNS(png, decoder->info, NULL, &transparent, NULL);
    info->has_alpha = (type & PNG_COLOR_MASK_ALPHA) || transparent > 0;
    info->is_gray = !(type & PNG_COLOR_MASK_COLOR);
    info->is_interlaced = png_get_interlace_type(png, decoder->info) != PNG_INTERLACE_NONE;
    decoder->height = info->height;
    decoder->is_interlaced = info->is_interlaced;
    info->plain_channels = info->bits > 8 || info->is_interlaced ? 0 : plain_channels(type, info->has_alpha);
    return WI_PNG_OK;
}

static uint32_t pixel_of(int red, int green, int blue, int alpha) {
    const uint8_t bytes[4] = {(uint8_t)red, (uint8_t)green, (uint8_t)blue, (uint8_t)alpha};
    uint32_t pixel;
    memcpy(&pixel, bytes, sizeof pixel);
    return pixel;
}

wi_png_status wi_png_decoder_table(wi_png_decoder *decoder, uint32_t table[256]) {
    png_structp png = decoder->png;
    png_colorp palette = NULL;
    png_bytep alphas = NULL;
    png_color_16p key = NULL;
    int colors = 0, transparent = 0;
    if (setjmp(decoder->escape)) return decoder->status;
    int bits = png_get_bit_depth(png, decoder->info), top = (1 << bits) - 1;
    int is_palette = png_get_color_type(png, decoder->info) == PNG_COLOR_TYPE_PALETTE;
    png_get_tRNS(png, decoder->info, &alphas, &transparent, &key);
    if (is_palette) png_get_PLTE(png, decoder->info, &palette, &colors);
    for (int index = 0; index < 256; index++) {
        int grey = index <= top ? index * 255 / top : 255;
        if (!is_palette) {
            int is_key = transparent > 0 && key && index == (key->gray & top);
            table[index] = pixel_of(grey, grey, grey, is_key ? 0 : 255);
        } else if (palette && index < colors) {
            int alpha = alphas && index < transparent ? alphas[index] : 255;
            table[index] = pixel_of(palette[index].red, palette[index].green, palette[index].blue, alpha);
        } else {
            table[index] = pixel_of(0, 0, 0, 255);
        }
    }
    return WI_PNG_OK;
}

wi_png_status wi_png_decoder_start(wi_png_decoder *decoder, int is_wide, int *passes) {
    png_structp png = decoder->png;
    if (setjmp(decoder->escape)) return decoder->status;
    png_set_expand(png);
    if (is_wide)
        png_set_expand_16(png);
    else
        png_set_scale_16(png);
    // Convert the samples to the byte order of the machine. PNG files are big-endian.
    const uint16_t order = 1;
    if (is_wide && *(const uint8_t *)&order) png_set_swap(png);
    png_set_gray_to_rgb(png);
    // The filler applies only if the expansion produced no alpha.
    png_set_filler(png, is_wide ? 65535 : 255, PNG_FILLER_AFTER);
    *passes = png_set_interlace_handling(png);
    png_read_update_info(png, decoder->info);
    if (png_get_rowbytes(png, decoder->info) != (size_t)png_get_image_width(png, decoder->info) * (is_wide ? 8 : 4))
        png_error(png, "unexpected row length");
    return WI_PNG_OK;
}

const uint8_t *wi_png_decoder_icc(wi_png_decoder *decoder, size_t *count) {
    png_charp name = NULL;
    png_bytep profile = NULL;
    png_uint_32 length = 0;
    int compression = 0;
    if (setjmp(decoder->escape)) return NULL;
    if (!png_get_iCCP(decoder->png, decoder->info, &name, &compression, &profile, &length)) return NULL;
    *count = length;
    return profile;
}

void wi_png_decoder_colors(wi_png_decoder *decoder, wi_png_colors *colors) {
    memset(colors, 0, sizeof *colors);
    if (!setjmp(decoder->escape)) wi_png_read_colors(decoder->png, decoder->info, colors);
}

/// Returns whether libpng has written the last row of the last pass. It then reads the rest of the compressed data.
static int has_all_rows(const wi_png_decoder *decoder) {
    if (decoder->is_interlaced) return png_get_current_pass_number(decoder->png) >= 7;
    return decoder->height > 0 && png_get_current_row_number(decoder->png) >= decoder->height;
}

wi_png_status wi_png_decoder_rows(wi_png_decoder *decoder, uint8_t *out, size_t stride, uint32_t rows,
                                  uint32_t *done) {
    const int had_all_rows = has_all_rows(decoder);
    *done = 0;
    if (setjmp(decoder->escape)) {
        if (had_all_rows || !has_all_rows(decoder)) return decoder->status;
        decoder->is_damaged = 1;
        *done += 1;
        return WI_PNG_OK;
    }
    while (*done < rows) {
        png_read_row(decoder->png, out + *done * stride, NULL);
        *done += 1;
    }
    return WI_PNG_OK;
}

const char *wi_png_version(void) { return png_get_libpng_ver(NULL); }
