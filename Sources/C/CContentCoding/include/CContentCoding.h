// SPDX-License-Identifier: MIT
// The decoders for HTTP content codings: zlib, brotli, and zstd.
#pragma once
#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

/// Calls inflateInit2, which is a macro. `window_bits` is 15 for zlib, 31 for gzip, and -15 for raw deflate.
int wi_inflate_begin(z_stream *stream, int window_bits);
