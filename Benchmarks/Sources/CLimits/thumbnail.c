// SPDX-License-Identifier: MIT
#include "CLimits.h"
#include <math.h>
#include <stdlib.h>

typedef struct {
    int first;
    int count;
    float *weights;
} Taps;

static double lanczos(double x) {
    if (x == 0) return 1;
    if (x <= -3 || x >= 3) return 0;
    double a = M_PI * x;
    return 3 * sin(a) * sin(a / 3) / (a * a);
}

/// Returns the weights of the source pixels for each output pixel. There's space for `room` weights per output pixel.
static Taps *makeTaps(double span, int limit, int outputs, float *weights, int room) {
    Taps *taps = malloc(sizeof(Taps) * (size_t)outputs);
    if (!taps) return NULL;
    double step = span / outputs, scale = step > 1 ? step : 1;
    for (int i = 0; i < outputs; i++) {
        double centre = (i + 0.5) * step;
        int first = (int)floor(centre - 3 * scale), last = (int)ceil(centre + 3 * scale);
        if (first < 0) first = 0;
        if (last > limit) last = limit;
        if (last - first > room) last = first + room;
        taps[i] = (Taps){first, last - first, weights + (size_t)i * room};
        double sum = 0;
        for (int k = first; k < last; k++) sum += lanczos((k + 0.5 - centre) / scale);
        for (int k = first; k < last; k++) taps[i].weights[k - first] = (float)(lanczos((k + 0.5 - centre) / scale) / sum);
    }
    return taps;
}

/// Resamples all rows to floats, with `outputs` pixels per row.
__attribute__((target_clones("avx512f", "avx2", "default"))) static void across(
    const uint8_t *source, int width, int height, const Taps *taps, int outputs, float *result) {
    for (int y = 0; y < height; y++) {
        const uint8_t *row = source + (size_t)y * width * 4;
        for (int x = 0; x < outputs; x++) {
            float sum[4] = {0, 0, 0, 0};
            for (int k = 0; k < taps[x].count; k++)
                for (int c = 0; c < 4; c++) sum[c] += taps[x].weights[k] * row[(taps[x].first + k) * 4 + c];
            for (int c = 0; c < 4; c++) result[((size_t)y * outputs + x) * 4 + c] = sum[c];
        }
    }
}

/// Resamples the columns to bytes.
__attribute__((target_clones("avx512f", "avx2", "default"))) static void down(
    const float *rows, int width, const Taps *taps, int outputs, float *line, uint8_t *result) {
    for (int y = 0; y < outputs; y++) {
        for (int i = 0; i < width * 4; i++) line[i] = 0.5f;
        for (int k = 0; k < taps[y].count; k++) {
            const float *row = rows + (size_t)(taps[y].first + k) * width * 4;
            float weight = taps[y].weights[k];
            for (int i = 0; i < width * 4; i++) line[i] += weight * row[i];
        }
        uint8_t *out = result + (size_t)y * width * 4;
        for (int i = 0; i < width * 4; i++) {
            float value = line[i] < 0 ? 0 : line[i] > 255 ? 255 : line[i];
            out[i] = (uint8_t)value;
        }
    }
}

int wi_limit_lanczos(
    const uint8_t *source, wi_limit_size size, double spanX, double spanY, uint8_t *output, wi_limit_size target) {
    int roomX = (int)(6 * (spanX / target.width > 1 ? spanX / target.width : 1)) + 4;
    int roomY = (int)(6 * (spanY / target.height > 1 ? spanY / target.height : 1)) + 4;
    float *weightsX = malloc(sizeof(float) * (size_t)roomX * target.width);
    float *weightsY = malloc(sizeof(float) * (size_t)roomY * target.height);
    float *rows = malloc(sizeof(float) * 4 * (size_t)target.width * size.height);
    float *line = malloc(sizeof(float) * 4 * (size_t)target.width);
    Taps *x = NULL, *y = NULL;
    int code = -1;
    if (weightsX && weightsY && rows && line) {
        x = makeTaps(spanX, size.width, target.width, weightsX, roomX);
        y = makeTaps(spanY, size.height, target.height, weightsY, roomY);
        if (x && y) {
            across(source, size.width, size.height, x, target.width, rows);
            down(rows, target.width, y, target.height, line, output);
            code = 0;
        }
    }
    free(x);
    free(y);
    free(line);
    free(rows);
    free(weightsY);
    free(weightsX);
    return code;
}

/// Reads the width and the height from the frame header of a JPEG.
static int jpegSize(const uint8_t *bytes, size_t count, wi_limit_size *size) {
    for (size_t at = 2; at + 9 < count && bytes[at] == 0xff;) {
        int marker = bytes[at + 1];
        if (marker >= 0xc0 && marker <= 0xc2) {
            size->height = bytes[at + 5] << 8 | bytes[at + 6];
            size->width = bytes[at + 7] << 8 | bytes[at + 8];
            return 0;
        }
        at += 2 + (size_t)(bytes[at + 2] << 8 | bytes[at + 3]);
    }
    return -1;
}

int wi_limit_jpeg_thumbnail(
    const uint8_t *bytes, size_t count, int side, int factor, uint8_t *scratch, size_t capacity, uint8_t *output,
    wi_limit_size *size) {
    wi_limit_size full, reduced;
    if (jpegSize(bytes, count, &full)) return -1;
    int longer = full.width > full.height ? full.width : full.height;
    double ratio = longer > side ? (double)side / longer : 1;
    size->width = (int)(full.width * ratio + 0.5);
    size->height = (int)(full.height * ratio + 0.5);
    int eighths = 8;
    while (eighths > 1 && full.width * eighths / 16.0 >= (double)size->width * factor) eighths /= 2;
    if (wi_limit_jpeg(bytes, count, eighths, scratch, capacity, &reduced)) return -1;
    return wi_limit_lanczos(scratch, reduced, full.width * eighths / 8.0, full.height * eighths / 8.0, output, *size);
}
