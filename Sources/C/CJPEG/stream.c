// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include "decoder.h"

/// The maximum amount of unconsumed data, in bytes. No segment is longer than 64 KiB, and libjpeg never needs more for
/// a row of blocks. Corrupt data that keeps more waiting would be scanned again with every chunk.
#define MAX_PENDING (128u << 10)

/// Suspends decoding until more data is appended.
static boolean stream_fill(j_decompress_ptr info) {
    wi_jpeg_decoder *decoder = (wi_jpeg_decoder *)info;
    return decoder->is_last ? wi_jpeg_source_end(info) : FALSE;
}

static void stream_skip(j_decompress_ptr info, long count) {
    wi_jpeg_decoder *decoder = (wi_jpeg_decoder *)info;
    if (count <= 0) return;
    size_t wanted = (size_t)count, present = info->src->bytes_in_buffer;
    size_t taken = wanted < present ? wanted : present;
    info->src->next_input_byte += taken;
    info->src->bytes_in_buffer -= taken;
    decoder->skip = wanted - taken;
    if (decoder->skip && decoder->is_last) wi_jpeg_source_end(info);
}

wi_jpeg_decoder *wi_jpeg_stream_open(size_t max_memory, int max_scans) {
    wi_jpeg_decoder *decoder = wi_jpeg_decoder_make(max_memory, max_scans);
    if (!decoder) return NULL;
    decoder->source.fill_input_buffer = stream_fill;
    decoder->source.skip_input_data = stream_skip;
    return decoder;
}

/// Moves the unconsumed data to the beginning of the buffer and makes space for `count` more bytes.
static int make_room(wi_jpeg_decoder *decoder, size_t count) {
    size_t waiting = decoder->source.bytes_in_buffer;
    if (waiting) memmove(decoder->pending, decoder->source.next_input_byte, waiting);
    if (count > SIZE_MAX - waiting) return 0;
    size_t needed = waiting + count;
    if (needed > decoder->pending_capacity) {
        uint8_t *larger = realloc(decoder->pending, needed);
        if (!larger) return 0;
        decoder->pending = larger;
        decoder->pending_capacity = needed;
    }
    decoder->source.next_input_byte = decoder->pending;
    return 1;
}

wi_jpeg_status wi_jpeg_stream_feed(wi_jpeg_decoder *decoder, const uint8_t *bytes, size_t count, int is_last) {
    if (setjmp(decoder->errors.escape)) return wi_jpeg_decoder_failure(decoder);
    size_t skipped = decoder->skip < count ? decoder->skip : count;
    decoder->skip -= skipped;
    if (skipped) bytes += skipped;
    count -= skipped;
    if (decoder->source.bytes_in_buffer > MAX_PENDING)
        wi_jpeg_fail((j_common_ptr)&decoder->info, WI_JPEG_CORRUPT, "a segment has no end");
    if (count > 0) {
        if (!make_room(decoder, count)) return WI_JPEG_MEMORY;
        memcpy(decoder->pending + decoder->source.bytes_in_buffer, bytes, count);
        decoder->source.bytes_in_buffer += count;
    }
    decoder->is_last = is_last;
    if (is_last && decoder->skip) wi_jpeg_source_end(&decoder->info);
    return WI_JPEG_OK;
}

/// Returns the fraction of the coefficients' bits that are known. libjpeg counts a scan as soon as it begins.
static double refinement(const struct jpeg_decompress_struct *info) {
    if (!info->progressive_mode || !info->coef_bits || info->num_components < 1) return 0;
    double known = 0;
    for (int c = 0; c < info->num_components; c++)
        for (int k = 0; k < DCTSIZE2; k++)
            if (info->coef_bits[c][k] >= 0) known += 1.0 / (1 + info->coef_bits[c][k]);
    return known / (info->num_components * DCTSIZE2);
}

/// Returns the fraction of the coefficients that are known with any precision, for the component with the least of them.
static double detail(const struct jpeg_decompress_struct *info) {
    if (!info->progressive_mode || !info->coef_bits || info->num_components < 1) return 0;
    int least = DCTSIZE2;
    for (int c = 0; c < info->num_components; c++) {
        int known = 0;
        for (int k = 0; k < DCTSIZE2; k++) known += info->coef_bits[c][k] >= 0;
        if (known < least) least = known;
    }
    return (double)least / DCTSIZE2;
}

int wi_jpeg_stream_has_scans(const wi_jpeg_decoder *decoder) { return decoder->info.buffered_image; }

wi_jpeg_status wi_jpeg_stream_absorb(wi_jpeg_decoder *decoder, int steps, int *steps_left) {
    j_decompress_ptr info = &decoder->info;
    *steps_left = steps;
    if (setjmp(decoder->errors.escape)) return wi_jpeg_decoder_failure(decoder);
    while (*steps_left > 0) {
        int found = jpeg_consume_input(info);
        if (found == JPEG_REACHED_EOI) return WI_JPEG_OK;
        if (found == JPEG_SCAN_COMPLETED) {
            // A corrupt file can repeat a scan with less precision than before, and progress never decreases.
            double fraction = refinement(info), known = detail(info);
            if (fraction > decoder->refinement) decoder->refinement = fraction;
            if (known > decoder->detail) decoder->detail = known;
        }
        if (found == JPEG_SUSPENDED) return WI_JPEG_MORE;
        if (info->input_scan_number > decoder->max_scans)
            wi_jpeg_fail((j_common_ptr)info, WI_JPEG_SCANS, "too many scans");
        *steps_left -= 1;
    }
    return WI_JPEG_MORE;
}

int wi_jpeg_stream_scans(const wi_jpeg_decoder *decoder) {
    j_decompress_ptr info = (j_decompress_ptr)&decoder->info;
    return jpeg_input_complete(info) ? info->input_scan_number : info->input_scan_number - 1;
}

wi_jpeg_status wi_jpeg_stream_begin_output(wi_jpeg_decoder *decoder) {
    if (setjmp(decoder->errors.escape)) return wi_jpeg_decoder_failure(decoder);
    // Select a complete scan, so that rows never wait for data. The rows also contain the received part of the next
    // scan.
    return jpeg_start_output(&decoder->info, wi_jpeg_stream_scans(decoder)) ? WI_JPEG_OK : WI_JPEG_MORE;
}

wi_jpeg_status wi_jpeg_stream_end_output(wi_jpeg_decoder *decoder) {
    if (setjmp(decoder->errors.escape)) return wi_jpeg_decoder_failure(decoder);
    return jpeg_finish_output(&decoder->info) ? WI_JPEG_OK : WI_JPEG_MORE;
}

double wi_jpeg_stream_refinement(const wi_jpeg_decoder *decoder) { return decoder->refinement; }

double wi_jpeg_stream_detail(const wi_jpeg_decoder *decoder) { return decoder->detail; }
