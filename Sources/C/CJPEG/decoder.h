// SPDX-License-Identifier: MIT
#pragma once
#include "shim.h"

struct wi_jpeg_decoder {
    struct jpeg_decompress_struct info;
    struct jpeg_source_mgr source;
    wi_jpeg_errors errors;
    int max_scans;
    int is_created;
    int keeps_ink;
    JSAMPROW cmyk;
    /// The number of pixels in `cmyk`.
    JDIMENSION cmyk_width;
    /// The data that libjpeg hasn't consumed yet if the file arrives incrementally.
    uint8_t *pending;
    size_t pending_capacity;
    /// The number of bytes that still have to be skipped.
    size_t skip;
    int is_last;
    /// The fraction of the coefficients' bits that were known at the end of the last complete scan.
    double refinement, detail;
};

/// Ends the input. libjpeg receives an end marker, and `errors` records that the file didn't contain it.
boolean wi_jpeg_source_end(j_decompress_ptr info);
void wi_jpeg_source_nothing(j_decompress_ptr info);
/// Returns the status for the last error. Called after `escape`.
wi_jpeg_status wi_jpeg_decoder_failure(const wi_jpeg_decoder *decoder);
/// Creates a decoder without a source. Returns NULL if memory can't be allocated.
wi_jpeg_decoder *wi_jpeg_decoder_make(size_t max_memory, int max_scans);
