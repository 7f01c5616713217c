// SPDX-License-Identifier: MIT
// Plain functions that wrap libpng and return status codes. The error handler of libpng uses longjmp, which must not
// cross Swift frames.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    WI_PNG_OK = 0,
    WI_PNG_CORRUPT = -1,
    WI_PNG_TRUNCATED = -2,
    WI_PNG_MEMORY = -3,
    /// The size differs from the size that the caller specified.
    WI_PNG_INCONSISTENT = -4,
    /// The checksum of the compressed pixels (Adler-32) is wrong, and libpng reported it before the last row. See
    /// wi_png_decoder_ignore_check.
    WI_PNG_CHECK = -5,
} wi_png_status;

typedef struct wi_png_decoder wi_png_decoder;
typedef struct wi_png_encoder wi_png_encoder;

typedef struct {
    uint32_t width;
    uint32_t height;
    int bits;
    /// Nonzero if the image has an alpha channel or transparent colors.
    int has_alpha;
    int is_interlaced;
    /// The layout of noninterlaced rows with at most 8 bits per sample, or 0 for other images. 1 means indices or gray
    /// (see wi_png_decoder_table), 2 means gray and alpha, 3 means R, G, B without a transparent color, and 4 means R,
    /// G, B, A.
    int plain_channels;
    int is_gray;
} wi_png_info;

/// Opens a file. `data` must stay valid until the decoder is closed. `max_chunk` is the maximum memory that libpng
/// allocates for one chunk, in bytes.
wi_png_decoder *wi_png_decoder_open(const uint8_t *data, size_t count, size_t max_chunk);
void wi_png_decoder_close(wi_png_decoder *decoder);
/// Ignores the checksum of the compressed pixels, which is known to be wrong. Call this function before reading the header.
void wi_png_decoder_ignore_check(wi_png_decoder *decoder);
/// Returns whether all rows were decoded although the checksum of the compressed pixels is wrong, or although the file ends
/// before it or inside the chunk. The checksums of chunks aren't verified. Call this function after the last row.
int wi_png_decoder_is_damaged(const wi_png_decoder *decoder);
/// Returns whether the last failure has the status WI_PNG_CHECK.
int wi_png_decoder_failed_check(const wi_png_decoder *decoder);
const char *wi_png_decoder_message(const wi_png_decoder *decoder);
/// Reads all data before the pixels. Only wi_png_decoder_start allocates memory that depends on the image size.
wi_png_status wi_png_decoder_header(wi_png_decoder *decoder, int reads_in_small_steps, wi_png_info *info);
/// Returns the color profile, or NULL if there's none. The pointer is valid until the decoder is closed.
const uint8_t *wi_png_decoder_icc(wi_png_decoder *decoder, size_t *count);
typedef struct {
    /// The contents of the chunk `cICP`: primaries, transfer function, matrix, and full range.
    int has_code_points;
    uint8_t code_points[4];
    int is_srgb;
    /// The gamma × 100,000, or 0 if there's none.
    int32_t gamma;
    /// The x and y coordinates of white, red, green, and blue, × 100,000.
    int has_chromaticities;
    int32_t chromaticities[8];
} wi_png_colors;
/// Gets the color information in the chunks before the pixels, except for the profile. Call this function after
/// reading the header.
void wi_png_decoder_colors(wi_png_decoder *decoder, wi_png_colors *colors);
/// Gets the straight colors of the samples, in memory order, for an image with `plain_channels` 1. Call this function
/// after reading the header.
wi_png_status wi_png_decoder_table(wi_png_decoder *decoder, uint32_t table[256]);
/// Starts decoding to R, G, B, A with straight alpha and 8 bits per sample, or 16 bits if `is_wide` is nonzero. For
/// each of `*passes` passes, the caller must read all rows with wi_png_decoder_rows.
wi_png_status wi_png_decoder_start(wi_png_decoder *decoder, int is_wide, int *passes);
/// Reads `rows` rows of the current pass. Passes of interlaced images require the rows of the previous pass in `out`. After
/// the last row, this function ignores that the rest of the data is missing or invalid.
wi_png_status wi_png_decoder_rows(wi_png_decoder *decoder, uint8_t *out, size_t stride, uint32_t rows, uint32_t *done);

/// The verification of the checksums of all chunks (CRC) in a file that may arrive incrementally. It begins with zeros.
typedef struct {
    /// The bytes of the current signature, head, or checksum, and their number.
    uint8_t pending[8];
    uint32_t pending_count;
    int stage;
    /// The missing bytes of the current body.
    uint32_t left;
    /// The checksum of the name and of the body so far.
    uint32_t check;
    bool is_last_chunk;
    /// Whether the head of a chunk with pixels was read.
    bool has_pixels;
    /// Whether the head of another chunk after the pixels was read.
    bool is_past_pixels;
    bool is_wrong;
} wi_png_checks;
/// Reads the next part of a file, which ends after the signature, a head, a body, or a checksum. The last byte of a body is a
/// separate part. Returns the size of the part, which is at most `count`.
size_t wi_png_checks_add(wi_png_checks *checks, const uint8_t *bytes, size_t count);
/// Returns whether a checksum is wrong or, if no data follows, missing because the file ends inside a chunk.
bool wi_png_checks_failed(const wi_png_checks *checks, bool is_last);
/// Returns whether the checksums of all chunks up to the end of a complete file are correct.
bool wi_png_has_valid_checks(const uint8_t *png, size_t count);

/// A decoder for a file that arrives incrementally.
typedef struct wi_png_stream wi_png_stream;
typedef struct {
    /// The number of rows from the top that contain pixels.
    uint32_t rows;
    /// The number of complete passes, followed by the total number of passes (1 or 7, or 0 before the pixels begin).
    int passes;
    int pass_count;
    int is_complete;
    /// The progress, from 0 to 1.
    double fraction;
} wi_png_progress;

/// Creates a decoder that writes rows to `out` as they arrive: R, G, B, A with 8 bits per sample and straight alpha.
/// The rows of the first passes of an interlaced image also fill the positions of later passes. `out` must stay valid
/// until the stream is closed.
wi_png_stream *wi_png_stream_open(uint8_t *out, size_t stride, uint32_t width, uint32_t height, size_t max_chunk);
void wi_png_stream_close(wi_png_stream *stream);
const char *wi_png_stream_message(const wi_png_stream *stream);
/// Decodes the next bytes. After a failure, this function must not be called again. After the last row, invalid data isn't a
/// failure.
wi_png_status wi_png_stream_feed(wi_png_stream *stream, const uint8_t *bytes, size_t count);
/// Returns whether a checksum of a chunk or of the compressed pixels is wrong or, if no data follows, missing.
int wi_png_stream_is_damaged(const wi_png_stream *stream, int is_last);
void wi_png_stream_progress(const wi_png_stream *stream, wi_png_progress *progress);
/// Gets the properties of the image, which are valid if `pass_count` isn't 0.
void wi_png_stream_info(const wi_png_stream *stream, wi_png_info *info);
/// Gets the color information in the chunks before the pixels, except for the profile. Call this function after the
/// header was decoded.
void wi_png_stream_colors(const wi_png_stream *stream, wi_png_colors *colors);
/// Returns the color profile like wi_png_decoder_icc.
const uint8_t *wi_png_stream_icc(wi_png_stream *stream, size_t *count);

wi_png_encoder *wi_png_encoder_open(void);
void wi_png_encoder_close(wi_png_encoder *encoder);
const char *wi_png_encoder_message(const wi_png_encoder *encoder);
typedef enum { WI_PNG_GRAY, WI_PNG_GRAY_ALPHA, WI_PNG_RGB, WI_PNG_RGBA, WI_PNG_PALETTE } wi_png_kind;
typedef struct {
    uint32_t width;
    uint32_t height;
    wi_png_kind kind;
    /// The bits per sample or index: 1, 2, 4, 8, or 16. 16 bits per sample require 16-bit input.
    int bits;
    /// The compression level of zlib, from 0 to 9, or -1 for its default.
    int effort;
} wi_png_layout;

/// A survey of the colors in an image with 8 bits per sample.
typedef struct wi_png_survey wi_png_survey;
wi_png_survey *wi_png_survey_open(void);
void wi_png_survey_close(wi_png_survey *survey);
/// Adds R, G, B, A pixels with straight alpha. Returns `false` if further pixels can't change the result.
bool wi_png_survey_add(wi_png_survey *survey, const uint8_t *pixels, size_t count);
/// Sets the kind and the bits so that the rows need the fewest bytes. Without `allows_gray`, the layout always has
/// red, green, and blue. Without `allows_colour`, it never has a palette.
void wi_png_survey_choose(const wi_png_survey *survey, bool is_opaque, bool allows_gray, bool allows_colour,
                          wi_png_layout *layout);

/// Starts encoding. `survey` contains the colors of the palette, or is NULL for other kinds.
wi_png_status wi_png_encoder_start(wi_png_encoder *encoder, const wi_png_layout *layout, const wi_png_survey *survey);
/// Embeds metadata. `cicp` has the 4 bytes of the chunk `cICP`, or is NULL. A block with a `count` of 0 is omitted. Call this function between the start and the first row.
wi_png_status wi_png_encoder_embed(wi_png_encoder *encoder, const uint8_t *cicp, const uint8_t *icc, size_t icc_count,
                                   const uint8_t *exif, size_t exif_count, const uint8_t *xmp, size_t xmp_count);
/// Encodes `count` rows of R, G, B, A with straight alpha. The samples have 8 bits, or 16 bits in the byte order of
/// the machine if the layout has 16 bits.
wi_png_status wi_png_encoder_rows(wi_png_encoder *encoder, const void *rows, size_t stride, uint32_t count);
/// Finishes the file. The encoder owns the bytes until it's closed.
wi_png_status wi_png_encoder_finish(wi_png_encoder *encoder, const uint8_t **bytes, size_t *count);

/// Returns the checksum of a chunk, whose name and body are in `bytes` (PNG third edition, section 5.5).
uint32_t wi_png_check(const uint8_t *bytes, size_t count);
/// Blends premultiplied pixels over others.
void wi_png_blend_over(uint8_t *below, const uint8_t *above, size_t pixels);

/// The compressed pixels of a complete file.
typedef struct {
    const uint8_t *data;
    size_t count;
    /// The memory of `data`, or NULL if it's part of the file.
    uint8_t *joined;
    /// The rows and the compressed size of the first of two strips that can be decompressed independently (Apple's chunk
    /// iDOT), or 0. The file isn't trusted: wi_png_unpack_first_strip and wi_png_unpack_second_strip verify the strips.
    uint32_t first_rows;
    size_t first_count;
} wi_png_pixels;
/// Finds the pixels without verifying the checksums of the chunks. `png` must stay valid until the caller releases the result
/// with wi_png_pixels_free, also after a failure. Returns `false` if a chunk is invalid.
bool wi_png_pixels_find(const uint8_t *png, size_t count, uint32_t height, wi_png_pixels *pixels);
void wi_png_pixels_free(wi_png_pixels *pixels);
typedef enum {
    WI_PNG_UNPACK_FAILED = 0,
    WI_PNG_UNPACKED = 1,
    /// The data is complete, but its checksum is wrong or missing.
    WI_PNG_UNPACKED_WITHOUT_CHECK = 2,
} wi_png_unpack_result;
/// Decompresses all pixels with one call of libdeflate. The result has `raw_count` bytes, in which each row follows its
/// filter type. Fails if the data is invalid in any way, except for its checksum (Adler-32).
wi_png_unpack_result wi_png_unpack(const wi_png_pixels *pixels, uint8_t *raw, size_t raw_count);
/// Decompresses at most the first `raw_count` bytes. The last WI_PNG_LONGEST_COPY bytes may be missing. Returns `false` if
/// the data is invalid before them or doesn't contain more bytes.
bool wi_png_unpack_beginning(const wi_png_pixels *pixels, uint8_t *raw, size_t raw_count);
/// The longest copy of deflate in bytes (RFC 1951, section 3.2.5).
enum { WI_PNG_LONGEST_COPY = 258 };
/// The bytes that wi_png_unpack_first_strip writes after the strip.
enum { WI_PNG_STRIP_ROOM = 65599 };
/// Decompresses the first strip to `raw_count` bytes. `raw` has space for WI_PNG_STRIP_ROOM more bytes. `*check` is the
/// checksum of the result. Returns `false` unless a decoder of the whole data would return the same bytes and continue at
/// the start of the second strip.
bool wi_png_unpack_first_strip(const wi_png_pixels *pixels, uint8_t *raw, size_t raw_count, uint32_t *check);
/// Decompresses the second strip, which must not refer to the first one. `*expected` is the stored checksum of both.
bool wi_png_unpack_second_strip(const wi_png_pixels *pixels, uint8_t *raw, size_t raw_count, uint32_t *check,
                                uint32_t *expected);
/// Returns the checksum of two strips (Adler-32) from their checksums and the size of the second one.
uint32_t wi_png_combine_checks(uint32_t first, uint32_t second, size_t second_count);
/// Returns the version of libpng, such as `1.6.39`. The caller must not release it.
const char *wi_png_version(void);
/// Returns the version of libdeflate's headers, because the library doesn't report its version.
const char *wi_deflate_version(void);
