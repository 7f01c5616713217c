// SPDX-License-Identifier: MIT
// The decoders of HTTP content codings: zlib, brotli and zstd.
#pragma once
#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

/// inflateInit2, which is a macro. `window_bits`: 15 for zlib, 31 for gzip, -15 for raw deflate.
int wi_inflate_begin(z_stream *stream, int window_bits);
