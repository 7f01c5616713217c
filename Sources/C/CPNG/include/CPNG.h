// SPDX-License-Identifier: MIT
// libpng behind calls that return a code: its error exit is a longjmp, which must not cross Swift.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    WI_PNG_OK = 0,
    WI_PNG_CORRUPT = -1,
    WI_PNG_TRUNCATED = -2,
    WI_PNG_MEMORY = -3,
    /// Another size than the caller was told.
    WI_PNG_INCONSISTENT = -4,
} wi_png_status;

typedef struct wi_png_decoder wi_png_decoder;
typedef struct wi_png_encoder wi_png_encoder;

typedef struct {
    uint32_t width;
    uint32_t height;
    int bits;
    /// Alpha channel or transparent colours.
    int has_alpha;
    int is_interlaced;
    /// What rows are made of where they are not interlaced and of 8 bits or fewer a sample: 1 indices or grey (see
    /// wi_png_decoder_table), 2 grey and alpha, 3 R, G, B without a transparent colour, 4 R, G, B, A; 0 for others.
    int plain_channels;
    int is_gray;
} wi_png_info;

/// `data` must stay valid until close. `max_chunk` bounds what libpng allocates for one chunk, in bytes.
wi_png_decoder *wi_png_decoder_open(const uint8_t *data, size_t count, size_t max_chunk);
void wi_png_decoder_close(wi_png_decoder *decoder);
const char *wi_png_decoder_message(const wi_png_decoder *decoder);
/// Reads up to the pixels. Memory that depends on the size is taken by wi_png_decoder_start only.
wi_png_status wi_png_decoder_header(wi_png_decoder *decoder, int reads_in_small_steps, wi_png_info *info);
/// The profile, NULL where there is none; valid until close.
const uint8_t *wi_png_decoder_icc(wi_png_decoder *decoder, size_t *count);
typedef struct {
    /// `cICP`: primaries, transfer function, matrix, full range.
    int has_code_points;
    uint8_t code_points[4];
    int is_srgb;
    /// × 100,000; 0 where there is none.
    int32_t gamma;
    /// x and y of white, red, green, blue × 100,000.
    int has_chromaticities;
    int32_t chromaticities[8];
} wi_png_colors;
/// What stands before the pixels about their colours, besides the profile. After the header.
void wi_png_decoder_colors(wi_png_decoder *decoder, wi_png_colors *colors);
/// The straight colours of the samples of a picture of `plain_channels` 1, in memory order. After the header.
wi_png_status wi_png_decoder_table(wi_png_decoder *decoder, uint32_t table[256]);
/// Sets the conversion to R, G, B, A of 8 bits, or of 16 where `is_wide`, alpha not multiplied in. `*passes` is how often
/// wi_png_decoder_rows must be run over all rows.
wi_png_status wi_png_decoder_start(wi_png_decoder *decoder, int is_wide, int *passes);
/// Reads `rows` rows of the present pass. Interlaced passes need the rows of the pass before.
wi_png_status wi_png_decoder_rows(wi_png_decoder *decoder, uint8_t *out, size_t stride, uint32_t rows, uint32_t *done);

/// A file that comes piece by piece.
typedef struct wi_png_stream wi_png_stream;
typedef struct {
    /// Rows from the top that show something.
    uint32_t rows;
    /// Passes that are whole, and those in all (1 or 7; 0 before the pixels begin).
    int passes;
    int pass_count;
    int is_complete;
    /// 0 to 1.
    double fraction;
} wi_png_progress;

/// Rows are written to `out` as they come: R, G, B, A of 8 bits, alpha not multiplied in; those of the first passes of
/// an interlaced picture also where later passes are going to write. `out` must stay valid until close.
wi_png_stream *wi_png_stream_open(uint8_t *out, size_t stride, uint32_t width, uint32_t height, size_t max_chunk);
void wi_png_stream_close(wi_png_stream *stream);
const char *wi_png_stream_message(const wi_png_stream *stream);
/// After a failure nothing more may be fed.
wi_png_status wi_png_stream_feed(wi_png_stream *stream, const uint8_t *bytes, size_t count);
void wi_png_stream_progress(const wi_png_stream *stream, wi_png_progress *progress);
/// Right once `pass_count` is not 0.
void wi_png_stream_info(const wi_png_stream *stream, wi_png_info *info);
/// What stands before the pixels about their colours, besides the profile. After the header.
void wi_png_stream_colors(const wi_png_stream *stream, wi_png_colors *colors);
/// As wi_png_decoder_icc.
const uint8_t *wi_png_stream_icc(wi_png_stream *stream, size_t *count);

wi_png_encoder *wi_png_encoder_open(void);
void wi_png_encoder_close(wi_png_encoder *encoder);
const char *wi_png_encoder_message(const wi_png_encoder *encoder);
typedef enum { WI_PNG_GRAY, WI_PNG_GRAY_ALPHA, WI_PNG_RGB, WI_PNG_RGBA, WI_PNG_PALETTE } wi_png_kind;
typedef struct {
    uint32_t width;
    uint32_t height;
    wi_png_kind kind;
    /// Of a sample or an index: 1, 2, 4, 8, 16; samples of 16 bits come as such.
    int bits;
    /// zlib's level 0 to 9, -1 its default.
    int effort;
} wi_png_layout;

/// Which colours there are in a picture of 8 bits a sample.
typedef struct wi_png_survey wi_png_survey;
wi_png_survey *wi_png_survey_open(void);
void wi_png_survey_close(wi_png_survey *survey);
/// Looks at pixels of R, G, B, A, alpha not multiplied in. False once more cannot change anything.
bool wi_png_survey_add(wi_png_survey *survey, const uint8_t *pixels, size_t count);
/// Sets kind and bits so that the rows take the fewest bytes. Without `allows_gray` there is a red, a green and a blue in
/// any case, without `allows_colour` no palette.
void wi_png_survey_choose(const wi_png_survey *survey, bool is_opaque, bool allows_gray, bool allows_colour,
                          wi_png_layout *layout);

/// `survey` holds the colours of a palette, NULL for other kinds.
wi_png_status wi_png_encoder_start(wi_png_encoder *encoder, const wi_png_layout *layout, const wi_png_survey *survey);
/// Adds blocks, of which some may have a `count` of 0. Between start and the first row.
wi_png_status wi_png_encoder_embed(wi_png_encoder *encoder, const uint8_t *icc, size_t icc_count, const uint8_t *exif,
                                   size_t exif_count, const uint8_t *xmp, size_t xmp_count);
/// Takes `count` rows of R, G, B, A, alpha not multiplied in, samples of 8 bits, or of 16 in the machine's order where the
/// layout says so.
wi_png_status wi_png_encoder_rows(wi_png_encoder *encoder, const void *rows, size_t stride, uint32_t count);
/// Ends the file; the bytes stay the encoder's until close.
wi_png_status wi_png_encoder_finish(wi_png_encoder *encoder, const uint8_t **bytes, size_t *count);

/// The check value of a chunk; `bytes` are its name and its body (PNG third edition, section 5.5).
uint32_t wi_png_check(const uint8_t *bytes, size_t count);
/// Lays premultiplied pixels over others.
void wi_png_blend_over(uint8_t *below, const uint8_t *above, size_t pixels);

/// Unpacks the pixels' data of the whole file `png` with one call of libdeflate: `raw_count` bytes, every row behind its
/// filter's number. False where anything is not as it should be, check values included.
bool wi_png_unpack(const uint8_t *png, size_t count, uint8_t *raw, size_t raw_count);
