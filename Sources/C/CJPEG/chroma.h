// SPDX-License-Identifier: MIT
#pragma once
#include "shim.h"

/// Rows on their way to an encoder with reduced chroma. The luma of a row depends on the chroma of the next rows, so the
/// conversion holds the last two rows of pixels and a band of luma and chroma.
typedef struct wi_jpeg_chroma wi_jpeg_chroma;

/// Returns NULL if memory can't be allocated.
wi_jpeg_chroma *wi_jpeg_chroma_open(uint32_t width);
void wi_jpeg_chroma_close(wi_jpeg_chroma *chroma);
/// Adds a row of R, G, B, and an ignored byte. Errors of libjpeg jump.
void wi_jpeg_chroma_add(wi_jpeg_chroma *chroma, j_compress_ptr info, const uint8_t *row);
/// Writes the remaining rows.
void wi_jpeg_chroma_finish(wi_jpeg_chroma *chroma, j_compress_ptr info);
