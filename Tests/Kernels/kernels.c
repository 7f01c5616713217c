// SPDX-License-Identifier: MIT
// Compares each kernel of CPixelKernels with the plain C variant of itself, for random sizes, alignments, and values.
// Scripts/kernels builds this program with two variants of each kernel. The functions of the plain variant have the
// prefix plain_.
//
// Results of integers must be equal. Floating-point results may differ in their last bits, because compilers fuse
// multiplications and additions only for some instruction sets. Therefore, rounded samples may differ by the tolerance
// that each comparison states.
#include "CPixelKernels.h"
#include "harness.h"

#define PLAIN(name) extern __typeof__(name) plain_##name;
/// Calls both variants of a function, each with its own results.
#define BOTH(function, before, expected, actual, after)                                                               \
    do {                                                                                                              \
        plain_##function(UNPACK before expected UNPACK after);                                                        \
        function(UNPACK before actual UNPACK after);                                                                  \
    } while (0)
#define UNPACK(...) __VA_ARGS__

enum { ROUNDS = 100 };

// MARK: Resampling of stored values

PLAIN(wi_vertical_rgba8) PLAIN(wi_vertical_rgba16) PLAIN(wi_vertical_add_rgba8) PLAIN(wi_vertical_add_rgba16)
PLAIN(wi_horizontal_rgba8) PLAIN(wi_horizontal_rgba16)

/// Returns two buffers with the same numbers.
static float *copy_of(const float *from, size_t count) {
    float *to = buffer(count * sizeof *to);
    memcpy(to, from, count * sizeof *to);
    return to;
}

static void vertical(void) {
    const size_t samples = number(1, 2200), count = number(1, 20), stride = samples + number(0, 9);
    const float *weights = floats(count, -0.3, 1);
    float *sums = floats(samples, -1000, 1000), *others = copy_of(sums, samples);
    const uint8_t *rows8 = bytes(stride * (count - 1) + samples);
    const uint16_t *rows16 = (const uint16_t *)bytes((stride * (count - 1) + samples) * 2);
    plain_wi_vertical_add_rgba8(sums, rows8, stride, weights, count, samples);
    wi_vertical_add_rgba8(others, rows8, stride, weights, count, samples);
    same_floats(sums, others, samples, 0.01);
    plain_wi_vertical_rgba8(sums, rows8, stride, weights, count, samples);
    wi_vertical_rgba8(others, rows8, stride, weights, count, samples);
    same_floats(sums, others, samples, 0.01);
    plain_wi_vertical_add_rgba16(sums, rows16, stride * 2, weights, count, samples);
    wi_vertical_add_rgba16(others, rows16, stride * 2, weights, count, samples);
    same_floats(sums, others, samples, 1);
    plain_wi_vertical_rgba16(sums, rows16, stride * 2, weights, count, samples);
    wi_vertical_rgba16(others, rows16, stride * 2, weights, count, samples);
    same_floats(sums, others, samples, 1);
}

static void horizontal(void) {
    const size_t source = number(1, 200), width = number(0, 120);
    wi_tap *taps = buffer(width * sizeof *taps);
    size_t total = 0;
    for (size_t x = 0; x < width; x++) {
        const size_t first = number(0, source - 1), count = number(1, source - first < 30 ? source - first : 30);
        taps[x] = (wi_tap){(uint32_t)first, (uint32_t)count, (uint32_t)total};
        total += count;
    }
    const float *weights = floats(total, -0.05, 0.2), *sums8 = floats(source * 4, -20, 280);
    const float *sums16 = floats(source * 4, -4000, 70000);
    uint8_t *a = buffer(width * 4), *b = buffer(width * 4);
    plain_wi_horizontal_rgba8(sums8, taps, weights, width, a);
    wi_horizontal_rgba8(sums8, taps, weights, width, b);
    same8(a, b, width * 4, 1);
    uint16_t *c = buffer(width * 8), *d = buffer(width * 8);
    plain_wi_horizontal_rgba16(sums16, taps, weights, width, c);
    wi_horizontal_rgba16(sums16, taps, weights, width, d);
    same16(c, d, width * 4, 1);
}

// MARK: Alpha and depth

PLAIN(wi_premultiply_rgba8) PLAIN(wi_premultiply_rgba16) PLAIN(wi_unpremultiply_rgba8) PLAIN(wi_unpremultiply_rgba16)
PLAIN(wi_limit_rgba8) PLAIN(wi_limit_rgba16)
PLAIN(wi_is_opaque_rgba8) PLAIN(wi_is_opaque_rgba16) PLAIN(wi_widen) PLAIN(wi_narrow)

static void alpha(void) {
    const size_t count = number(0, 300);
    uint8_t *a = bytes(count * 4), *b = buffer(count * 4), *c = buffer(count * 4);
    memcpy(b, a, count * 4);
    plain_wi_unpremultiply_rgba8(a, c, count);
    plain_wi_premultiply_rgba8(a, count);
    uint8_t *d = buffer(count * 4);
    wi_unpremultiply_rgba8(b, d, count);
    same8(c, d, count * 4, 0);
    wi_premultiply_rgba8(b, count);
    same8(a, b, count * 4, 0);
    uint16_t *e = (uint16_t *)bytes(count * 8), *f = buffer(count * 8), *g = buffer(count * 8), *h = buffer(count * 8);
    memcpy(f, e, count * 8);
    plain_wi_unpremultiply_rgba16(e, g, count);
    wi_unpremultiply_rgba16(f, h, count);
    same16(g, h, count * 4, 0);
    plain_wi_premultiply_rgba16(e, count);
    wi_premultiply_rgba16(f, count);
    same16(e, f, count * 4, 0);
}

static void limits(void) {
    const size_t count = number(0, 300);
    uint8_t *a = bytes(count * 4), *b = buffer(count * 4);
    memcpy(b, a, count * 4);
    plain_wi_limit_rgba8(a, count);
    wi_limit_rgba8(b, count);
    same8(a, b, count * 4, 0);
    uint16_t *c = (uint16_t *)bytes(count * 8), *d = buffer(count * 8);
    memcpy(d, c, count * 8);
    plain_wi_limit_rgba16(c, count);
    wi_limit_rgba16(d, count);
    same16(c, d, count * 4, 0);
}

static void opacity(void) {
    const size_t count = number(0, 3000);
    uint8_t *a = bytes(count * 4);
    uint16_t *b = (uint16_t *)bytes(count * 8);
    for (size_t i = 0; i < count; i++) a[i * 4 + 3] = 255, b[i * 4 + 3] = 65535;
    if (count && number(0, 1)) a[number(0, count - 1) * 4 + 3] = 254, b[number(0, count - 1) * 4 + 3] = 65534;
    same_number(plain_wi_is_opaque_rgba8(a, count), wi_is_opaque_rgba8(a, count));
    same_number(plain_wi_is_opaque_rgba16(b, count), wi_is_opaque_rgba16(b, count));
}

static void depth(void) {
    const size_t count = number(0, 500);
    const uint8_t *narrow = bytes(count);
    uint16_t *a = buffer(count * 2), *b = buffer(count * 2);
    plain_wi_widen(narrow, a, count);
    wi_widen(narrow, b, count);
    same16(a, b, count, 0);
    const uint16_t *wide = (const uint16_t *)bytes(count * 2);
    uint8_t *c = buffer(count), *d = buffer(count);
    plain_wi_narrow(wide, c, count);
    wi_narrow(wide, d, count);
    same8(c, d, count, 0);
}

// MARK: Geometry

PLAIN(wi_turn_32) PLAIN(wi_turn_64) PLAIN(wi_cut_rgba8) PLAIN(wi_cut_rgba16)
PLAIN(wi_rotate_row_rgba8) PLAIN(wi_rotate_row_rgba16)

static void turn(void) {
    const size_t width = number(1, 70), height = number(1, 70);
    const uint8_t *source = bytes(width * height * 8);
    uint8_t *a = buffer(width * height * 8), *b = buffer(width * height * 8);
    // Rows become columns, from the last pixel on.
    const uint8_t *last = source + (width * height - 1) * 4;
    plain_wi_turn_32(last, -(ptrdiff_t)(height * 4), -4, a, width * 4, width, height);
    wi_turn_32(last, -(ptrdiff_t)(height * 4), -4, b, width * 4, width, height);
    same8(a, b, width * height * 4, 0);
    plain_wi_turn_64(source, 8, (ptrdiff_t)width * 8, a, width * 8, width, height);
    wi_turn_64(source, 8, (ptrdiff_t)width * 8, b, width * 8, width, height);
    same8(a, b, width * height * 8, 0);
}

static void cut(void) {
    const size_t count = number(0, 300);
    float *outer = floats(count, 0, 1), *inner = floats(count, 0, 1);
    for (size_t i = 0; i < count; i++) inner[i] *= outer[i];
    float border[4] = {100, 50, 200, 220};
    const uint8_t *source8 = pixels8(count);
    uint8_t *a = buffer(count * 4), *b = buffer(count * 4);
    plain_wi_cut_rgba8(source8, a, outer, inner, border, count);
    wi_cut_rgba8(source8, b, outer, inner, border, count);
    same8(a, b, count * 4, 1);
    const uint16_t *source16 = pixels16(count);
    uint16_t *c = buffer(count * 8), *d = buffer(count * 8);
    for (int i = 0; i < 4; i++) border[i] *= 257;
    plain_wi_cut_rgba16(source16, c, outer, inner, border, count);
    wi_cut_rgba16(source16, d, outer, inner, border, count);
    same16(c, d, count * 4, 1);
}

// MARK: PNG rows

PLAIN(wi_unfilter_rgb8) PLAIN(wi_unfilter_rgba8) PLAIN(wi_unfilter_bytes)
PLAIN(wi_spread_indices) PLAIN(wi_spread_gray_alpha)

/// Fills filtered rows. The last row rarely has an invalid filter.
static uint8_t *filtered(size_t row_bytes, size_t rows, size_t padding) {
    uint8_t *raw = bytes((row_bytes + 1) * rows + padding);
    for (size_t row = 0; row < rows; row++) raw[row * (row_bytes + 1)] = (uint8_t)number(0, 4);
    if (number(0, 9) == 0) raw[(rows - 1) * (row_bytes + 1)] = 5;
    return raw;
}

static void unfilter(void) {
    const size_t width = number(1, 90), rows = number(1, 12), stride = width * 4 + number(0, 5);
    for (size_t channels = 3; channels <= 4; channels++) {
        const uint8_t *above = bytes(width * 4), *raw = filtered(width * channels, rows, 4);
        uint8_t *a = buffer(stride * rows), *b = buffer(stride * rows);
        memset(a, 0, stride * rows);
        memset(b, 0, stride * rows);
        size_t expected, actual;
        if (channels == 3) {
            expected = plain_wi_unfilter_rgb8(raw, width, rows, above, a, stride);
            actual = wi_unfilter_rgb8(raw, width, rows, above, b, stride);
        } else {
            expected = plain_wi_unfilter_rgba8(raw, width, rows, above, a, stride);
            actual = wi_unfilter_rgba8(raw, width, rows, above, b, stride);
        }
        same_number(expected, actual);
        same8(a, b, stride * rows, 0);
    }
}

static void unfilter_bytes(void) {
    const size_t step = number(1, 2), count = number(1, 120) * step, rows = number(1, 12);
    const uint8_t *above = bytes(count);
    uint8_t *a = filtered(count, rows, 0), *b = buffer((count + 1) * rows);
    memcpy(b, a, (count + 1) * rows);
    same_number(plain_wi_unfilter_bytes(a, count, rows, step, above), wi_unfilter_bytes(b, count, rows, step, above));
    same8(a, b, (count + 1) * rows, 0);
}

static void spread(void) {
    const size_t width = number(1, 200), bits = (size_t)1 << number(0, 3);
    const uint8_t *row = bytes((width * bits + 7) / 8), *pairs = bytes(width * 2);
    const uint32_t *colors = (const uint32_t *)bytes(1024);
    uint8_t *a = buffer(width * 4), *b = buffer(width * 4);
    plain_wi_spread_indices(row, bits, colors, a, width);
    wi_spread_indices(row, bits, colors, b, width);
    same8(a, b, width * 4, 0);
    plain_wi_spread_gray_alpha(pairs, a, width);
    wi_spread_gray_alpha(pairs, b, width);
    same8(a, b, width * 4, 0);
}

// MARK: Effects

PLAIN(wi_blur_lines_rgba8) PLAIN(wi_blur_lines_rgba16) PLAIN(wi_blend_rgba8) PLAIN(wi_blend_rgba16)
PLAIN(wi_color_matrix_rgba8) PLAIN(wi_color_matrix_rgba16) PLAIN(wi_mix_rgba8) PLAIN(wi_mix_rgba16)
PLAIN(wi_unsharp_rgba8) PLAIN(wi_unsharp_rgba16) PLAIN(wi_luminance_rgba8) PLAIN(wi_luminance_rgba16)
PLAIN(wi_alpha_rgba8) PLAIN(wi_alpha_rgba16) PLAIN(wi_sum_rgba8) PLAIN(wi_sum_rgba16) PLAIN(wi_vignette)
PLAIN(wi_digest)

static void blur(void) {
    const size_t count = number(1, 120), lanes = number(1, 8);
    const wi_box box = {(uint32_t)number(0, 30), (float)real(0, 1), 0};
    wi_box own = box;
    own.scale = 1 / (2 * (float)box.radius + 1 + 2 * box.edge);
    float *scratch = buffer(64 * count * sizeof *scratch);
    const uint8_t *source8 = pixels8(count * lanes);
    uint8_t *a = buffer(count * lanes * 4), *b = buffer(count * lanes * 4);
    plain_wi_blur_lines_rgba8(source8, a, 4, (ptrdiff_t)count * 4, 4, (ptrdiff_t)count * 4, count, lanes, own, scratch);
    wi_blur_lines_rgba8(source8, b, 4, (ptrdiff_t)count * 4, 4, (ptrdiff_t)count * 4, count, lanes, own, scratch);
    same8(a, b, count * lanes * 4, 1);
    const uint16_t *source16 = pixels16(count * lanes);
    uint16_t *c = buffer(count * lanes * 8), *d = buffer(count * lanes * 8);
    plain_wi_blur_lines_rgba16(source16, c, (ptrdiff_t)lanes * 8, 8, (ptrdiff_t)lanes * 8, 8, count, lanes, own, scratch);
    wi_blur_lines_rgba16(source16, d, (ptrdiff_t)lanes * 8, 8, (ptrdiff_t)lanes * 8, 8, count, lanes, own, scratch);
    same16(c, d, count * lanes * 4, 2);
}

static void blend(void) {
    const size_t count = number(0, 200);
    const wi_blend_mode mode = (wi_blend_mode)number(wi_blend_normal, wi_blend_exclusion);
    const wi_blend_place place = (wi_blend_place)number(wi_blend_over, wi_blend_in);
    const float *coverage = floats(count, 0, 1), opacity = (float)real(0, 1);
    const uint8_t *back8 = pixels8(count), *front8 = pixels8(count);
    uint8_t *a = buffer(count * 4), *b = buffer(count * 4);
    plain_wi_blend_rgba8(back8, front8, a, coverage, opacity, mode, place, count);
    wi_blend_rgba8(back8, front8, b, coverage, opacity, mode, place, count);
    same8(a, b, count * 4, 1);
    const uint16_t *back16 = pixels16(count), *front16 = pixels16(count);
    uint16_t *c = buffer(count * 8), *d = buffer(count * 8);
    plain_wi_blend_rgba16(back16, front16, c, coverage, opacity, mode, place, count);
    wi_blend_rgba16(back16, front16, d, coverage, opacity, mode, place, count);
    same16(c, d, count * 4, 1);
}

static void colors8(void) {
    const size_t count = number(0, 200);
    const uint8_t *one = pixels8(count), *other = pixels8(count);
    const float *matrix = floats(20, -1, 1.5), *share = floats(count, 0, 1);
    uint8_t *a = buffer(count * 4), *b = buffer(count * 4);
    BOTH(wi_color_matrix_rgba8, (one,), a, b, (, matrix, count));
    same8(a, b, count * 4, 1);
    BOTH(wi_mix_rgba8, (one, other,), a, b, (, share, count));
    same8(a, b, count * 4, 1);
    const float amount = (float)real(0, 3), threshold = (float)real(0, 0.1);
    BOTH(wi_unsharp_rgba8, (one, other,), a, b, (, amount, threshold, count));
    same8(a, b, count * 4, 1);
    float *c = buffer(count * 4), *d = buffer(count * 4);
    BOTH(wi_luminance_rgba8, (one,), c, d, (, count));
    same_floats(c, d, count, 1e-6);
    BOTH(wi_alpha_rgba8, (one,), c, d, (, count));
    same_floats(c, d, count, 1e-6);
    uint64_t expected[4] = {7}, actual[4] = {7};
    BOTH(wi_sum_rgba8, (one,), expected, actual, (, count));
    same_sums(expected, actual, 4, 0);
}

static void colors16(void) {
    const size_t count = number(0, 200);
    const uint16_t *one = pixels16(count), *other = pixels16(count);
    const float *matrix = floats(20, -1, 1.5), *share = floats(count, 0, 1);
    uint16_t *a = buffer(count * 8), *b = buffer(count * 8);
    BOTH(wi_color_matrix_rgba16, (one,), a, b, (, matrix, count));
    same16(a, b, count * 4, 1);
    BOTH(wi_mix_rgba16, (one, other,), a, b, (, share, count));
    same16(a, b, count * 4, 1);
    const float amount = (float)real(0, 3), threshold = (float)real(0, 0.1);
    BOTH(wi_unsharp_rgba16, (one, other,), a, b, (, amount, threshold, count));
    same16(a, b, count * 4, 1);
    float *c = buffer(count * 4), *d = buffer(count * 4);
    BOTH(wi_luminance_rgba16, (one,), c, d, (, count));
    same_floats(c, d, count, 1e-6);
    BOTH(wi_alpha_rgba16, (one,), c, d, (, count));
    same_floats(c, d, count, 1e-6);
    uint64_t expected[4] = {7}, actual[4] = {7};
    BOTH(wi_sum_rgba16, (one,), expected, actual, (, count));
    same_sums(expected, actual, 4, 0);
}

static void vignette(void) {
    const size_t count = number(0, 300);
    float *a = buffer(count * 4), *b = buffer(count * 4);
    const float x = (float)real(-1, 0), y = (float)real(-1, 1), start = (float)real(0, 1);
    BOTH(wi_vignette, (), a, b, (, x, 0.01f, y, start, 2.5f, 0.8f, count));
    same_floats(a, b, count, 1e-5);
}

static void digest(void) {
    const size_t count = number(0, 100);
    const uint8_t *source = bytes(count);
    uint64_t expected[2] = {next(), next()}, actual[2] = {expected[0], expected[1]};
    BOTH(wi_digest, (source, count,), expected, actual, ());
    same_number(expected[0], actual[0]);
    same_number(expected[1], actual[1]);
}

// MARK: Colors and high dynamic range

PLAIN(wi_light_rgba8) PLAIN(wi_light_rgba16) PLAIN(wi_map_row_rgba8) PLAIN(wi_map_row_rgba16)
PLAIN(wi_render_rgba8) PLAIN(wi_render_rgba16)

static double light_of(double v) { return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4); }
static double encoded(double v) { return v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055; }
static double at_most_one(double v) { return v < 1 ? v : 1; }

static float curve[WI_CURVE_STEPS + 1], light_bytes[256], gains[WI_ROOT_STEPS + 1], root_words[WI_ROOT_STEPS + 2];
static uint8_t linear_bytes[WI_LIGHT_STEPS + 1];
static float map_gains[WI_GAIN_STEPS + 2], pq_words[WI_PQ_STEPS + 2];

static void prepare_colors(void) {
    for (int i = 0; i <= WI_CURVE_STEPS; i++) curve[i] = (float)light_of(i / (double)WI_CURVE_STEPS);
    for (int i = 0; i < 256; i++) light_bytes[i] = (float)light_of(i / 255.0);
    for (int i = 0; i <= WI_ROOT_STEPS; i++) gains[i] = 1 - 0.5f * (float)i / WI_ROOT_STEPS;
    for (int i = 0; i <= WI_LIGHT_STEPS; i++)
        linear_bytes[i] = (uint8_t)(encoded(i / (double)WI_LIGHT_STEPS) * 255 + 0.5);
    for (int i = 0; i <= WI_ROOT_STEPS + 1; i++) {
        const double root = at_most_one(i / (double)WI_ROOT_STEPS);
        root_words[i] = (float)(encoded(root * root) * 65535);
    }
    for (int i = 0; i <= WI_GAIN_STEPS + 1; i++) map_gains[i] = (float)exp2(3 * at_most_one(i / (double)WI_GAIN_STEPS));
    for (int i = 0; i <= WI_PQ_STEPS + 1; i++) pq_words[i] = (float)(65535 * at_most_one(i / (double)WI_PQ_STEPS));
}

static void set_matrix(float *matrix) {
    for (int i = 0; i < 9; i++) matrix[i] = (float)(i % 4 == 0 ? real(0.6, 1.2) : real(-0.2, 0.2));
}

static void convert(void) {
    const size_t count = number(0, 200);
    wi_light light = {.bytes = {light_bytes, light_bytes, light_bytes}, .curves = {curve, curve, curve},
                      .luminance = {0.2627f, 0.678f, 0.0593f}, .peak = 0.8f,
                      .encoded_bytes = linear_bytes, .encoded_words = root_words};
    if (number(0, 1)) light.gains = gains;
    if (number(0, 1)) light.ootf_power = 0.2f, light.ootf_scale = 1.1f;
    set_matrix(light.matrix);
    const uint8_t *source8 = bytes(count * 4);
    uint8_t *a = buffer(count * 4), *b = buffer(count * 4);
    BOTH(wi_light_rgba8, (source8,), a, b, (, &light, count));
    // Near black, a step of light is a fifth of a byte, so rounding changes the byte by 1.
    same8(a, b, count * 4, 1);
    const uint16_t *source16 = (const uint16_t *)bytes(count * 8);
    uint16_t *c = buffer(count * 8), *d = buffer(count * 8);
    BOTH(wi_light_rgba16, (source16,), c, d, (, &light, count));
    // The difference of two rounded products near black passes through a square root.
    same16(c, d, count * 4, 40);
}

static void map_row(void) {
    const size_t width = number(1, 60), count = number(0, 200);
    const float fraction = (float)real(0, 1);
    const double first = real(-2, 1), step = real(0.05, 0.5);
    float *a = buffer(count * 12), *b = buffer(count * 12);
    const uint8_t *top8 = pixels8(width), *bottom8 = pixels8(width);
    BOTH(wi_map_row_rgba8, (top8, bottom8, fraction, first, step, width,), a, b, (, count));
    same_floats(a, b, count * 3, 1e-5);
    const uint16_t *top16 = pixels16(width), *bottom16 = pixels16(width);
    BOTH(wi_map_row_rgba16, (top16, bottom16, fraction, first, step, width,), a, b, (, count));
    same_floats(a, b, count * 3, 1e-5);
}

static void render(void) {
    const size_t count = number(0, 200);
    const float *map = number(0, 1) ? floats(count * 3, 0, 1) : NULL;
    wi_render own = {.curves = {curve, curve, curve}, .luminance = {0.2627f, 0.678f, 0.0593f}, .peak = 0.8f,
                     .gains = {map_gains, map_gains, map_gains}, .base_offset = {0.015f, 0.015f, 0.015f},
                     .alternate_offset = {0.015f, 0.015f, 0.015f}, .limit = 8, .pq_scale = 0.1f};
    const bool is_pq = number(0, 1);
    if (is_pq) own.pq = pq_words;
    if (number(0, 1)) own.tones = gains;
    if (number(0, 1)) own.ootf_power = 0.2f, own.ootf_scale = 1.1f;
    set_matrix(own.to_gain);
    set_matrix(own.to_output);
    const uint8_t *source8 = pixels8(count);
    const uint16_t *source16 = pixels16(count);
    uint16_t *a = buffer(count * 8), *b = buffer(count * 8);
    // The fourth root of PQ and the exponent of a half amplify rounding errors near black, where matrices cancel.
    BOTH(wi_render_rgba8, (source8, map,), a, b, (, &own, count));
    same16(a, b, count * 4, is_pq ? 700 : 900);
    BOTH(wi_render_rgba16, (source16, map,), a, b, (, &own, count));
    same16(a, b, count * 4, is_pq ? 700 : 900);
}

// MARK: Resampling of light

PLAIN(wi_light_pairs_rgb8) PLAIN(wi_light_pairs_rgba8) PLAIN(wi_light_row_rgb16) PLAIN(wi_light_row_rgba16)
PLAIN(wi_light_row_rgb8) PLAIN(wi_light_row_rgba8) PLAIN(wi_encode_deep_rgb8) PLAIN(wi_encode_deep_rgba8)
PLAIN(wi_add_light_pairs) PLAIN(wi_add_light_pairs_variants) PLAIN(wi_add_light_pairs_variant) PLAIN(wi_add_light_rows)
PLAIN(wi_encode_light_rgb8) PLAIN(wi_encode_light_rgba8) PLAIN(wi_encode_light_rgb16) PLAIN(wi_encode_light_rgba16)

static uint16_t opaque_light[256], premultiplied_light[256 * 256];
static uint8_t light_to_byte[WI_LIGHT_MAXIMUM + 1];
static float light_to_value[WI_LIGHT_MAXIMUM + 1], deep_light[WI_DEEP_LIGHT_STEPS + 2], deep_words[WI_DEEP_LIGHT_STEPS + 2];
static const wi_resample_tables tables = {opaque_light, premultiplied_light, light_to_byte,
                                          light_to_value, deep_light, deep_words, 1};

static void prepare_light(void) {
    for (int v = 0; v < 256; v++) opaque_light[v] = (uint16_t)lround(light_of(v / 255.0) * WI_LIGHT_MAXIMUM);
    for (int alpha = 1; alpha < 256; alpha++)
        for (int v = 0; v < 256; v++)
            premultiplied_light[alpha * 256 + v] = (uint16_t)lround(
                light_of(at_most_one(v / (double)alpha)) * alpha / 255 * WI_LIGHT_MAXIMUM);
    for (int v = 0; v <= WI_LIGHT_MAXIMUM; v++) {
        light_to_value[v] = (float)encoded(v / (double)WI_LIGHT_MAXIMUM);
        light_to_byte[v] = (uint8_t)lround(encoded(v / (double)WI_LIGHT_MAXIMUM) * 255);
    }
    for (int i = 0; i < WI_DEEP_LIGHT_STEPS + 2; i++) {
        const double v = at_most_one(i / (double)WI_DEEP_LIGHT_STEPS);
        deep_light[i] = (float)light_of(v);
        deep_words[i] = (float)(encoded(v * v) * 65535);
    }
}

static void light_of_pixels(void) {
    const size_t width = number(0, 200);
    const uint8_t *upper = pixels8(width), *lower = pixels8(width);
    uint32_t *a = buffer(width * 16), *b = buffer(width * 16);
    BOTH(wi_light_pairs_rgb8, (upper, lower,), a, b, (, &tables, width));
    same_words(a, b, width * 3, 0);
    BOTH(wi_light_pairs_rgba8, (upper, lower,), a, b, (, &tables, width));
    same_words(a, b, width * 4, 0);
    const uint16_t *wide = pixels16(width);
    float *c = buffer(width * 16), *d = buffer(width * 16);
    BOTH(wi_light_row_rgb16, (wide,), c, d, (, &tables, width));
    same_floats(c, d, width * 3, 1e-6);
    BOTH(wi_light_row_rgba16, (wide,), c, d, (, &tables, width));
    same_floats(c, d, width * 4, 1e-5);
    BOTH(wi_light_row_rgb8, (upper,), c, d, (, &tables, width));
    same_floats(c, d, width * 3, 1e-6);
    BOTH(wi_light_row_rgba8, (upper,), c, d, (, &tables, width));
    same_floats(c, d, width * 4, 1e-5);
}

static void add_light(void) {
    const size_t samples = WI_LIGHT_LANES * number(1, 12), stride = samples, count = number(1, 8);
    uint32_t *pairs = (uint32_t *)bytes(stride * count * 4);
    for (size_t i = 0; i < stride * count; i++) pairs[i] &= 0x7fff7fff;
    // The sum of the weights of a band times the largest light fits into 32 bits.
    uint32_t *weights = buffer(count * 4);
    for (size_t j = 0; j < count; j++) weights[j] = (uint32_t)(number(0, 8000) + 65536 - 4000) << 16 >> 16;
    for (size_t j = 0; j < count; j++) weights[j] = (weights[j] & 0xffff) | (uint32_t)(number(0, 8000) - 4000) << 16;
    float *sums = floats(samples, -1e6, 1e6), *others = copy_of(sums, samples);
    for (int is_new = 1; is_new >= 0; is_new--) {
        BOTH(wi_add_light_pairs, (), sums, others, (, pairs, stride, weights, count, samples, is_new));
        same_floats(sums, others, samples, 0);
    }
    for (size_t variant = 0; variant < wi_add_light_pairs_variants(); variant++) {
        plain_wi_add_light_pairs_variant(0, sums, pairs, stride, weights, count, samples, true);
        wi_add_light_pairs_variant(variant, others, pairs, stride, weights, count, samples, true);
        same_floats(sums, others, samples, 0);
    }
    same_number(1, plain_wi_add_light_pairs_variants());
    const float *rows = floats(stride * count, 0, 1), *shares = floats(count, -0.3, 1);
    for (int is_new = 1; is_new >= 0; is_new--) {
        BOTH(wi_add_light_rows, (), sums, others, (, rows, stride, shares, count, samples, is_new));
        same_floats(sums, others, samples, 1e-5);
    }
}

static void encode_light(void) {
    const size_t source = number(1, 150), width = number(1, 100), count = number(1, 8) * 4;
    uint32_t *first = buffer(width * 4);
    const size_t last = source > count ? source - count : 0;
    for (size_t x = 0; x < width; x++) first[x] = (uint32_t)number(0, last);
    float *weights = floats(width * count, -0.02, 0.12);
    for (size_t x = 0; x < width; x++)
        for (size_t j = 0; j < count; j++)
            if (first[x] + j >= source) weights[x * count + j] = 0;
    const wi_light_columns columns = {first, weights, count, width};
    // As in LightPass, the sums are padded.
    const size_t padded = ((source > count ? source : count) * 4 + WI_LIGHT_LANES - 1) / WI_LIGHT_LANES * WI_LIGHT_LANES;
    float *sums = floats(padded + WI_LIGHT_LANES, 0, 1);
    uint8_t *a = buffer(width * 4), *b = buffer(width * 4);
    for (size_t i = 0; i < padded + WI_LIGHT_LANES; i++)
        sums[i] *= i % 4 == 3 ? (float)WI_LIGHT_MAXIMUM : 0.9f * WI_LIGHT_MAXIMUM;
    BOTH(wi_encode_light_rgb8, (sums, &columns, 1, &tables,), a, b, ());
    same8(a, b, width * 4, 1);
    BOTH(wi_encode_light_rgba8, (sums, &columns, 1, &tables,), a, b, ());
    same8(a, b, width * 4, 1);
    for (size_t i = 0; i < padded + WI_LIGHT_LANES; i++) sums[i] *= 1.0f / WI_LIGHT_MAXIMUM;
    uint16_t *c = buffer(width * 8), *d = buffer(width * 8);
    BOTH(wi_encode_light_rgb16, (sums, &columns, 1, &tables,), c, d, ());
    // Near black, the square root amplifies rounding errors.
    same16(c, d, width * 4, 60);
    BOTH(wi_encode_light_rgba16, (sums, &columns, 1, &tables,), c, d, ());
    same16(c, d, width * 4, 60);
    BOTH(wi_encode_deep_rgb8, (sums, &columns, 1, &tables,), a, b, ());
    same8(a, b, width * 4, 1);
    BOTH(wi_encode_deep_rgba8, (sums, &columns, 1, &tables,), a, b, ());
    same8(a, b, width * 4, 1);
}

static void rotate(void) {
    const size_t width = number(1, 40), height = number(1, 40), count = number(0, 80);
    const double x = real(-5, 20), y = real(-5, 20), angle = real(0, 6.28);
    const double dx = cos(angle), dy = sin(angle);
    const wi_resample_tables *light = number(0, 1) ? &tables : NULL;
    const uint8_t *source8 = pixels8(width * height), *back8 = pixels8(1);
    uint8_t *a = buffer(count * 4), *b = buffer(count * 4);
    BOTH(wi_rotate_row_rgba8, (source8, width * 4, width, height, x, y, dx, dy, back8, light,), a, b, (, count));
    same8(a, b, count * 4, 1);
    const uint16_t *source16 = pixels16(width * height), *back16 = pixels16(1);
    uint16_t *c = buffer(count * 8), *d = buffer(count * 8);
    BOTH(wi_rotate_row_rgba16, (source16, width * 8, width, height, x, y, dx, dy, back16, light,), c, d, (, count));
    same16(c, d, count * 4, 60);
}

// MARK: Chroma and visual score

PLAIN(wi_chroma_row) PLAIN(wi_luma_row)
PLAIN(wi_visual_open) PLAIN(wi_visual_close) PLAIN(wi_visual_add) PLAIN(wi_visual_finish)
// wi_visual_add calls these functions and wi_visual_measure.
void wi_visual_perceive(const float *light, float *x, float *y, float *b, uint32_t width);
void wi_visual_blur(const float *from, float *to, uint32_t width);
PLAIN(wi_visual_perceive) PLAIN(wi_visual_blur)

static void chroma(void) {
    const size_t width = number(1, 400), half = (width + 1) / 2;
    const uint8_t *top = bytes(width * 4), *bottom = bytes(width * 4);
    uint8_t *planes[2][2];
    for (int i = 0; i < 4; i++) planes[i / 2][i % 2] = buffer(half);
    plain_wi_chroma_row(top, bottom, width, planes[0][0], planes[0][1]);
    wi_chroma_row(top, bottom, width, planes[1][0], planes[1][1]);
    for (int i = 0; i < 2; i++) same8(planes[0][i], planes[1][i], half, 1);
    const uint8_t *const near[2] = {planes[0][0], planes[0][1]}, *const far[2] = {bytes(half), bytes(half)};
    uint8_t *a = buffer(width), *b = buffer(width);
    BOTH(wi_luma_row, (top, width, near, far,), a, b, ());
    same8(a, b, width, 1);
}

static void visual(void) {
    const size_t width = number(1, 70), height = number(1, 40);
    const uint8_t *one = pixels8(width * height), *other = pixels8(width * height);
    const uint8_t background[3] = {255, 128, 0};
    float features[2][WI_VISUAL_FEATURES];
    wi_visual *expected = plain_wi_visual_open((uint32_t)width, (uint32_t)height);
    wi_visual *actual = wi_visual_open((uint32_t)width, (uint32_t)height);
    if (!expected || !actual) abort();
    plain_wi_visual_add(expected, one, width * 4, 0, other, width * 4, 0, (uint32_t)height, background);
    wi_visual_add(actual, one, width * 4, 0, other, width * 4, 0, (uint32_t)height, background);
    plain_wi_visual_finish(expected, features[0]);
    wi_visual_finish(actual, features[1]);
    plain_wi_visual_close(expected);
    wi_visual_close(actual);
    same_floats(features[0], features[1], WI_VISUAL_FEATURES, 1e-3);
    float *light = floats(width * 3, 0, 1), *planes[6];
    for (int i = 0; i < 6; i++) planes[i] = buffer(width * 4);
    plain_wi_visual_perceive(light, planes[0], planes[1], planes[2], (uint32_t)width);
    wi_visual_perceive(light, planes[3], planes[4], planes[5], (uint32_t)width);
    for (int i = 0; i < 3; i++) same_floats(planes[i], planes[i + 3], width, 1e-5);
    const float *row = floats(width + 10, 0, 1);
    plain_wi_visual_blur(row, planes[0], (uint32_t)width);
    wi_visual_blur(row, planes[1], (uint32_t)width);
    same_floats(planes[0], planes[1], width, 1e-5);
}

static const struct {
    const char *name;
    void (*run)(void);
} TESTS[] = {
    {"vertical", vertical}, {"horizontal", horizontal}, {"alpha", alpha}, {"opacity", opacity}, {"depth", depth},
    {"limits", limits},
    {"turn", turn}, {"cut", cut}, {"unfilter", unfilter}, {"unfilter_bytes", unfilter_bytes}, {"spread", spread},
    {"blur", blur}, {"blend", blend}, {"colors8", colors8}, {"colors16", colors16}, {"vignette", vignette},
    {"digest", digest}, {"convert", convert}, {"map_row", map_row}, {"render", render},
    {"light_of_pixels", light_of_pixels}, {"add_light", add_light}, {"encode_light", encode_light}, {"rotate", rotate},
    {"chroma", chroma}, {"visual", visual},
};

int main(void) {
    prepare_slots();
    prepare_colors();
    prepare_light();
    for (size_t test = 0; test < sizeof TESTS / sizeof *TESTS; test++) {
        running = TESTS[test].name;
        const int before = failures;
        for (uint64_t round = 0; round < ROUNDS; round++) {
            state = round * 1000 + test;
            TESTS[test].run();
            release();
        }
        if (failures > before) fprintf(stderr, "%s: %d failed comparisons\n", running, failures - before);
    }
    return failures ? 1 : 0;
}
