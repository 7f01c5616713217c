// SPDX-License-Identifier: MIT
// libjpeg-turbo behind calls that return a code: its error exit is a longjmp, which must not cross Swift.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef enum {
    WI_JPEG_OK = 0,
    /// More steps are needed.
    WI_JPEG_MORE = 1,
    WI_JPEG_CORRUPT = -1,
    WI_JPEG_UNSUPPORTED = -2,
    WI_JPEG_MEMORY = -3,
    /// More scans than wi_jpeg_decoder_open allowed.
    WI_JPEG_SCANS = -4,
    /// The data ended before there was anything to show.
    WI_JPEG_TRUNCATED = -5,
} wi_jpeg_status;

typedef struct wi_jpeg_decoder wi_jpeg_decoder;
typedef struct wi_jpeg_encoder wi_jpeg_encoder;

typedef struct {
    uint32_t width;
    uint32_t height;
    int components;
    int is_cmyk;
    int is_progressive;
    int bits;
} wi_jpeg_info;

/// `data` must stay valid until close. `max_memory` bounds libjpeg's own memory (coefficients) in bytes, 0 = not.
wi_jpeg_decoder *wi_jpeg_decoder_open(const uint8_t *data, size_t count, size_t max_memory, int max_scans);
void wi_jpeg_decoder_close(wi_jpeg_decoder *decoder);
/// The words of the last error; empty when there was none.
const char *wi_jpeg_decoder_message(const wi_jpeg_decoder *decoder);

wi_jpeg_status wi_jpeg_decoder_header(wi_jpeg_decoder *decoder, wi_jpeg_info *info);
/// The profile as malloc'ed bytes, NULL where there is none or it is longer than `limit`. After the header.
uint8_t *wi_jpeg_decoder_icc(wi_jpeg_decoder *decoder, size_t limit, size_t *count);
/// From now on rows of CMYK pictures are C, M, Y, K (0 no ink) instead of R, G, B, 255.
void wi_jpeg_decoder_keep_ink(wi_jpeg_decoder *decoder);
/// Chooses the size (1, 2, 4 or 8 as denominator) and begins; `width` and `height` become those of the rows.
wi_jpeg_status wi_jpeg_decoder_start(wi_jpeg_decoder *decoder, unsigned denominator, uint32_t *width, uint32_t *height);
/// Files of several scans are read in full before the first row: at most `steps` block rows per call.
wi_jpeg_status wi_jpeg_decoder_absorb(wi_jpeg_decoder *decoder, int steps);
/// Writes up to `rows` rows of R, G, B, 255 and stores how many there were.
wi_jpeg_status wi_jpeg_decoder_rows(wi_jpeg_decoder *decoder, uint8_t *out, size_t stride, uint32_t rows, uint32_t *done);
/// Whether the data ended before the last pixel. After the last row.
int wi_jpeg_decoder_is_truncated(const wi_jpeg_decoder *decoder);

// A file that comes piece by piece. What needs more bytes returns WI_JPEG_MORE: header, absorb, rows.
/// As wi_jpeg_decoder_open, without bytes.
wi_jpeg_decoder *wi_jpeg_stream_open(size_t max_memory, int max_scans);
/// Adds bytes, which are copied. `is_last`: nothing follows, and from here on the decoder does as for a whole file.
wi_jpeg_status wi_jpeg_stream_feed(wi_jpeg_decoder *decoder, const uint8_t *bytes, size_t count, int is_last);
/// Whether the picture comes in several scans. After start.
int wi_jpeg_stream_has_scans(const wi_jpeg_decoder *decoder);
/// Reads scans, at most `steps` block rows per call. WI_JPEG_MORE: bytes are needed, or `*steps_left` is 0.
wi_jpeg_status wi_jpeg_stream_absorb(wi_jpeg_decoder *decoder, int steps, int *steps_left);
/// Scans that are whole.
int wi_jpeg_stream_scans(const wi_jpeg_decoder *decoder);
/// Begins the rows of what the scans so far give; there must be a whole one.
wi_jpeg_status wi_jpeg_stream_begin_output(wi_jpeg_decoder *decoder);
/// After the last row of the output.
wi_jpeg_status wi_jpeg_stream_end_output(wi_jpeg_decoder *decoder);
/// How much of the coefficients the whole scans brought: 0 nothing, 1 all bits of all of them.
double wi_jpeg_stream_refinement(const wi_jpeg_decoder *decoder);

wi_jpeg_encoder *wi_jpeg_encoder_open(void);
void wi_jpeg_encoder_close(wi_jpeg_encoder *encoder);
const char *wi_jpeg_encoder_message(const wi_jpeg_encoder *encoder);
typedef struct {
    /// 1 to 100.
    int quality;
    int is_progressive;
    /// Huffman tables made for the picture.
    int optimizes_tables;
    /// Red stands for all three.
    int is_gray;
    /// Of brightness, for each sample of colour: 1 or 2.
    int columns;
    int rows;
} wi_jpeg_options;
wi_jpeg_status wi_jpeg_encoder_start(wi_jpeg_encoder *encoder, uint32_t width, uint32_t height,
                                     const wi_jpeg_options *options);
/// Bytes of a segment without its marker and its length.
#define WI_JPEG_MAX_SEGMENT 65533
/// Writes a segment APP`number`: a name, then `bytes`. Between start and the first row.
wi_jpeg_status wi_jpeg_encoder_segment(wi_jpeg_encoder *encoder, int number, const char *name, size_t name_count,
                                       const uint8_t *bytes, size_t count);
/// Writes a profile in as many segments as it takes. Between start and the first row.
wi_jpeg_status wi_jpeg_encoder_profile(wi_jpeg_encoder *encoder, const uint8_t *bytes, size_t count);
/// Takes `rows` rows of premultiplied R, G, B, A; what is transparent shows `background` (R, G, B).
wi_jpeg_status wi_jpeg_encoder_rows(wi_jpeg_encoder *encoder, const uint8_t *rows, size_t stride, uint32_t count,
                                    int is_opaque, const uint8_t *background);
/// Ends the file; the bytes stay the encoder's until close.
wi_jpeg_status wi_jpeg_encoder_finish(wi_jpeg_encoder *encoder, const uint8_t **bytes, size_t *count);
