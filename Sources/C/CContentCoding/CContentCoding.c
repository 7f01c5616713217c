// SPDX-License-Identifier: MIT
#include "CContentCoding.h"

int wi_inflate_begin(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}
