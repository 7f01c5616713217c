// SPDX-License-Identifier: MIT
// Plain functions that wrap libjpeg-turbo and return status codes. The error handler of libjpeg uses longjmp, which
// must not cross Swift frames.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef enum {
    WI_JPEG_OK = 0,
    /// More steps are required.
    WI_JPEG_MORE = 1,
    WI_JPEG_CORRUPT = -1,
    WI_JPEG_UNSUPPORTED = -2,
    WI_JPEG_MEMORY = -3,
    /// The file has more scans than the limit of wi_jpeg_decoder_open.
    WI_JPEG_SCANS = -4,
    /// The data ended before any pixels could be decoded.
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
    /// Nonzero if the image has several scans, so that libjpeg stores all coefficients until the last one.
    int has_scans;
    /// The size of the coefficients of all components, in bytes.
    size_t coefficient_bytes;
} wi_jpeg_info;

/// Opens a file. `data` must stay valid until the decoder is closed. `max_memory` limits the memory that libjpeg uses
/// for coefficients, in bytes. 0 means no limit.
wi_jpeg_decoder *wi_jpeg_decoder_open(const uint8_t *data, size_t count, size_t max_memory, int max_scans);
void wi_jpeg_decoder_close(wi_jpeg_decoder *decoder);
/// Returns the message of the last error, or an empty string if there was none.
const char *wi_jpeg_decoder_message(const wi_jpeg_decoder *decoder);

wi_jpeg_status wi_jpeg_decoder_header(wi_jpeg_decoder *decoder, wi_jpeg_info *info);
/// Returns a copy of the color profile, which the caller must release with free. Returns NULL if there's no profile or
/// if it's larger than `limit` bytes. Call this function after reading the header.
///
/// Some encoders write the profile twice, for example before and after the frame header. Like browsers, Pillow, and libvips,
/// this function accepts equal profiles, also if they're divided into segments differently. If they differ, it returns NULL.
uint8_t *wi_jpeg_decoder_icc(wi_jpeg_decoder *decoder, size_t limit, size_t *count);
/// Produces the rows of CMYK images as C, M, Y, K (0 means no ink) instead of R, G, B, 255.
void wi_jpeg_decoder_keep_ink(wi_jpeg_decoder *decoder);
/// Selects the scale (the denominator is 1, 2, 4, or 8) and starts decoding. `width` and `height` receive the size of
/// the rows.
wi_jpeg_status wi_jpeg_decoder_start(wi_jpeg_decoder *decoder, unsigned denominator, uint32_t *width, uint32_t *height);
/// Reads all scans of a file with several scans, before the first row. Each call processes up to `steps` block rows.
wi_jpeg_status wi_jpeg_decoder_absorb(wi_jpeg_decoder *decoder, int steps);
/// Decodes up to `rows` rows of R, G, B, 255 and stores their number in `*done`.
wi_jpeg_status wi_jpeg_decoder_rows(wi_jpeg_decoder *decoder, uint8_t *out, size_t stride, uint32_t rows, uint32_t *done);
/// Returns whether the data ended before the last pixel. Call this function after the last row.
int wi_jpeg_decoder_is_truncated(const wi_jpeg_decoder *decoder);

// The following functions decode a file that arrives incrementally. The functions for the header and the rows, and
// wi_jpeg_stream_absorb, return WI_JPEG_MORE if they need more data.
/// Creates a decoder like wi_jpeg_decoder_open, but without data.
wi_jpeg_decoder *wi_jpeg_stream_open(size_t max_memory, int max_scans);
/// Appends a copy of the bytes. If `is_last` is nonzero, no data follows, and the decoder then behaves as for a
/// complete file.
wi_jpeg_status wi_jpeg_stream_feed(wi_jpeg_decoder *decoder, const uint8_t *bytes, size_t count, int is_last);
/// Returns whether the image has several scans. Call this function after wi_jpeg_decoder_start.
int wi_jpeg_stream_has_scans(const wi_jpeg_decoder *decoder);
/// Reads scans, up to `steps` block rows per call. WI_JPEG_MORE means that more data is needed or that `*steps_left`
/// is 0.
wi_jpeg_status wi_jpeg_stream_absorb(wi_jpeg_decoder *decoder, int steps, int *steps_left);
/// Returns the number of complete scans.
int wi_jpeg_stream_scans(const wi_jpeg_decoder *decoder);
/// Starts an output of rows from the scans so far, of which at least one must be complete.
wi_jpeg_status wi_jpeg_stream_begin_output(wi_jpeg_decoder *decoder);
/// Finishes the output after its last row.
wi_jpeg_status wi_jpeg_stream_end_output(wi_jpeg_decoder *decoder);
/// Returns the fraction of the coefficients' bits that the complete scans contain, from 0 (none) to 1 (all bits of all
/// coefficients).
double wi_jpeg_stream_refinement(const wi_jpeg_decoder *decoder);
/// Returns the fraction of the coefficients that the complete scans of a progressive file contain with any precision, for
/// the component with the least of them. For other files, the result is 0.
double wi_jpeg_stream_detail(const wi_jpeg_decoder *decoder);

wi_jpeg_encoder *wi_jpeg_encoder_open(void);
void wi_jpeg_encoder_close(wi_jpeg_encoder *encoder);
const char *wi_jpeg_encoder_message(const wi_jpeg_encoder *encoder);
typedef struct {
    /// The quality, from 1 to 100.
    int quality;
    int is_progressive;
    /// Nonzero to optimize the Huffman tables for the image.
    int optimizes_tables;
    /// Nonzero to encode one gray component. The red samples then represent all three channels.
    int is_gray;
    /// Nonzero to write coefficients without quantization, as the input of an optimizer. `quality` then has no effect.
    int is_fine;
    /// The number of luma samples per chroma sample in each direction, either 1 or 2.
    int columns;
    int rows;
} wi_jpeg_options;
wi_jpeg_status wi_jpeg_encoder_start(wi_jpeg_encoder *encoder, uint32_t width, uint32_t height,
                                     const wi_jpeg_options *options);
/// The maximum size of a segment's contents in bytes, without its marker and its length.
#define WI_JPEG_MAX_SEGMENT 65533
/// Writes the segment APP`number` with a name followed by `bytes`. Call this function between the start and the first
/// row.
wi_jpeg_status wi_jpeg_encoder_segment(wi_jpeg_encoder *encoder, int number, const char *name, size_t name_count,
                                       const uint8_t *bytes, size_t count);
/// Writes a color profile, in several segments if necessary. Call this function between the start and the first row.
wi_jpeg_status wi_jpeg_encoder_profile(wi_jpeg_encoder *encoder, const uint8_t *bytes, size_t count);
/// Encodes rows of premultiplied R, G, B, A. Transparent pixels show `background` (R, G, B).
wi_jpeg_status wi_jpeg_encoder_rows(wi_jpeg_encoder *encoder, const uint8_t *rows, size_t stride, uint32_t count,
                                    int is_opaque, const uint8_t *background);
/// Finishes the file. The encoder owns the bytes until it's closed.
wi_jpeg_status wi_jpeg_encoder_finish(wi_jpeg_encoder *encoder, const uint8_t **bytes, size_t *count);
/// An optimizer that chooses coefficients and scans so that a file becomes smaller without looking worse.
typedef struct wi_jpeg_optimizer wi_jpeg_optimizer;
wi_jpeg_optimizer *wi_jpeg_optimizer_open(void);
void wi_jpeg_optimizer_close(wi_jpeg_optimizer *optimizer);
const char *wi_jpeg_optimizer_message(const wi_jpeg_optimizer *optimizer);
/// Quantizes the coefficients of the file `fine`, which wi_jpeg_encoder_finish returned for `is_fine`, with the tables
/// of `quality`. The coefficients minimize the bits and the visible errors together (trellis quantization). The result
/// has the smallest of several divisions into scans, which is progressive if `is_progressive` is nonzero. The optimizer
/// owns the bytes until it's closed. It holds all coefficients in memory, with 2 bytes each.
wi_jpeg_status wi_jpeg_optimizer_run(wi_jpeg_optimizer *optimizer, const uint8_t *fine, size_t fine_count, int quality,
                                     int is_progressive, const uint8_t **bytes, size_t *count);
/// Returns the version of libjpeg-turbo as major × 1,000,000 + minor × 1,000 + patch, or 0 for another libjpeg.
int wi_jpeg_version(void);
