// SPDX-License-Identifier: MIT
// looks_jpeg WIDTH HEIGHT QUALITY RATIO IS_FINE OUTPUT: Encodes R, G, B, A pixels from the standard input as JPEG with the
// encoder of WebImage, for looks_limits.py. RATIO is the number of luma samples per chroma sample in each direction. If
// IS_FINE is 1, the file is optimized as for `looks(_:)`.
#include <stdio.h>
#include <stdlib.h>
#include "CJPEG.h"

static int write_file(const char *path, const uint8_t *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    if (!file) return 1;
    const int failed = fwrite(bytes, 1, count, file) != count;
    return fclose(file) || failed;
}

int main(int count, char **arguments) {
    if (count != 7) return 64;
    const uint32_t width = (uint32_t)atoi(arguments[1]), height = (uint32_t)atoi(arguments[2]);
    const int ratio = atoi(arguments[4]);
    wi_jpeg_options options = {.quality = atoi(arguments[3]), .columns = ratio, .rows = ratio,
                               .is_fine = atoi(arguments[5]), .optimizes_tables = 1};
    const uint8_t white[3] = {255, 255, 255}, *bytes = NULL;
    size_t size = 0;
    uint8_t *pixels = malloc((size_t)width * height * 4);
    if (!pixels || fread(pixels, 4, (size_t)width * height, stdin) != (size_t)width * height) return 1;
    wi_jpeg_encoder *encoder = wi_jpeg_encoder_open();
    if (!encoder || wi_jpeg_encoder_start(encoder, width, height, &options) ||
        wi_jpeg_encoder_rows(encoder, pixels, (size_t)width * 4, height, 1, white) ||
        wi_jpeg_encoder_finish(encoder, &bytes, &size))
        return 1;
    if (options.is_fine) {
        wi_jpeg_optimizer *optimizer = wi_jpeg_optimizer_open();
        if (!optimizer || wi_jpeg_optimizer_run(optimizer, bytes, size, options.quality, 0, &bytes, &size)) return 1;
    }
    return write_file(arguments[6], bytes, size);
}
