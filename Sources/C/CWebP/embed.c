// SPDX-License-Identifier: MIT
#include <webp/mux.h>
#include "CWebP.h"

static int set(WebPMux *mux, const char *name, const uint8_t *bytes, size_t count) {
    const WebPData data = {bytes, count};
    return !count || WebPMuxSetChunk(mux, name, &data, 0) == WEBP_MUX_OK;
}

wi_webp_status wi_webp_embed(const uint8_t *file, size_t file_count, const uint8_t *icc, size_t icc_count,
                             const uint8_t *exif, size_t exif_count, const uint8_t *xmp, size_t xmp_count,
                             uint8_t **bytes, size_t *count) {
    const WebPData whole = {file, file_count};
    WebPData result;
    WebPDataInit(&result);
    WebPMux *mux = WebPMuxCreate(&whole, 0);
    if (!mux) return WI_WEBP_MEMORY;
    int is_done = set(mux, "ICCP", icc, icc_count) && set(mux, "EXIF", exif, exif_count) &&
                  set(mux, "XMP ", xmp, xmp_count) && WebPMuxAssemble(mux, &result) == WEBP_MUX_OK;
    WebPMuxDelete(mux);
    if (!is_done) {
        WebPDataClear(&result);
        return WI_WEBP_CORRUPT;
    }
    *bytes = (uint8_t *)result.bytes;
    *count = result.size;
    return WI_WEBP_OK;
}
