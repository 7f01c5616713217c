// SPDX-License-Identifier: MIT
// Plain functions that hide the event loop of libjxl and limit its memory.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Loads libjxl unless it's loaded already. Call it before any other function.
///
/// Returns NULL, or the reason why libjxl can't be loaded, which the caller must not release.
const char *wi_jxl_load(void);

typedef enum {
    WI_JXL_OK = 0,
    /// The data ends before the last pixel.
    WI_JXL_TRUNCATED = 1,
    /// The frame doesn't exist.
    WI_JXL_END = 2,
    /// The function must be called again. Before, the caller can check whether to continue.
    WI_JXL_MORE = 3,
    WI_JXL_CORRUPT = -1,
    WI_JXL_MEMORY = -2,
    WI_JXL_INCONSISTENT = -3,
    /// The image has more than WI_JXL_MAX_CHANNELS channels in addition to the colors.
    WI_JXL_CHANNELS = -4,
    /// The file has more layers than the limit.
    WI_JXL_LAYERS = -5,
    /// A layer is larger than the limits.
    WI_JXL_LAYER_SIZE = -6,
} wi_jxl_status;

/// The maximum number of channels in addition to the colors, each of which needs as much memory as a color.
enum { WI_JXL_MAX_CHANNELS = 16 };

/// A color space.
typedef struct {
    /// The color profile, or NULL for sRGB. The pointer is valid until the decoder is closed.
    uint8_t *icc;
    size_t icc_count;
    /// The code points (ITU-T H.273), or 0 if only the profile describes the color space.
    uint32_t primaries;
    uint32_t transfer;
} wi_jxl_color_space;

typedef struct {
    uint32_t width;
    uint32_t height;
    uint32_t depth;
    int has_alpha;
    int is_premultiplied;
    int is_animated;
    /// The EXIF orientation, from 1 to 8.
    uint32_t orientation;
    uint32_t loops;
    double ticks_per_second;
    /// The color space of the decoded pixels.
    wi_jxl_color_space pixels;
    /// The color space that the file describes. The pixels have another one if libjxl converts them.
    wi_jxl_color_space file;
    int is_gray;
} wi_jxl_info;

/// The color space of images in libjxl's internal color space: sRGB, Display P3, or the original color space. If only a
/// profile describes the original color space, libjxl can't restore it, and the color space is BT.2020 with the transfer
/// function of sRGB.
typedef enum { WI_JXL_SRGB, WI_JXL_DISPLAY_P3, WI_JXL_ORIGINAL } wi_jxl_space;

typedef struct wi_jxl_decoder wi_jxl_decoder;
/// Opens a file. `data` must stay valid until the decoder is closed. libjxl may use at most `max_bytes` of memory at a
/// time.
wi_jxl_status wi_jxl_open(const uint8_t *data, size_t count, size_t max_bytes, wi_jxl_space space, wi_jxl_info *info,
                          wi_jxl_decoder **decoder);
void wi_jxl_close(wi_jxl_decoder *decoder);
/// Loads the library for threads unless it's loaded already. Returns 0 if it can't be loaded.
int wi_jxl_load_threads(void);
/// Starts threads for the frames that are selected afterward. They exist until the decoder is closed. If they can't be
/// used, the calling thread decodes the frames.
void wi_jxl_use_threads(wi_jxl_decoder *decoder, size_t threads);
/// Rewinds to the first frame and counts the frames without decoding pixels. `ticks` has space for `room` durations.
/// If the file has more frames, counting stops at `room` + 1.
wi_jxl_status wi_jxl_index(wi_jxl_decoder *decoder, uint32_t *ticks, uint32_t room, uint32_t *frames);
/// The limits of the layers of a file: their number, and the sides and the area of each of them in pixels.
typedef struct {
    uint32_t count;
    uint32_t side;
    uint64_t area;
} wi_jxl_layer_limits;
/// Reads the headers of the layers without decoding pixels. libjxl draws all layers of a frame in one call, and a layer may
/// be larger than the image. Returns WI_JXL_LAYERS if there are too many, and WI_JXL_LAYER_SIZE if one is too large, whose
/// width and height `size` then contains. Afterward, the decoder is at the first frame.
wi_jxl_status wi_jxl_check_layers(wi_jxl_decoder *decoder, wi_jxl_layer_limits limits, uint32_t size[2]);
/// Selects the frame that wi_jxl_frame decodes.
wi_jxl_status wi_jxl_frame_begin(wi_jxl_decoder *decoder, uint32_t index);
/// Decodes the selected frame into `out` as R, G, B, A with 8 or 16 bits per sample. `stride` is the distance between two
/// rows in bytes. It must be the smallest multiple of `alignment` that holds a row. `out` has as many rows as the image,
/// and `*is_drawn` is 0 before the first call. The function returns WI_JXL_MORE after each piece of the data. With
/// `allows_partial`, it decodes a truncated frame as far as possible and returns WI_JXL_TRUNCATED.
wi_jxl_status wi_jxl_frame(wi_jxl_decoder *decoder, int allows_partial, int bits, void *out, size_t stride,
                           size_t alignment, int *is_drawn);

/// A decoder for a file that arrives incrementally, or for the first frame of an animation. `out` has the same layout
/// as for wi_jxl_frame and must stay valid until the stream is closed.
typedef struct wi_jxl_stream wi_jxl_stream;
wi_jxl_stream *wi_jxl_stream_open(uint8_t *out, size_t stride, size_t alignment, uint32_t width, uint32_t height,
                                  size_t max_bytes, wi_jxl_layer_limits limits);
void wi_jxl_stream_close(wi_jxl_stream *stream);
/// Decodes the next bytes. WI_JXL_TRUNCATED means that more data is needed. WI_JXL_OK means that all pixels were
/// decoded.
wi_jxl_status wi_jxl_stream_feed(wi_jxl_stream *stream, const uint8_t *bytes, size_t count, int is_last);
/// Returns the width and the height of the layer that exceeds the limits after WI_JXL_LAYER_SIZE.
void wi_jxl_stream_layer(const wi_jxl_stream *stream, uint32_t size[2]);
/// Writes the current pixels to `out`. Returns 0 if there are none yet. If there are no complete passes, groups of pixels
/// that aren't decoded yet are black.
int wi_jxl_stream_draw(wi_jxl_stream *stream);
int wi_jxl_stream_is_whole(const wi_jxl_stream *stream);
/// Returns the number of complete passes over the image, including the pass at one eighth of the size.
int wi_jxl_stream_steps(const wi_jxl_stream *stream);
/// Returns the factor by which the image could be reduced without losing received detail: 8, 4, 2, or 1.
int wi_jxl_stream_reduction(const wi_jxl_stream *stream);
/// Gets the properties of the image, which are valid after a successful call to wi_jxl_stream_draw. `icc` is valid
/// until the stream is closed.
void wi_jxl_stream_info(const wi_jxl_stream *stream, wi_jxl_info *info);

typedef struct {
    uint32_t width;
    uint32_t height;
    /// The number of channels, either 3 or 4.
    uint32_t channels;
    /// The bits per sample, either 8 or 16.
    uint32_t bits;
    /// Whether a lossy file stores the samples in the color space of the image and not in XYB, which needs more bytes.
    /// XYB has only the colors that cones can see, which excludes the green of ProPhoto RGB.
    int keeps_space;
} wi_jxl_picture;
/// A color encoding with primaries and a transfer function.
typedef struct {
    /// The x and y of red, green, blue, and white.
    double chromaticities[8];
    /// The transfer characteristics of ITU-T H.273, or 0 for a power function.
    int transfer;
    /// The exponent from samples to linear light if `transfer` is 0.
    double gamma;
} wi_jxl_colors;
/// The metadata to embed. A block with a `count` of 0 is omitted.
typedef struct {
    const uint8_t *icc;
    size_t icc_count;
    const uint8_t *exif;
    size_t exif_count;
    const uint8_t *xmp;
    size_t xmp_count;
    /// The color encoding of the pixels, or NULL for the profile. Without both, the pixels are sRGB.
    const wi_jxl_colors *colors;
} wi_jxl_blocks;
/// Encodes R, G, B, A pixels with straight alpha, or R, G, B pixels if there are three channels, without padding. A
/// `distance` of 0 is lossless. If `is_progressive` is nonzero, a lossless file begins with a smaller version of the
/// image. The caller must release `*bytes` with free.
wi_jxl_status wi_jxl_encode(const void *pixels, const wi_jxl_picture *picture, const wi_jxl_blocks *blocks,
                            float distance, int effort, int is_progressive, uint8_t **bytes, size_t *count);
/// Converts a JPEG file to a file from which it can be reconstructed bit for bit. An `effort` of 0 means the default
/// of libjxl. The caller must release `*bytes` with free.
wi_jxl_status wi_jxl_transcode(const uint8_t *jpeg, size_t jpeg_count, int effort, uint8_t **bytes, size_t *count);

/// An encoder for an animation. wi_jxl_animator_open returns NULL if memory can't be allocated or if libjxl rejects an
/// option.
typedef struct wi_jxl_animator wi_jxl_animator;
wi_jxl_animator *wi_jxl_animator_open(const wi_jxl_picture *picture, const wi_jxl_blocks *blocks, uint32_t loops,
                                      float distance, int effort);
void wi_jxl_animator_close(wi_jxl_animator *animator);

/// The position of a frame on the canvas. Outside the frame, the canvas keeps its previous contents.
typedef struct {
    uint32_t x;
    uint32_t y;
    uint32_t width;
    uint32_t height;
    /// Nonzero if the frame is smaller than the canvas. The first frame must cover the canvas.
    int is_partial;
    int is_last;
    uint32_t milliseconds;
} wi_jxl_part;
/// Adds a frame and encodes it. The pixels have the same layout as for wi_jxl_encode.
wi_jxl_status wi_jxl_animator_add(wi_jxl_animator *animator, const void *pixels, const wi_jxl_part *part);
/// Returns the file after the last frame was added. The pointer is valid until the animator is closed.
const uint8_t *wi_jxl_animator_bytes(const wi_jxl_animator *animator, size_t *count);
/// Returns the version of libjxl as major × 1,000,000 + minor × 1,000 + patch.
uint32_t wi_jxl_version(void);
