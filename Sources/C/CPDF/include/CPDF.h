// SPDX-License-Identifier: MIT
// Plain functions that hide poppler, cairo, and GObject.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Loads poppler unless it's loaded already. Call it before any other function.
///
/// Returns NULL, or the reason why poppler can't be loaded, which the caller must not release.
const char *wi_pdf_load(void);

typedef enum {
    WI_PDF_OK = 0,
    WI_PDF_CORRUPT = -1,
    WI_PDF_MEMORY = -2,
    WI_PDF_ENCRYPTED = -3,
    WI_PDF_TOO_LARGE = -4,
} wi_pdf_status;

typedef struct wi_pdf_document wi_pdf_document;
/// Opens a document. `data` must stay valid until the document is closed. On failure, `message`, which has space for
/// `room` bytes, receives a description.
wi_pdf_status wi_pdf_open(const uint8_t *data, size_t count, uint32_t *pages, char *message, size_t room,
                          wi_pdf_document **document);
void wi_pdf_close(wi_pdf_document *document);
/// Gets the width and height of page `index` (from 0) in points, with the rotation of the page applied. Returns 0 if
/// the page doesn't exist.
int wi_pdf_size(wi_pdf_document *document, uint32_t index, double *width, double *height);
/// Draws page `index` on white paper, scaled to `width` × `height` pixels. `out` receives R, G, B, A.
wi_pdf_status wi_pdf_draw(wi_pdf_document *document, uint32_t index, uint32_t width, uint32_t height, uint8_t *out,
                          size_t stride);
/// Decompresses zlib data. If the data is corrupt or truncated, the result is its valid part. Returns
/// `WI_PDF_TOO_LARGE` if the result exceeds `limit` bytes. The caller releases `*output` with `free`.
wi_pdf_status wi_pdf_inflate(const uint8_t *data, size_t count, size_t limit, uint8_t **output, size_t *output_count);
/// Returns the version of poppler. The caller must not release it.
const char *wi_pdf_version(void);
