// SPDX-License-Identifier: MIT
// Plain functions that hide OpenJPEG's streams, callbacks, and planes of components.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef enum {
    WI_JPEG2000_OK = 0,
    WI_JPEG2000_TRUNCATED = 1,
    WI_JPEG2000_CORRUPT = -1,
    WI_JPEG2000_MEMORY = -2,
    WI_JPEG2000_UNSUPPORTED = -3,
} wi_jpeg2000_status;

typedef struct {
    /// The size of the reduced image.
    uint32_t width;
    uint32_t height;
    /// The largest number of bits per sample.
    uint32_t depth;
    /// The number of halvings of the size, which is less than requested if the file has fewer resolutions.
    uint32_t reduction;
    int has_alpha;
    /// Nonzero if the colors are multiplied by alpha.
    int is_premultiplied;
    /// 1 for gray, 3 for RGB and for formats that are converted to RGB.
    uint32_t colors;
    /// The color profile, which is valid until the decoder is closed, and its size in bytes, or 0 if there's none.
    const uint8_t *icc;
    size_t icc_count;
} wi_jpeg2000_info;

typedef struct wi_jpeg2000_decoder wi_jpeg2000_decoder;
/// Reads the header of a JP2 file or of a codestream. `data` must stay valid until the decoder is closed. `info`
/// contains the reduced size.
wi_jpeg2000_status wi_jpeg2000_open(const uint8_t *data, size_t count, uint32_t reduction, wi_jpeg2000_info *info,
                                    wi_jpeg2000_decoder **decoder);
void wi_jpeg2000_close(wi_jpeg2000_decoder *decoder);
/// Returns a description of the first failure.
const char *wi_jpeg2000_message(const wi_jpeg2000_decoder *decoder);
/// Decodes the planes of all components and completes `info`.
wi_jpeg2000_status wi_jpeg2000_decode(wi_jpeg2000_decoder *decoder, wi_jpeg2000_info *info);
/// Writes the decoded image as R, G, B, A with 8 or 16 bits per sample, after wi_jpeg2000_decode.
void wi_jpeg2000_rows(const wi_jpeg2000_decoder *decoder, int bits, void *out, size_t stride);
/// Returns the version of OpenJPEG. The caller must not release it.
const char *wi_jpeg2000_version(void);
