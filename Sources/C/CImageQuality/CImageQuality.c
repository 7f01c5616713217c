// SPDX-License-Identifier: MIT
// SSIMULACRA 2.1 (Jon Sneyers, Cloudinary, 2023), written from its published definition. The image is compared at six
// scales, each half as large as the previous one, in the positive XYB color space of JPEG XL. Three maps per scale and
// channel (structural similarity, added edges, lost edges) are reduced with two norms, and the 108 norms are weighted.
//
// The planes at the current scale are in memory in linear light. XYB, its products, and the blurred values are computed
// row by row in rings of 11 rows, so the memory is 24 bytes per pixel.
#include "CImageQuality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCALES = 6, CHANNELS = 3, RADIUS = 5, ROWS = 2 * RADIUS + 1, BLURRED = 5 };

/// The standard deviation of the blur in pixels.
static const double sigma = 1.5;
/// The constant that stabilizes the structure term.
static const double c2 = 0.0009;

/// The weights of the norms, by channel, scale, norm (mean, fourth-power mean), and map.
static const double weights[CHANNELS * SCALES * 2 * 3] = {
    0, 0.0007376606707406586, 0, 0, 0.0007793481682867309, 0,
    0, 0.0004371155730107379, 0, 1.1041726426657346, 0.00066284834129271, 0.00015231632783718752,
    0, 0.0016406437456599754, 0, 1.8422455520539298, 11.441172603757666, 0,
    0.0007989109436015163, 0.000176816438078653, 0, 1.8787594979546387, 10.94906990605142, 0,
    0.0007289346991508072, 0.9677937080626833, 0, 0.00014003424285435884, 0.9981766977854967, 0.00031949755934435053,
    0.0004550992113792063, 0, 0, 0.0013648766163243398, 0, 0,
    0, 0, 0, 7.466890328078848, 0, 17.445833984131262,
    0.0006235601634041466, 0, 0, 6.683678146179332, 0.00037724407979611296, 1.027889937768264,
    225.20515300849274, 0, 0, 19.213238186143016, 0.0011401524586618361, 0.001237755635509985,
    176.39317598450694, 0, 0, 24.43300999870476, 0.28520802612117757, 0.0004485436923833408,
    0, 0, 0, 34.77906344483772, 44.835625328877896, 0,
    0, 0, 0, 0, 0, 0,
    0, 0.0008680556573291698, 0, 0, 0, 0,
    0, 0.0005313191874358747, 0, 0.00016533814161379112, 0, 0,
    0, 0, 0, 0.0004179171803251336, 0.0017290828234722833, 0,
    0.0020827005846636437, 0, 0, 8.826982764996862, 23.19243343998926, 0,
    95.1080498811086, 0.9863978034400682, 0.9834382792465353, 0.0012286405048278493, 171.2667255897307, 0.9807858872435379,
    0, 0, 0, 0.0005130064588990679, 0, 0.00010854057858411537,
};

/// One scale of both images in linear light: three planes of the original, then three of the distorted image.
typedef struct {
    size_t width;
    size_t height;
    float *planes[2 * CHANNELS];
} scale_planes;

/// The sums over all pixels of one scale and channel.
typedef struct {
    double ssim[2];
    double artifact[2];
    double lost[2];
} channel_sums;

/// The rows that the blur needs.
typedef struct {
    size_t width;
    double kernel[ROWS];
    /// The XYB values of both images.
    float *colors[ROWS][2 * CHANNELS];
    /// Rows blurred horizontally: both images, their squares, and their product.
    float *blurred[ROWS][CHANNELS * BLURRED];
    /// One row with `RADIUS` values on both sides.
    float *padded;
    /// One row of products, and one row for each vertically blurred quantity.
    float *product;
    float *mean[BLURRED];
    float *memory;
} blur_ring;

static bool make_planes(scale_planes *scale, size_t width, size_t height) {
    memset(scale, 0, sizeof *scale);
    scale->width = width;
    scale->height = height;
    size_t count;
    if (__builtin_mul_overflow(width, height, &count) || __builtin_mul_overflow(count, 6 * sizeof(float), &count))
        return false;
    float *memory = malloc(count);
    if (!memory) return false;
    for (int plane = 0; plane < 2 * CHANNELS; plane++) scale->planes[plane] = memory + plane * width * height;
    return true;
}

static void free_planes(scale_planes *scale) {
    free(scale->planes[0]);
    scale->planes[0] = NULL;
}

static float linear(double encoded) {
    return (float)(encoded <= 0.04045 ? encoded / 12.92 : pow((encoded + 0.055) / 1.055, 2.4));
}

static void read_linear(const wi_image_pair *images, double background, scale_planes *scale) {
    float table[256];
    for (int i = 0; i < 256; i++) table[i] = linear(i / 255.0);
    for (int side = 0; side < 2; side++) {
        const uint8_t *pixels = side ? images->distorted : images->original;
        size_t stride = side ? images->distorted_stride : images->original_stride;
        float **planes = scale->planes + side * CHANNELS;
        for (size_t y = 0; y < images->height; y++) {
            for (size_t x = 0; x < images->width; x++) {
                const uint8_t *pixel = pixels + y * stride + x * 4;
                for (int c = 0; c < CHANNELS; c++)
                    planes[c][y * images->width + x] =
                        pixel[3] == 255 ? table[pixel[c]] : linear((pixel[c] + (255 - pixel[3]) * background) / 255);
            }
        }
    }
}

/// Averages blocks of 2 × 2 pixels. At an odd edge, a block repeats its last row or column.
static void halve(const scale_planes *in, scale_planes *out) {
    for (int plane = 0; plane < 2 * CHANNELS; plane++) {
        for (size_t y = 0; y < out->height; y++) {
            size_t y1 = 2 * y + 1 < in->height ? 2 * y + 1 : 2 * y;
            const float *top = in->planes[plane] + 2 * y * in->width, *bottom = in->planes[plane] + y1 * in->width;
            for (size_t x = 0; x < out->width; x++) {
                size_t x1 = 2 * x + 1 < in->width ? 2 * x + 1 : 2 * x;
                out->planes[plane][y * out->width + x] =
                    (top[2 * x] + top[x1] + bottom[2 * x] + bottom[x1]) * 0.25f;
            }
        }
    }
}

static bool make_ring(blur_ring *ring, size_t width) {
    memset(ring, 0, sizeof *ring);
    ring->width = width;
    double sum = 0;
    for (int i = 0; i < ROWS; i++) sum += ring->kernel[i] = exp(-(i - RADIUS) * (i - RADIUS) / (2 * sigma * sigma));
    for (int i = 0; i < ROWS; i++) ring->kernel[i] /= sum;
    // Rows before the first one are zeros.
    float *next = ring->memory =
        calloc((ROWS * (2 * CHANNELS + CHANNELS * BLURRED) + BLURRED + 1) * width + width + 2 * RADIUS, sizeof(float));
    if (!next) return false;
    for (int row = 0; row < ROWS; row++) {
        for (int i = 0; i < 2 * CHANNELS; i++, next += width) ring->colors[row][i] = next;
        for (int i = 0; i < CHANNELS * BLURRED; i++, next += width) ring->blurred[row][i] = next;
    }
    for (int i = 0; i < BLURRED; i++, next += width) ring->mean[i] = next;
    ring->product = next;
    ring->padded = next + width;
    return true;
}

/// Converts a row of linear light to XYB with an offset that makes all values positive.
static void convert_row(const scale_planes *scale, size_t y, int side, float **out) {
    // The matrix and the bias of the JPEG XL standard (ISO/IEC 18181-1, annex L).
    static const float matrix[3][3] = {
        {0.30f, 1.0f - 0.078f - 0.30f, 0.078f},
        {0.23f, 1.0f - 0.078f - 0.23f, 0.078f},
        {0.24342268924547819f, 0.20476744424496821f, 1.0f - 0.24342268924547819f - 0.20476744424496821f},
    };
    static const float bias = 0.0037930732552754493f;
    const float root = cbrtf(bias);
    float *const *planes = scale->planes + side * CHANNELS;
    size_t start = y * scale->width;
    for (size_t x = 0; x < scale->width; x++) {
        float cone[3];
        for (int i = 0; i < 3; i++) {
            float mixed = matrix[i][0] * planes[0][start + x] + matrix[i][1] * planes[1][start + x]
                + matrix[i][2] * planes[2][start + x] + bias;
            cone[i] = cbrtf(mixed > 0 ? mixed : 0) - root;
        }
        float luminance = 0.5f * (cone[0] + cone[1]);
        out[0][x] = 0.5f * (cone[0] - cone[1]) * 14.0f + 0.42f;
        out[1][x] = luminance + 0.01f;
        out[2][x] = cone[2] - luminance + 0.55f;
    }
}

static void blur_row(blur_ring *ring, const float *in, float *out, wi_border border) {
    size_t width = ring->width;
    for (size_t i = 0; i < RADIUS; i++) {
        // The mirrored image repeats with a period of two widths, because it can be narrower than the radius.
        size_t distance = i % (2 * width);
        size_t left = distance < width ? distance : 2 * width - 1 - distance;
        bool mirrors = border == WI_BORDER_MIRRORED;
        ring->padded[RADIUS - 1 - i] = mirrors ? in[left] : 0;
        ring->padded[RADIUS + width + i] = mirrors ? in[width - 1 - left] : 0;
    }
    memcpy(ring->padded + RADIUS, in, width * sizeof(float));
    for (size_t x = 0; x < width; x++) {
        double sum = 0;
        for (int k = 0; k < ROWS; k++) sum += ring->kernel[k] * ring->padded[x + k];
        out[x] = (float)sum;
    }
}

/// Reads a row of the images into the ring. A row after the last one consists of zeros.
static void read_row(blur_ring *ring, const scale_planes *scale, size_t y, wi_border border) {
    size_t slot = y % ROWS, width = ring->width;
    if (y >= scale->height) {
        for (int i = 0; i < CHANNELS * BLURRED; i++) memset(ring->blurred[slot][i], 0, width * sizeof(float));
        return;
    }
    for (int side = 0; side < 2; side++) convert_row(scale, y, side, ring->colors[slot] + side * CHANNELS);
    for (int c = 0; c < CHANNELS; c++) {
        const float *a = ring->colors[slot][c], *b = ring->colors[slot][CHANNELS + c];
        float **out = ring->blurred[slot] + c * BLURRED;
        blur_row(ring, a, out[0], border);
        blur_row(ring, b, out[1], border);
        const float *factors[3][2] = {{a, a}, {b, b}, {a, b}};
        for (int i = 0; i < 3; i++) {
            for (size_t x = 0; x < width; x++) ring->product[x] = factors[i][0][x] * factors[i][1][x];
            blur_row(ring, ring->product, out[2 + i], border);
        }
    }
}

static double fourth_power(double value) { return value * value * value * value; }

/// Adds the row in the middle of the ring to the sums of a channel.
static void add_row(blur_ring *ring, size_t y, int channel, channel_sums *sums) {
    for (int i = 0; i < BLURRED; i++) {
        for (size_t x = 0; x < ring->width; x++) {
            double sum = 0;
            // Slots are reused in order, so row y - RADIUS is in the slot after that of row y + RADIUS.
            for (int k = 0; k < ROWS; k++)
                sum += ring->kernel[k] * ring->blurred[(y + RADIUS + 1 + k) % ROWS][channel * BLURRED + i][x];
            ring->mean[i][x] = (float)sum;
        }
    }
    const float *a = ring->colors[y % ROWS][channel], *b = ring->colors[y % ROWS][CHANNELS + channel];
    for (size_t x = 0; x < ring->width; x++) {
        double m1 = ring->mean[0][x], m2 = ring->mean[1][x];
        double structure = (2 * (ring->mean[4][x] - m1 * m2) + c2)
            / ((ring->mean[2][x] - m1 * m1) + (ring->mean[3][x] - m2 * m2) + c2);
        double error = fmax(1 - (1 - (m1 - m2) * (m1 - m2)) * structure, 0);
        sums->ssim[0] += error;
        sums->ssim[1] += fourth_power(error);
        double edge = (1 + fabs(b[x] - m2)) / (1 + fabs(a[x] - m1)) - 1;
        sums->artifact[0] += fmax(edge, 0);
        sums->artifact[1] += fourth_power(fmax(edge, 0));
        sums->lost[0] += fmax(-edge, 0);
        sums->lost[1] += fourth_power(fmax(-edge, 0));
    }
}

static wi_quality_status measure_scale(
    const scale_planes *scale, wi_border border, bool (*is_cancelled)(void *), void *context,
    channel_sums sums[CHANNELS]) {
    memset(sums, 0, CHANNELS * sizeof *sums);
    blur_ring ring;
    if (!make_ring(&ring, scale->width)) return WI_QUALITY_NO_MEMORY;
    wi_quality_status status = WI_QUALITY_OK;
    for (size_t y = 0; y < scale->height + RADIUS && status == WI_QUALITY_OK; y++) {
        read_row(&ring, scale, y, border);
        if (y < RADIUS) continue;
        for (int c = 0; c < CHANNELS; c++) add_row(&ring, y - RADIUS, c, &sums[c]);
        if (is_cancelled && is_cancelled(context)) status = WI_QUALITY_CANCELLED;
    }
    free(ring.memory);
    double pixels = (double)scale->width * (double)scale->height;
    for (int c = 0; c < CHANNELS; c++) {
        double *norms[3] = {sums[c].ssim, sums[c].artifact, sums[c].lost};
        for (int map = 0; map < 3; map++) {
            norms[map][0] /= pixels;
            norms[map][1] = sqrt(sqrt(norms[map][1] / pixels));
        }
    }
    return status;
}

static double weighted_score(channel_sums sums[SCALES][CHANNELS], int scales) {
    double sum = 0;
    const double *weight = weights;
    for (int c = 0; c < CHANNELS; c++) {
        for (int scale = 0; scale < scales; scale++) {
            const channel_sums *value = &sums[scale][c];
            for (int norm = 0; norm < 2; norm++) {
                sum += *weight++ * value->ssim[norm];
                sum += *weight++ * value->artifact[norm];
                sum += *weight++ * value->lost[norm];
            }
        }
    }
    sum *= 0.9562382616834844;
    sum = 2.326765642916932 * sum - 0.020884521182843837 * sum * sum + 6.248496625763138e-05 * sum * sum * sum;
    return sum > 0 ? 100 - 10 * pow(sum, 0.6276336467831387) : 100;
}

wi_quality_status wi_ssimulacra2(
    const wi_image_pair *images, double background, wi_border border, bool (*is_cancelled)(void *), void *context,
    double *score) {
    channel_sums sums[SCALES][CHANNELS];
    scale_planes scale;
    if (!make_planes(&scale, images->width, images->height)) return WI_QUALITY_NO_MEMORY;
    read_linear(images, background, &scale);
    wi_quality_status status = WI_QUALITY_OK;
    int count = 0;
    for (; count < SCALES && status == WI_QUALITY_OK; count++) {
        if (scale.width < 8 || scale.height < 8) break;
        if (count) {
            scale_planes half;
            if (!make_planes(&half, (scale.width + 1) / 2, (scale.height + 1) / 2)) {
                status = WI_QUALITY_NO_MEMORY;
                break;
            }
            halve(&scale, &half);
            free_planes(&scale);
            scale = half;
        }
        status = measure_scale(&scale, border, is_cancelled, context, sums[count]);
    }
    free_planes(&scale);
    if (status == WI_QUALITY_OK) *score = weighted_score(sums, count);
    return status;
}

uint64_t wi_squared_error(const wi_image_pair *images, bool alpha) {
    uint64_t sum = 0;
    for (size_t y = 0; y < images->height; y++) {
        const uint8_t *a = images->original + y * images->original_stride;
        const uint8_t *b = images->distorted + y * images->distorted_stride;
        for (size_t i = 0; i < images->width * 4; i++) {
            int difference = a[i] - b[i];
            if (alpha || i % 4 != 3) sum += (uint64_t)(difference * difference);
        }
    }
    return sum;
}

void wi_difference(const wi_image_pair *images, unsigned gain, uint8_t *out, size_t out_stride) {
    for (size_t y = 0; y < images->height; y++) {
        const uint8_t *a = images->original + y * images->original_stride;
        const uint8_t *b = images->distorted + y * images->distorted_stride;
        uint8_t *row = out + y * out_stride;
        for (size_t i = 0; i < images->width * 4; i += 4) {
            unsigned alpha = (unsigned)abs(a[i + 3] - b[i + 3]);
            for (size_t c = 0; c < 3; c++) {
                uint64_t value = (uint64_t)((unsigned)abs(a[i + c] - b[i + c]) + alpha) * gain;
                row[i + c] = (uint8_t)(value > 255 ? 255 : value);
            }
            row[i + 3] = 255;
        }
    }
}
