// SPDX-License-Identifier: MIT
#include "PixelVisual.h"
#include "Dispatch.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// The blur is a Gaussian with a deviation of 1.5 pixels.
enum { RADIUS = 5, TAPS = 2 * RADIUS + 1 };
static const float KERNEL[TAPS] = {0.00102838f, 0.00759876f, 0.03600077f, 0.10936069f, 0.21300554f, 0.26601172f,
                                   0.21300554f, 0.10936069f, 0.03600077f, 0.00759876f, 0.00102838f};

/// The planes to blur for each channel: both images, their squares, and their product.
enum { FIRST, SECOND, FIRST_SQUARED, SECOND_SQUARED, PRODUCT, PLANES };
enum { CHANNELS = 3, IMAGES = 2 };
enum { STRUCTURE, ADDED = 2, LOST = 4, SUMS = 6 };

typedef struct {
    uint32_t width, height, received, emitted;
    /// The last rows of both images in the perceptual space, and the horizontally blurred rows.
    float *raw[IMAGES][CHANNELS][TAPS];
    float *blurred[CHANNELS][PLANES][TAPS];
    /// A row with margins of 0 at its ends.
    float *padded;
    /// The linear light of the previous row of both images if the next scale still needs it, and a row of the next scale.
    float *pending[IMAGES], *half[IMAGES];
    int is_pending;
    double sums[CHANNELS][SUMS];
    float *memory;
} scale;

struct wi_visual {
    scale scales[WI_VISUAL_SCALES];
    float light[256];
    float *rows[IMAGES];
};

/// An approximation of the cube root with a relative error of about 1e-6, for positive values.
WI_INLINE float root(float x) {
    union {
        float value;
        uint32_t bits;
    } guess = {x};
    guess.bits = guess.bits / 3 + 709921077u;
    float y = guess.value;
    y = (2 * y + x / (y * y)) * (1.0f / 3);
    return (2 * y + x / (y * y)) * (1.0f / 3);
}

/// Converts linear sRGB to the XYB color space of JPEG XL (ISO/IEC 18181-1, L.2.2), scaled to positive values. `light`
/// contains a plane per channel.
WI_INLINE void wi_visual_perceive_body(const float *light, float *x, float *y, float *b, uint32_t width) {
    const float bias = 0.0037930734f, bias_root = 0.1559542f;
    const float *red = light, *green = light + width, *blue = light + 2 * (size_t)width;
    for (uint32_t at = 0; at < width; at++) {
        float l = root(0.30f * red[at] + 0.622f * green[at] + 0.078f * blue[at] + bias) - bias_root;
        float m = root(0.23f * red[at] + 0.692f * green[at] + 0.078f * blue[at] + bias) - bias_root;
        float s = root(0.24342269f * red[at] + 0.20476744f * green[at] + 0.55180987f * blue[at] + bias) - bias_root;
        float lightness = 0.5f * (l + m);
        x[at] = 0.5f * (l - m) * 14 + 0.42f;
        y[at] = lightness + 0.01f;
        b[at] = s - lightness + 0.55f;
    }
}
WI_DISPATCH(void, wi_visual_perceive, (const float *light, float *x, float *y, float *b, uint32_t width),
            (light, x, y, b, width))

/// Blurs a row horizontally. `from` has a margin of RADIUS values at both ends.
WI_INLINE void wi_visual_blur_body(const float *from, float *to, uint32_t width) {
    for (uint32_t at = 0; at < width; at++) {
        float sum = 0;
        for (int tap = 0; tap < TAPS; tap++) sum += KERNEL[tap] * from[at + (uint32_t)tap];
        to[at] = sum;
    }
}
WI_DISPATCH(void, wi_visual_blur, (const float *from, float *to, uint32_t width), (from, to, width))

/// Adds the features of a row. `rows` contains the blurred rows of each plane from top to bottom.
WI_INLINE void wi_visual_measure_body(const float *rows[PLANES][TAPS], const float *one,
                                      const float *other, double *sums, uint32_t width) {
    enum { GROUP = 16 };
    float total[SUMS] = {0};
    for (uint32_t start = 0; start < width; start += GROUP) {
        uint32_t count = width - start < GROUP ? width - start : GROUP;
        float means[PLANES][GROUP] = {{0}};
        for (int plane = 0; plane < PLANES; plane++)
            for (int tap = 0; tap < TAPS; tap++)
                for (uint32_t at = 0; at < count; at++) means[plane][at] += KERNEL[tap] * rows[plane][tap][start + at];
        for (uint32_t at = 0; at < count; at++) {
            const float a = means[FIRST][at], b = means[SECOND][at];
            const float covariance = means[PRODUCT][at] - a * b;
            // For equal images, both terms and the covariance have the same rounding, so the difference is 0.
            const float variances = (means[FIRST_SQUARED][at] - a * a) + (means[SECOND_SQUARED][at] - b * b);
            float structure = 1 - (1 - (a - b) * (a - b)) * (2 * covariance + 0.0009f) / (variances + 0.0009f);
            structure = structure > 0 ? structure : 0;
            float edges = (1 + fabsf(other[start + at] - b)) / (1 + fabsf(one[start + at] - a)) - 1;
            float added = edges > 0 ? edges : 0, lost = edges < 0 ? -edges : 0;
            total[STRUCTURE] += structure;
            total[STRUCTURE + 1] += structure * structure * structure * structure;
            total[ADDED] += added;
            total[ADDED + 1] += added * added * added * added;
            total[LOST] += lost;
            total[LOST + 1] += lost * lost * lost * lost;
        }
    }
    for (int index = 0; index < SUMS; index++) sums[index] += (double)total[index];
}
WI_DISPATCH(void, wi_visual_measure,
            (const float *rows[PLANES][TAPS], const float *one, const float *other, double *sums,
             uint32_t width),
            (rows, one, other, sums, width))

/// Adds the features of the next row whose neighbors are available.
static void emit(scale *own) {
    const int64_t center = own->emitted++;
    for (int channel = 0; channel < CHANNELS; channel++) {
        const float *rows[PLANES][TAPS];
        for (int tap = 0; tap < TAPS; tap++) {
            // Rows outside the image are reflections of those inside.
            int64_t row = center + tap - RADIUS;
            if (row < 0) row = -1 - row;
            if (row >= own->height) row = 2 * (int64_t)own->height - 1 - row;
            for (int plane = 0; plane < PLANES; plane++) rows[plane][tap] = own->blurred[channel][plane][row % TAPS];
        }
        wi_visual_measure(rows, own->raw[0][channel][center % TAPS], own->raw[1][channel][center % TAPS],
                          own->sums[channel], own->width);
    }
}

static void blur_row(scale *own, const float *one, const float *other, float *to) {
    float *row = own->padded + RADIUS;
    for (uint32_t at = 0; at < own->width; at++) row[at] = other ? one[at] * other[at] : one[at];
    // The margins stay 0.
    wi_visual_blur(own->padded, to, own->width);
}

/// Averages two rows of linear light, or one if the second is NULL, to a row of half the width.
static void halve(const float *top, const float *bottom, uint32_t width, float *to) {
    uint32_t half = (width + 1) / 2;
    if (!bottom) bottom = top;
    for (int channel = 0; channel < CHANNELS; channel++, top += width, bottom += width, to += half)
        for (uint32_t at = 0; at < half; at++) {
            uint32_t right = 2 * at + 1 < width ? 2 * at + 1 : 2 * at;
            to[at] = 0.25f * (top[2 * at] + top[right] + bottom[2 * at] + bottom[right]);
        }
}

static void add_row(wi_visual *visual, int level, float *const light[IMAGES]) {
    if (level == WI_VISUAL_SCALES || !visual->scales[level].memory) return;
    scale *own = &visual->scales[level];
    const size_t slot = own->received % TAPS;
    for (int image = 0; image < IMAGES; image++)
        wi_visual_perceive(light[image], own->raw[image][0][slot], own->raw[image][1][slot], own->raw[image][2][slot],
                           own->width);
    for (int channel = 0; channel < CHANNELS; channel++) {
        const float *one = own->raw[0][channel][slot], *other = own->raw[1][channel][slot];
        blur_row(own, one, NULL, own->blurred[channel][FIRST][slot]);
        blur_row(own, other, NULL, own->blurred[channel][SECOND][slot]);
        blur_row(own, one, one, own->blurred[channel][FIRST_SQUARED][slot]);
        blur_row(own, other, other, own->blurred[channel][SECOND_SQUARED][slot]);
        blur_row(own, one, other, own->blurred[channel][PRODUCT][slot]);
    }
    if (++own->received > RADIUS) emit(own);
    const size_t bytes = sizeof(float) * CHANNELS * own->width;
    if (!own->is_pending && own->received < own->height) {
        for (int image = 0; image < IMAGES; image++) memcpy(own->pending[image], light[image], bytes);
        own->is_pending = 1;
        return;
    }
    for (int image = 0; image < IMAGES; image++)
        halve(own->is_pending ? own->pending[image] : light[image], own->is_pending ? light[image] : NULL, own->width,
              own->half[image]);
    own->is_pending = 0;
    add_row(visual, level + 1, own->half);
}

/// Allocates the rows of a scale in one block.
static int prepare(scale *own, uint32_t width, uint32_t height) {
    own->width = width;
    own->height = height;
    const size_t rows = IMAGES * CHANNELS * TAPS + CHANNELS * PLANES * TAPS + IMAGES * CHANNELS * 2 + 1;
    float *next = own->memory = calloc(rows * width + 2 * RADIUS, sizeof(float));
    if (!next) return 0;
    for (int image = 0; image < IMAGES; image++)
        for (int channel = 0; channel < CHANNELS; channel++)
            for (int tap = 0; tap < TAPS; tap++, next += width) own->raw[image][channel][tap] = next;
    for (int channel = 0; channel < CHANNELS; channel++)
        for (int plane = 0; plane < PLANES; plane++)
            for (int tap = 0; tap < TAPS; tap++, next += width) own->blurred[channel][plane][tap] = next;
    for (int image = 0; image < IMAGES; image++, next += 2 * CHANNELS * (size_t)width) {
        own->pending[image] = next;
        own->half[image] = next + CHANNELS * (size_t)width;
    }
    own->padded = next;
    return 1;
}

wi_visual *wi_visual_open(uint32_t width, uint32_t height) {
    wi_visual *visual = calloc(1, sizeof *visual);
    if (!visual || !width || !height) {
        free(visual);
        return NULL;
    }
    for (int value = 0; value < 256; value++) {
        double v = value / 255.0;
        visual->light[value] = (float)(v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    int is_done = 1;
    for (int image = 0; image < IMAGES; image++) {
        visual->rows[image] = malloc(sizeof(float) * CHANNELS * width);
        is_done = is_done && visual->rows[image];
    }
    for (int level = 0; level < WI_VISUAL_SCALES && is_done && width >= 8 && height >= 8; level++) {
        is_done = prepare(&visual->scales[level], width, height);
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    if (is_done) return visual;
    wi_visual_close(visual);
    return NULL;
}

void wi_visual_close(wi_visual *visual) {
    if (!visual) return;
    for (int level = 0; level < WI_VISUAL_SCALES; level++) free(visual->scales[level].memory);
    for (int image = 0; image < IMAGES; image++) free(visual->rows[image]);
    free(visual);
}

/// Converts a row to planes of linear light.
static void read_row(const wi_visual *visual, const void *row, int is_wide, uint32_t width, const uint8_t *background,
                     float *to) {
    const uint8_t *narrow = row;
    const uint16_t *wide = row;
    for (uint32_t at = 0; at < width; at++) {
        unsigned alpha = is_wide ? wide[4 * (size_t)at + 3] >> 8 : narrow[4 * (size_t)at + 3];
        for (uint32_t channel = 0; channel < CHANNELS; channel++) {
            unsigned value = is_wide ? wide[4 * (size_t)at + channel] >> 8 : narrow[4 * (size_t)at + channel];
            value += (background[channel] * (255 - alpha) + 127) / 255;
            to[channel * (size_t)width + at] = visual->light[value > 255 ? 255 : value];
        }
    }
}

void wi_visual_add(wi_visual *visual, const void *reference, size_t reference_stride, int reference_is_wide,
                   const void *image, size_t image_stride, int image_is_wide, uint32_t rows, const uint8_t *background) {
    const uint32_t width = visual->scales[0].width;
    if (!visual->scales[0].memory) return;
    for (uint32_t row = 0; row < rows; row++) {
        read_row(visual, (const uint8_t *)reference + row * reference_stride, reference_is_wide, width, background,
                 visual->rows[0]);
        read_row(visual, (const uint8_t *)image + row * image_stride, image_is_wide, width, background, visual->rows[1]);
        add_row(visual, 0, visual->rows);
    }
}

void wi_visual_finish(wi_visual *visual, float features[WI_VISUAL_FEATURES]) {
    for (int level = 0; level < WI_VISUAL_SCALES; level++) {
        scale *own = &visual->scales[level];
        while (own->emitted < own->received) emit(own);
        for (int channel = 0; channel < CHANNELS; channel++)
            for (int index = 0; index < SUMS; index++) {
                double count = (double)own->width * own->height;
                double mean = own->memory ? own->sums[channel][index] / count : 0;
                *features++ = (float)(index % 2 ? sqrt(sqrt(mean)) : mean);
            }
    }
}
