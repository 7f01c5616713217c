// SPDX-License-Identifier: MIT
#pragma once
#include "shim.h"

struct wi_jpeg_decoder {
    struct jpeg_decompress_struct info;
    struct jpeg_source_mgr source;
    wi_jpeg_errors errors;
    int max_scans;
    int is_created;
    int is_inverted_cmyk;
    int keeps_ink;
    JSAMPROW cmyk;
    /// What was fed and not taken yet, where the file comes piece by piece.
    uint8_t *pending;
    size_t pending_capacity;
    /// Bytes still to be stepped over.
    size_t skip;
    int is_last;
    /// Part of the coefficients' bits that were known when the last whole scan ended.
    double refinement;
};

/// Ends the input: libjpeg is told that the picture is over, and the errors remember that it was not.
boolean wi_jpeg_source_end(j_decompress_ptr info);
void wi_jpeg_source_nothing(j_decompress_ptr info);
/// What the last error means; called where `escape` led.
wi_jpeg_status wi_jpeg_decoder_failure(const wi_jpeg_decoder *decoder);
/// A decoder without a source; NULL without memory.
wi_jpeg_decoder *wi_jpeg_decoder_make(size_t max_memory, int max_scans);
