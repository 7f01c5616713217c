// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <png.h>
#include "CPNG.h"
#include "colors.h"

struct wi_png_stream {
    png_structp png;
    png_infop info;
    uint32_t width, height;
    wi_png_info found;
    wi_png_colors colors;
    uint8_t *out;
    size_t stride;
    /// The number of rows in the first pass, followed by the number of rows in the current pass.
    uint32_t rows_done, pass_rows;
    int passes;
    wi_png_checks checks;
    int is_damaged;
    /// Nonzero if libpng needs no further data or can't continue.
    int has_ended;
    jmp_buf escape;
    wi_png_status status;
    char message[128];
};

static void on_error(png_structp png, png_const_charp words) {
    wi_png_stream *stream = png_get_error_ptr(png);
    snprintf(stream->message, sizeof stream->message, "%s", words);
    longjmp(stream->escape, 1);
}

static int is_complete(const wi_png_stream *stream) {
    if (stream->passes == 0) return 0;
    if (stream->found.is_interlaced) return png_get_current_pass_number(stream->png) >= stream->passes;
    return stream->rows_done == stream->height;
}

/// Handles a warning. After the last row, libpng reports errors in the rest of the compressed data, such as a wrong checksum,
/// as this warning.
static void on_warning(png_structp png, png_const_charp words) {
    wi_png_stream *stream = png_get_error_ptr(png);
    if (strcmp(words, "Truncated compressed data in IDAT") == 0) stream->is_damaged = 1;
}

/// Handles the end of the data before the pixels.
static void on_info(png_structp png, png_infop info) {
    wi_png_stream *stream = png_get_progressive_ptr(png);
    wi_png_info *found = &stream->found;
    int transparent = 0;
    found->width = png_get_image_width(png, info);
    found->height = png_get_image_height(png, info);
    found->bits = png_get_bit_depth(png, info);
    png_get_tRNS(png, info, NULL, &transparent, NULL);
    found->has_alpha = (png_get_color_type(png, info) & PNG_COLOR_MASK_ALPHA) || transparent > 0;
    found->is_interlaced = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
    if (found->width != stream->width || found->height != stream->height) {
        stream->status = WI_PNG_INCONSISTENT;
        png_error(png, "the size differs from the size in the header");
    }
    found->is_gray = !(png_get_color_type(png, info) & PNG_COLOR_MASK_COLOR);
    wi_png_read_colors(png, info, &stream->colors);
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    // The filler applies only if the expansion produced no alpha.
    png_set_filler(png, 255, PNG_FILLER_AFTER);
    stream->passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (png_get_rowbytes(png, info) != (size_t)found->width * 4) png_error(png, "unexpected row length");
}

/// Writes a row. libpng spreads interlaced rows over the pixels of later passes, so every pass covers the whole image.
static void on_row(png_structp png, png_bytep row, png_uint_32 number, int pass) {
    wi_png_stream *stream = png_get_progressive_ptr(png);
    if (number >= stream->height) return;
    png_progressive_combine_row(png, stream->out + number * stream->stride, row);
    stream->pass_rows = number + 1;
    if (pass == 0) stream->rows_done = number + 1;
}

/// Configures libpng to skip chunks that this library doesn't use, without buffering them.
static void ignore_text(png_structp png) {
    static const png_byte names[] = "tEXt\0zTXt\0iTXt\0tIME\0sPLT\0hIST\0eXIf\0pCAL\0sCAL\0oFFs";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, names, (int)(sizeof names / 5));
    wi_png_want_colors(png);
}

wi_png_stream *wi_png_stream_open(uint8_t *out, size_t stride, uint32_t width, uint32_t height, size_t max_chunk) {
    wi_png_stream *stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    stream->out = out;
    stream->stride = stride;
    stream->width = width;
    stream->height = height;
    stream->status = WI_PNG_CORRUPT;
    if (setjmp(stream->escape)) {
        wi_png_stream_close(stream);
        return NULL;
    }
    stream->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, stream, on_error, on_warning);
    stream->info = stream->png ? png_create_info_struct(stream->png) : NULL;
    if (!stream->info) {
        wi_png_stream_close(stream);
        return NULL;
    }
    png_set_progressive_read_fn(stream->png, stream, on_info, on_row, NULL);
    png_set_user_limits(stream->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_cache_max(stream->png, 64);
    png_set_chunk_malloc_max(stream->png, max_chunk);
    // Use critical chunks with a wrong checksum. `checks` verifies the checksums of all chunks. With PNG_CRC_QUIET_USE, the
    // progressive reader of libpng 1.6 would rate the name of each chunk after a critical one by the name before it, and so
    // drop correct ancillary chunks.
    png_set_crc_action(stream->png, PNG_CRC_WARN_USE, PNG_CRC_NO_CHANGE);
    ignore_text(stream->png);
    return stream;
}

void wi_png_stream_close(wi_png_stream *stream) {
    if (!stream) return;
    if (stream->png) png_destroy_read_struct(&stream->png, &stream->info, NULL);
    free(stream);
}

const char *wi_png_stream_message(const wi_png_stream *stream) { return stream->message; }

/// Passes data to libpng. After the last row, an error means that the rest of the compressed data is missing or invalid.
static wi_png_status pass_on(wi_png_stream *stream, const uint8_t *bytes, size_t count) {
    if (stream->has_ended) return WI_PNG_OK;
    if (setjmp(stream->escape)) {
        stream->has_ended = 1;
        if (!is_complete(stream)) return stream->status;
        stream->is_damaged = 1;
        return WI_PNG_OK;
    }
    png_process_data(stream->png, stream->info, (png_bytep)bytes, count);
    return WI_PNG_OK;
}

wi_png_status wi_png_stream_feed(wi_png_stream *stream, const uint8_t *bytes, size_t count) {
    // libpng reports a wrong checksum of the compressed data as a warning only if it receives the checksum after it has
    // written the last row. Because the last byte of each chunk is passed separately, this is the case.
    while (count > 0) {
        size_t part = wi_png_checks_add(&stream->checks, bytes, count);
        wi_png_status status = pass_on(stream, bytes, part);
        if (status != WI_PNG_OK) return status;
        // The head of the next chunk shows libpng that the pixels have ended. Like the decoder for complete files, ignore the
        // chunks after them.
        if (stream->checks.is_past_pixels && is_complete(stream)) stream->has_ended = 1;
        bytes += part;
        count -= part;
    }
    return WI_PNG_OK;
}

int wi_png_stream_is_damaged(const wi_png_stream *stream, int is_last) {
    return stream->is_damaged || wi_png_checks_failed(&stream->checks, is_last != 0);
}

void wi_png_stream_progress(const wi_png_stream *stream, wi_png_progress *progress) {
    uint32_t height = stream->height;
    int pass = stream->png ? png_get_current_pass_number(stream->png) : 0;
    int is_interlaced = stream->found.is_interlaced;
    progress->rows = stream->rows_done;
    progress->pass_count = stream->passes;
    progress->is_complete = is_complete(stream);
    progress->passes = progress->is_complete ? stream->passes : is_interlaced ? pass : 0;
    double present = stream->pass_rows < height ? (double)stream->pass_rows / height : 0;
    progress->fraction = progress->is_complete ? 1 : stream->passes > 0 ? (progress->passes + present) / stream->passes : 0;
}

void wi_png_stream_info(const wi_png_stream *stream, wi_png_info *info) { *info = stream->found; }

const uint8_t *wi_png_stream_icc(wi_png_stream *stream, size_t *count) {
    png_charp name = NULL;
    png_bytep profile = NULL;
    png_uint_32 length = 0;
    int compression = 0;
    if (setjmp(stream->escape)) return NULL;
    if (!png_get_iCCP(stream->png, stream->info, &name, &compression, &profile, &length)) return NULL;
    *count = length;
    return profile;
}

void wi_png_stream_colors(const wi_png_stream *stream, wi_png_colors *colors) { *colors = stream->colors; }
