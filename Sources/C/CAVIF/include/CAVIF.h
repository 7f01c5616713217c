// SPDX-License-Identifier: MIT
// Plain functions that hide the unions and version-dependent fields of libavif's structures.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Loads libavif unless it's loaded already. Call it before any other function.
///
/// Returns NULL, or the reason why libavif can't be loaded, which the caller must not release.
const char *wi_avif_load(void);

typedef enum {
    WI_AVIF_OK = 0,
    WI_AVIF_TRUNCATED = 1,
    WI_AVIF_CORRUPT = -1,
    WI_AVIF_MEMORY = -2,
    WI_AVIF_UNSUPPORTED = -3,
    /// The size of a frame differs from the size in the header of the file.
    WI_AVIF_INCONSISTENT = -4,
} wi_avif_status;

typedef struct {
    uint32_t width;
    uint32_t height;
    uint32_t depth;
    int has_alpha;
    uint32_t frames;
    /// The visible region in stored pixels. If the file doesn't specify one, it's the whole image.
    uint32_t crop_x;
    uint32_t crop_y;
    uint32_t crop_width;
    uint32_t crop_height;
    /// The color profile, or NULL. The pointer is valid until the decoder is closed.
    const uint8_t *icc;
    size_t icc_count;
    /// The code points of ITU-T H.273.
    uint32_t primaries;
    uint32_t transfer;
} wi_avif_info;

typedef struct wi_avif_decoder wi_avif_decoder;
/// Opens a file. `data` must stay valid until the decoder is closed. libavif enforces the limits. If `uses_tracks` is 0,
/// the decoder produces only the primary image.
wi_avif_status wi_avif_open(const uint8_t *data, size_t count, uint32_t max_pixels, uint32_t max_side,
                            uint32_t max_frames, int uses_tracks, wi_avif_info *info, wi_avif_decoder **decoder);
void wi_avif_close(wi_avif_decoder *decoder);
/// Sets the number of threads for all frames. Call it before the first frame is decoded. The threads exist until the
/// decoder is closed.
void wi_avif_use_threads(wi_avif_decoder *decoder, int threads);
/// Returns a description of the last failure.
const char *wi_avif_message(const wi_avif_decoder *decoder);
/// Returns the mean duration of the frames in milliseconds, or 0 if the file doesn't specify it. libavif adds up all
/// earlier durations for the duration of one frame, so the durations of all frames take quadratic time.
double wi_avif_mean_milliseconds(const wi_avif_decoder *decoder);
/// Decodes frame `index` into `out` as R, G, B, A with 8 or 16 bits per sample. `*is_premultiplied` indicates whether
/// the colors are premultiplied by alpha.
wi_avif_status wi_avif_frame(wi_avif_decoder *decoder, uint32_t index, int bits, void *out, size_t stride,
                             int *is_premultiplied);

/// A decoder for a still image that arrives incrementally. It shows the rows of tiles of a grid, and the layers of a
/// layered image. A single AV1 frame becomes visible only after its last byte.
typedef struct wi_avif_stream wi_avif_stream;
typedef struct {
    /// Nonzero after the header was parsed. The other values are valid only then.
    int has_header;
    wi_avif_info image;
    int is_premultiplied;
    /// The number of rows that were written to the canvas, from the top.
    uint32_t rows;
    /// The number of complete layers and the total number of layers. An image without layers has one.
    uint32_t layers;
    uint32_t layer_count;
} wi_avif_progress;
/// Opens a stream. `out` has space for `height` rows of R, G, B, A with 8 bits per sample, and must stay valid until the
/// stream is closed. `max_bytes` is the maximum size of the file. Returns NULL if memory can't be allocated.
wi_avif_stream *wi_avif_stream_open(uint8_t *out, size_t stride, uint32_t width, uint32_t height, uint32_t max_pixels,
                                    uint32_t max_side, uint64_t max_bytes);
void wi_avif_stream_close(wi_avif_stream *stream);
/// Decodes as much as the first `count` bytes of the file allow. `data` must begin with the data of the previous calls
/// but may be located elsewhere. The function returns WI_AVIF_TRUNCATED if more data is needed and WI_AVIF_OK if
/// everything was decoded.
wi_avif_status wi_avif_stream_advance(wi_avif_stream *stream, const uint8_t *data, size_t count,
                                      wi_avif_progress *progress);
const char *wi_avif_stream_message(const wi_avif_stream *stream);

typedef enum { WI_AVIF_444, WI_AVIF_422, WI_AVIF_420 } wi_avif_subsampling;
typedef struct {
    int depth;
    int is_lossless;
    /// The quality, from 1 to 100.
    int quality;
    /// The speed of libavif, from 0 (smallest files) to 10 (fastest).
    int speed;
    wi_avif_subsampling subsampling;
    /// Nonzero if the pixels have 16 bits per sample instead of 8.
    int is_wide;
    /// The code points of ITU-T H.273.
    int primaries;
    int transfer;
} wi_avif_options;
/// The metadata to embed. A block with a `count` of 0 is omitted.
typedef struct {
    const uint8_t *icc;
    size_t icc_count;
    const uint8_t *exif;
    size_t exif_count;
    const uint8_t *xmp;
    size_t xmp_count;
} wi_avif_blocks;
/// Encodes R, G, B, A pixels with straight alpha. The caller must release `*bytes` with wi_avif_free.
wi_avif_status wi_avif_encode(const void *pixels, size_t stride, uint32_t width, uint32_t height, int is_opaque,
                              wi_avif_options options, const wi_avif_blocks *blocks, uint8_t **bytes, size_t *count,
                              const char **message);
void wi_avif_free(uint8_t *bytes);

/// An encoder for an image sequence. wi_avif_animator_open returns NULL if memory can't be allocated.
typedef struct wi_avif_animator wi_avif_animator;
wi_avif_animator *wi_avif_animator_open(wi_avif_options options);
void wi_avif_animator_close(wi_avif_animator *animator);
/// Sets the number of times to play the sequence, where 0 repeats indefinitely. Call it before the first frame is added.
/// Returns 0 if this version of libavif can't store the number, which is the case before 1.0.
int wi_avif_animator_set_plays(wi_avif_animator *animator, uint32_t plays);
const char *wi_avif_animator_message(const wi_avif_animator *animator);
/// Adds a frame of R, G, B, A pixels with straight alpha. `is_opaque` must be the same for all frames. Only the blocks
/// of the first frame are used.
wi_avif_status wi_avif_animator_add(wi_avif_animator *animator, const void *pixels, size_t stride, uint32_t width,
                                    uint32_t height, int is_opaque, const wi_avif_blocks *blocks,
                                    uint64_t milliseconds);
/// Finishes the file. The caller must release `*bytes` with wi_avif_free.
wi_avif_status wi_avif_animator_finish(wi_avif_animator *animator, uint8_t **bytes, size_t *count);
/// Returns the version of libavif. The caller must not release it.
const char *wi_avif_version(void);
/// Writes the AV1 codecs of libavif with their versions, such as `dav1d [dec]:1.0.0, aom [enc/dec]:3.6.0`.
void wi_avif_codecs(char names[256]);
