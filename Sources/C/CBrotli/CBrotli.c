// SPDX-License-Identifier: MIT
#include "CBrotli.h"
#include <CDynamicLibrary.h>
#include <brotli/decode.h>

#define FUNCTIONS(X) X(BrotliDecoderCreateInstance) X(BrotliDecoderDestroyInstance) X(BrotliDecoderDecompressStream)
WI_LIBRARY_TABLE(brotli, FUNCTIONS)
WI_LIBRARY(brotli, FUNCTIONS, "Brotli", "libbrotlidec.so.1")

wi_brotli_end wi_brotli_unpack(const uint8_t *bytes, size_t count, uint8_t *out, size_t room, size_t *written) {
    *written = 0;
    if (!wi_library_load(&wi_brotli_library)) return WI_BROTLI_CORRUPT;
    BrotliDecoderState *state = brotli.BrotliDecoderCreateInstance(NULL, NULL, NULL);
    if (!state) return WI_BROTLI_CORRUPT;
    size_t left = room;
    uint8_t *next = out;
    BrotliDecoderResult result = brotli.BrotliDecoderDecompressStream(state, &count, &bytes, &left, &next, NULL);
    *written = room - left;
    brotli.BrotliDecoderDestroyInstance(state);
    switch (result) {
    case BROTLI_DECODER_RESULT_SUCCESS: return WI_BROTLI_FINISHED;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: return WI_BROTLI_FULL;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: return WI_BROTLI_SHORT;
    default: return WI_BROTLI_CORRUPT;
    }
}
