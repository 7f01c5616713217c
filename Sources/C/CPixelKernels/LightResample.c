// SPDX-License-Identifier: MIT
// Separable resampling in linear light. Source rows become light once. The vertical pass then multiplies pairs of rows
// with one instruction per 4 to 16 samples, and the horizontal pass processes one row of sums.
#include "Dispatch.h"
#include "PixelResample.h"
#include <math.h>
#include <string.h>
#if defined(__x86_64__) && WI_LEVEL > 0
#define WI_X86
#include <immintrin.h>
#elif defined(__ARM_NEON) && WI_LEVEL > 0
#define WI_NEON
#include <arm_neon.h>
#endif

typedef float wi_float4 __attribute__((vector_size(16)));
typedef float wi_float8 __attribute__((vector_size(32)));
typedef float wi_float16 __attribute__((vector_size(64)));
typedef int32_t wi_int4 __attribute__((vector_size(16)));

// MARK: Light of pixels

static void pairs_rgb8_portable(const uint8_t *upper, const uint8_t *lower, uint32_t *restrict pairs,
                                const wi_resample_tables *tables, size_t width) {
    const uint16_t *light = tables->opaque;
    for (size_t x = 0; x < width; x++, upper += 4, lower += 4, pairs += 3)
        for (int c = 0; c < 3; c++) pairs[c] = light[upper[c]] | (uint32_t)light[lower[c]] << 16;
}

static void pairs_rgba8_portable(const uint8_t *upper, const uint8_t *lower, uint32_t *restrict pairs,
                                 const wi_resample_tables *tables, size_t width) {
    for (size_t x = 0; x < width; x++, upper += 4, lower += 4, pairs += 4) {
        const uint16_t *above = tables->premultiplied + (size_t)upper[3] * 256;
        const uint16_t *below = tables->premultiplied + (size_t)lower[3] * 256;
        for (int c = 0; c < 3; c++) pairs[c] = above[upper[c]] | (uint32_t)below[lower[c]] << 16;
        pairs[3] = above[255] | (uint32_t)below[255] << 16;
    }
}

#if defined(WI_X86)
// AVX-512 VBMI looks up 64 bytes in a table of 128 bytes with one instruction, so the registers hold the whole table of
// an opaque pixel: four for the lower and four for the upper bytes of its light.
#define WI_VBMI __attribute__((target("avx512f,avx512bw,avx512vbmi")))
#define WI_VBMI_INLINE WI_VBMI static inline __attribute__((always_inline))

typedef struct {
    __m512i low[4], high[4];
} light_planes;

// The samples 0 to 31 and 32 to 63 of a row.
typedef struct {
    __m512i first, second;
} light_words;

WI_VBMI_INLINE light_planes planes(const uint16_t *light) {
    light_planes p;
    for (int i = 0; i < 4; i++) {
        const __m512i a = _mm512_loadu_si512((const void *)(light + i * 64));
        const __m512i b = _mm512_loadu_si512((const void *)(light + i * 64 + 32));
        p.low[i] = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(a)), _mm512_cvtepi16_epi8(b), 1);
        p.high[i] = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(_mm512_srli_epi16(a, 8))),
                                       _mm512_cvtepi16_epi8(_mm512_srli_epi16(b, 8)), 1);
    }
    return p;
}

WI_VBMI_INLINE __m512i looked_up(const __m512i *plane, __m512i bytes) {
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), _mm512_permutex2var_epi8(plane[0], bytes, plane[1]),
                                  _mm512_permutex2var_epi8(plane[2], bytes, plane[3]));
}

// Joins the lower and upper bytes of 64 samples.
WI_VBMI_INLINE light_words joined(__m512i low, __m512i high) {
    const __m512i order = _mm512_set_epi8(
        95, 31, 94, 30, 93, 29, 92, 28, 91, 27, 90, 26, 89, 25, 88, 24, 87, 23, 86, 22, 85, 21, 84, 20, 83, 19, 82, 18,
        81, 17, 80, 16, 79, 15, 78, 14, 77, 13, 76, 12, 75, 11, 74, 10, 73, 9, 72, 8, 71, 7, 70, 6, 69, 5, 68, 4, 67, 3,
        66, 2, 65, 1, 64, 0);
    const __m512i rest = _mm512_add_epi8(order, _mm512_set1_epi8(32));
    return (light_words){_mm512_permutex2var_epi8(low, order, high), _mm512_permutex2var_epi8(low, rest, high)};
}

// Stores the pairs of the first `count` × 16 samples.
WI_VBMI_INLINE void store_pairs(light_words upper, light_words lower, uint32_t *pairs, int count) {
    const __m512i order =
        _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8, 39, 7, 38, 6, 37, 5, 36, 4, 35, 3,
                         34, 2, 33, 1, 32, 0);
    const __m512i rest = _mm512_add_epi16(order, _mm512_set1_epi16(16));
    const __m512i words[4] = {_mm512_permutex2var_epi16(upper.first, order, lower.first),
                              _mm512_permutex2var_epi16(upper.first, rest, lower.first),
                              _mm512_permutex2var_epi16(upper.second, order, lower.second),
                              _mm512_permutex2var_epi16(upper.second, rest, lower.second)};
    for (int i = 0; i < count; i++) _mm512_storeu_si512((void *)(pairs + i * 16), words[i]);
}

WI_VBMI static void pairs_rgb8_vbmi(const uint8_t *upper, const uint8_t *lower, uint32_t *pairs,
                                    const wi_resample_tables *tables, size_t width) {
    const light_planes table = planes(tables->opaque);
    // The positions of R, G, and B.
    uint8_t positions[64] = {0};
    for (uint8_t i = 0; i < 48; i++) positions[i] = (uint8_t)(i / 3 * 4 + i % 3);
    const __m512i colors = _mm512_loadu_si512((const void *)positions);
    size_t x = 0;
    for (; x + 16 <= width; x += 16) {
        const __m512i a = _mm512_permutexvar_epi8(colors, _mm512_loadu_si512((const void *)(upper + x * 4)));
        const __m512i b = _mm512_permutexvar_epi8(colors, _mm512_loadu_si512((const void *)(lower + x * 4)));
        store_pairs(joined(looked_up(table.low, a), looked_up(table.high, a)),
                    joined(looked_up(table.low, b), looked_up(table.high, b)), pairs + x * 3, 3);
    }
    pairs_rgb8_portable(upper + x * 4, lower + x * 4, pairs + x * 3, tables, width - x);
}

WI_VBMI static void pairs_rgba8_vbmi(const uint8_t *upper, const uint8_t *lower, uint32_t *pairs,
                                     const wi_resample_tables *tables, size_t width) {
    const light_planes table = planes(tables->opaque);
    const __mmask64 alphas = 0x8888888888888888;
    const __m512i full = _mm512_set1_epi8(-1);
    size_t x = 0;
    for (; x + 16 <= width; x += 16) {
        const __m512i a = _mm512_loadu_si512((const void *)(upper + x * 4));
        const __m512i b = _mm512_loadu_si512((const void *)(lower + x * 4));
        // Most pixels of images with transparency are either opaque or empty.
        if (_mm512_mask_cmpneq_epi8_mask(alphas, _mm512_and_si512(a, b), full)) {
            if (_mm512_test_epi8_mask(_mm512_or_si512(a, b), full))
                pairs_rgba8_portable(upper + x * 4, lower + x * 4, pairs + x * 4, tables, 16);
            else
                memset(pairs + x * 4, 0, 64 * sizeof *pairs);
            continue;
        }
        const __m512i largest = _mm512_set1_epi8(WI_LIGHT_MAXIMUM >> 8);
        const __m512i highA = _mm512_mask_blend_epi8(alphas, looked_up(table.high, a), largest);
        const __m512i highB = _mm512_mask_blend_epi8(alphas, looked_up(table.high, b), largest);
        const __m512i lowA = _mm512_mask_blend_epi8(alphas, looked_up(table.low, a), full);
        const __m512i lowB = _mm512_mask_blend_epi8(alphas, looked_up(table.low, b), full);
        store_pairs(joined(lowA, highA), joined(lowB, highB), pairs + x * 4, 4);
    }
    pairs_rgba8_portable(upper + x * 4, lower + x * 4, pairs + x * 4, tables, width - x);
}
#endif

void wi_light_pairs_rgb8(const uint8_t *upper, const uint8_t *lower, uint32_t *pairs, const wi_resample_tables *tables,
                         size_t width) {
#if defined(WI_X86)
    if (WI_HAS(3, "avx512vbmi") && WI_HAS(3, "avx512bw"))
        return pairs_rgb8_vbmi(upper, lower, pairs, tables, width);
#endif
    pairs_rgb8_portable(upper, lower, pairs, tables, width);
}

void wi_light_pairs_rgba8(const uint8_t *upper, const uint8_t *lower, uint32_t *pairs, const wi_resample_tables *tables,
                          size_t width) {
#if defined(WI_X86)
    if (WI_HAS(3, "avx512vbmi") && WI_HAS(3, "avx512bw"))
        return pairs_rgba8_vbmi(upper, lower, pairs, tables, width);
#endif
    pairs_rgba8_portable(upper, lower, pairs, tables, width);
}

WI_INLINE float between(const float *table, float place) {
    int32_t index = (int32_t)place;
    return table[index] + (table[index + 1] - table[index]) * (place - (float)index);
}

#define WI_LIGHT_ROWS(bits, sample, maximum)                                                                          \
    WI_INLINE void wi_light_row_rgb##bits##_body(const sample *pixels, float *light,                                  \
                                                 const wi_resample_tables *tables, size_t width) {                    \
        const float *table = tables->light, step = (float)WI_DEEP_LIGHT_STEPS / maximum;                              \
        for (size_t x = 0; x < width; x++, pixels += 4, light += 3)                                                   \
            for (int c = 0; c < 3; c++) light[c] = between(table, pixels[c] * step);                                  \
    }                                                                                                                 \
    WI_INLINE void wi_light_row_rgba##bits##_body(const sample *pixels, float *light,                                 \
                                                  const wi_resample_tables *tables, size_t width) {                   \
        const float *table = tables->light;                                                                           \
        for (size_t x = 0; x < width; x++, pixels += 4, light += 4) {                                                 \
            const float alpha = pixels[3] * (1.0f / maximum);                                                         \
            const float over = pixels[3] ? (float)WI_DEEP_LIGHT_STEPS / pixels[3] : 0;                                \
            for (int c = 0; c < 3; c++) {                                                                             \
                float place = pixels[c] * over;                                                                       \
                light[c] = alpha * between(table, place < WI_DEEP_LIGHT_STEPS ? place : WI_DEEP_LIGHT_STEPS);         \
            }                                                                                                         \
            light[3] = alpha;                                                                                         \
        }                                                                                                             \
    }                                                                                                                 \
    WI_DISPATCH(void, wi_light_row_rgb##bits,                                                                         \
                (const void *pixels, float *light, const wi_resample_tables *tables, size_t width),                   \
                (pixels, light, tables, width))                                                                       \
    WI_DISPATCH(void, wi_light_row_rgba##bits,                                                                        \
                (const void *pixels, float *light, const wi_resample_tables *tables, size_t width),                   \
                (pixels, light, tables, width))
WI_LIGHT_ROWS(8, uint8_t, 255)
WI_LIGHT_ROWS(16, uint16_t, 65535)

// MARK: Vertical pass

static void add_pairs_portable(float *sums, const uint32_t *pairs, size_t stride, const uint32_t *weights,
                               size_t count, size_t samples, bool is_new) {
    for (size_t i = 0; i < samples; i++) {
        int32_t sum = 0;
        for (size_t j = 0; j < count; j++) {
            const uint32_t pair = pairs[j * stride + i], weight = weights[j];
            sum += (int16_t)pair * (int16_t)weight + (int16_t)(pair >> 16) * (int16_t)(weight >> 16);
        }
        sums[i] = (float)sum + (is_new ? 0 : sums[i]);
    }
}

#if defined(WI_X86)
// The same loop for the vectors of each instruction set. Four accumulators hide the latency of the addition.
#define WI_ADD_PAIRS(name, VECTOR, FLOATS, LANES, LOAD, ZERO, SPLAT, MADD, ADD, CONVERT, LOADF, ADDF, STOREF)         \
    static void name(float *sums, const uint32_t *pairs, size_t stride, const uint32_t *weights, size_t count,        \
                     size_t samples, bool is_new) {                                                                   \
        for (size_t i = 0; i < samples; i += 4 * LANES) {                                                             \
            VECTOR a = ZERO(), b = ZERO(), c = ZERO(), d = ZERO();                                                    \
            for (size_t j = 0; j < count; j++) {                                                                      \
                const VECTOR w = SPLAT((int)weights[j]);                                                              \
                const uint32_t *p = pairs + j * stride + i;                                                           \
                a = ADD(a, MADD(LOAD((const void *)p), w));                                                           \
                b = ADD(b, MADD(LOAD((const void *)(p + LANES)), w));                                                 \
                c = ADD(c, MADD(LOAD((const void *)(p + 2 * LANES)), w));                                             \
                d = ADD(d, MADD(LOAD((const void *)(p + 3 * LANES)), w));                                             \
            }                                                                                                         \
            FLOATS e = CONVERT(a), f = CONVERT(b), g = CONVERT(c), h = CONVERT(d);                                    \
            float *s = sums + i;                                                                                      \
            if (!is_new) {                                                                                            \
                e = ADDF(e, LOADF(s));                                                                                \
                f = ADDF(f, LOADF(s + LANES));                                                                        \
                g = ADDF(g, LOADF(s + 2 * LANES));                                                                    \
                h = ADDF(h, LOADF(s + 3 * LANES));                                                                    \
            }                                                                                                         \
            STOREF(s, e);                                                                                             \
            STOREF(s + LANES, f);                                                                                     \
            STOREF(s + 2 * LANES, g);                                                                                 \
            STOREF(s + 3 * LANES, h);                                                                                 \
        }                                                                                                             \
    }

__attribute__((target("avx512f,avx512bw")))
WI_ADD_PAIRS(add_pairs_avx512, __m512i, __m512, 16, _mm512_loadu_si512, _mm512_setzero_si512, _mm512_set1_epi32,
             _mm512_madd_epi16, _mm512_add_epi32, _mm512_cvtepi32_ps, _mm512_loadu_ps, _mm512_add_ps, _mm512_storeu_ps)
__attribute__((target("avx2")))
WI_ADD_PAIRS(add_pairs_avx2, __m256i, __m256, 8, _mm256_loadu_si256, _mm256_setzero_si256, _mm256_set1_epi32,
             _mm256_madd_epi16, _mm256_add_epi32, _mm256_cvtepi32_ps, _mm256_loadu_ps, _mm256_add_ps, _mm256_storeu_ps)
// SSE2 has all of these instructions, so SSE4.1 wouldn't be faster.
WI_ADD_PAIRS(add_pairs_sse2, __m128i, __m128, 4, _mm_loadu_si128, _mm_setzero_si128, _mm_set1_epi32, _mm_madd_epi16,
             _mm_add_epi32, _mm_cvtepi32_ps, _mm_loadu_ps, _mm_add_ps, _mm_storeu_ps)
#elif defined(WI_NEON)
static void add_pairs_neon(float *sums, const uint32_t *pairs, size_t stride, const uint32_t *weights, size_t count,
                           size_t samples, bool is_new) {
    for (size_t i = 0; i < samples; i += 8) {
        int32x4_t a = vdupq_n_s32(0), b = vdupq_n_s32(0);
        for (size_t j = 0; j < count; j++) {
            // Separate the rows of eight pairs.
            const int16x8x2_t p = vld2q_s16((const int16_t *)(pairs + j * stride + i));
            const int16_t upper = (int16_t)weights[j], lower = (int16_t)(weights[j] >> 16);
            a = vmlal_n_s16(a, vget_low_s16(p.val[0]), upper);
            b = vmlal_n_s16(b, vget_high_s16(p.val[0]), upper);
            a = vmlal_n_s16(a, vget_low_s16(p.val[1]), lower);
            b = vmlal_n_s16(b, vget_high_s16(p.val[1]), lower);
        }
        float32x4_t e = vcvtq_f32_s32(a), f = vcvtq_f32_s32(b);
        if (!is_new) {
            e = vaddq_f32(e, vld1q_f32(sums + i));
            f = vaddq_f32(f, vld1q_f32(sums + i + 4));
        }
        vst1q_f32(sums + i, e);
        vst1q_f32(sums + i + 4, f);
    }
}
#endif

typedef void (*wi_add_pairs)(float *, const uint32_t *, size_t, const uint32_t *, size_t, size_t, bool);

// Returns a variant from the slowest (0) to the fastest, or NULL if this processor doesn't have it.
static wi_add_pairs pairs_variant(size_t variant) {
#if defined(WI_X86)
    switch (variant) {
        case 0: return add_pairs_portable;
        case 1: return add_pairs_sse2;
        case 2: return WI_HAS(2, "avx2") ? add_pairs_avx2 : NULL;
        case 3: return WI_HAS(3, "avx512bw") ? add_pairs_avx512 : NULL;
        default: return NULL;
    }
#elif defined(WI_NEON)
    return variant == 0 ? add_pairs_portable : variant == 1 ? add_pairs_neon : NULL;
#else
    return variant == 0 ? add_pairs_portable : NULL;
#endif
}

size_t wi_add_light_pairs_variants(void) {
    size_t count = 0;
    while (pairs_variant(count)) count++;
    return count;
}

void wi_add_light_pairs_variant(size_t variant, float *sums, const uint32_t *pairs, size_t stride,
                                const uint32_t *weights, size_t count, size_t samples, bool is_new) {
    const wi_add_pairs add = pairs_variant(variant);
    if (add) add(sums, pairs, stride, weights, count, samples, is_new);
}

void wi_add_light_pairs(float *sums, const uint32_t *pairs, size_t stride, const uint32_t *weights, size_t count,
                        size_t samples, bool is_new) {
    pairs_variant(wi_add_light_pairs_variants() - 1)(sums, pairs, stride, weights, count, samples, is_new);
}

WI_INLINE void wi_add_light_rows_body(float *restrict sums, const float *restrict rows, size_t stride,
                                      const float *weights, size_t count, size_t samples, bool is_new) {
    for (size_t i = 0; i < samples; i += 16) {
        wi_float16 sum = {0};
        if (!is_new) memcpy(&sum, sums + i, sizeof sum);
        for (size_t j = 0; j < count; j++) {
            wi_float16 row;
            memcpy(&row, rows + j * stride + i, sizeof row);
            sum += row * weights[j];
        }
        memcpy(sums + i, &sum, sizeof sum);
    }
}

WI_DISPATCH(void, wi_add_light_rows,
            (float *sums, const float *rows, size_t stride, const float *weights, size_t count, size_t samples,
             bool is_new),
            (sums, rows, stride, weights, count, samples, is_new))

// MARK: Horizontal pass

// Returns the weighted sum of pixels with three channels. The last lane is unspecified. Four pixels are twelve floats, so
// vectors with eight and four lanes need no lane for anything else.
WI_INLINE wi_float4 row_sum_rgb(const float *sums, const float *weights, size_t count) {
    wi_float8 most = {0};
    wi_float4 rest = {0};
    for (size_t j = 0; j < count; j += 4, sums += 12, weights += 4) {
        wi_float8 p;
        wi_float4 q, w;
        memcpy(&p, sums, sizeof p);
        memcpy(&q, sums + 8, sizeof q);
        memcpy(&w, weights, sizeof w);
        most += p * __builtin_shufflevector(w, w, 0, 0, 0, 1, 1, 1, 2, 2);
        rest += q * __builtin_shufflevector(w, w, 2, 3, 3, 3);
    }
    // The third pixel is in both vectors.
    wi_float4 a = __builtin_shufflevector(most, most, 0, 1, 2, 2), b = __builtin_shufflevector(most, most, 3, 4, 5, 5);
    wi_float4 c = __builtin_shufflevector(most, most, 6, 7, 7, 7), d = __builtin_shufflevector(rest, rest, 1, 2, 3, 3);
    c[2] = rest[0];
    return (a + b) + (c + d);
}

// Returns the weighted sum of pixels with three or four channels. The last lane is unspecified for three channels. `wide`
// selects vectors with 16 lanes for three channels.
WI_INLINE wi_float4 row_sum(const float *sums, const float *weights, size_t count, int channels, bool wide) {
    if (channels == 3 && !wide) return row_sum_rgb(sums, weights, count);
    wi_float16 even = {0}, odd = {0};
    for (size_t j = 0; j < count; j += 4) {
        wi_float16 p, spread;
        wi_float4 w;
        memcpy(&p, sums + j * (size_t)channels, sizeof p);
        memcpy(&w, weights + j, sizeof w);
        if (channels == 4)
            spread = __builtin_shufflevector(w, w, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
        else
            spread = __builtin_shufflevector(w, w, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3);
        if (j & 4) odd += p * spread;
        else even += p * spread;
    }
    even += odd;
    if (channels == 4) {
        wi_float4 a = __builtin_shufflevector(even, even, 0, 1, 2, 3);
        wi_float4 b = __builtin_shufflevector(even, even, 4, 5, 6, 7);
        wi_float4 c = __builtin_shufflevector(even, even, 8, 9, 10, 11);
        wi_float4 d = __builtin_shufflevector(even, even, 12, 13, 14, 15);
        return (a + b) + (c + d);
    }
    wi_float4 a = __builtin_shufflevector(even, even, 0, 1, 2, 2), b = __builtin_shufflevector(even, even, 3, 4, 5, 5);
    wi_float4 c = __builtin_shufflevector(even, even, 6, 7, 8, 8);
    wi_float4 d = __builtin_shufflevector(even, even, 9, 10, 11, 11);
    return (a + b) + (c + d);
}

// Clamps light to 0 to WI_LIGHT_MAXIMUM and rounds it. NaN becomes a valid position in a table, too.
WI_INLINE wi_int4 rounded(wi_float4 light) {
    const wi_float4 zero = {0};
#if __has_builtin(__builtin_elementwise_min)
    const wi_float4 inside = __builtin_elementwise_min(__builtin_elementwise_max(light, zero), zero + WI_LIGHT_MAXIMUM);
#else
    wi_float4 inside = zero;
    for (int i = 0; i < 4; i++) inside[i] = light[i] > 0 ? (light[i] < WI_LIGHT_MAXIMUM ? light[i] : WI_LIGHT_MAXIMUM) : 0;
#endif
    return __builtin_convertvector(inside + 0.5f, wi_int4);
}

// NaN becomes `low`, because the result is used as a position in a table.
WI_INLINE float limited(float v, float low, float high) { return v > low ? (v < high ? v : high) : low; }

WI_INLINE void wi_encode_light_rgb8_body(const float *sums, const wi_light_columns *columns, float scale,
                                         const wi_resample_tables *tables, uint8_t *out, bool wide) {
    const uint8_t *bytes = tables->bytes;
    const float *weights = columns->weights;
    const size_t count = columns->count;
    for (size_t x = 0; x < columns->width; x++, weights += count, out += 4) {
        wi_float4 v = row_sum(sums + (size_t)columns->first[x] * 3, weights, count, 3, wide) * scale;
        const wi_int4 place = rounded(v);
        for (int c = 0; c < 3; c++) out[c] = bytes[place[c]];
        out[3] = 255;
    }
}

WI_INLINE void wi_encode_light_rgba8_body(const float *sums, const wi_light_columns *columns, float scale,
                                          const wi_resample_tables *tables, uint8_t *out, bool wide) {
    const float *weights = columns->weights, *values = tables->values;
    const size_t count = columns->count;
    for (size_t x = 0; x < columns->width; x++, weights += count, out += 4) {
        wi_float4 v = row_sum(sums + (size_t)columns->first[x] * 4, weights, count, 4, wide) * scale;
        const float alpha = limited(v[3], 0, WI_LIGHT_MAXIMUM), coverage = alpha * (255.0f / WI_LIGHT_MAXIMUM);
        // At edges, the alpha exceeds its maximum by as much as the color does, so don't divide by the clamped alpha.
        const float over = v[3] > 0 ? WI_LIGHT_MAXIMUM / v[3] : 0;
        const wi_int4 place = rounded(v * over);
        for (int c = 0; c < 3; c++) out[c] = (uint8_t)(values[place[c]] * coverage + 0.5f);
        out[3] = (uint8_t)(coverage + 0.5f);
    }
}

WI_INLINE float encoded_word(const wi_resample_tables *tables, float light) {
    float root = limited(light, 0, 1);
    for (int i = 0; i < tables->roots; i++) root = sqrtf(root);
    return between(tables->words, root * WI_DEEP_LIGHT_STEPS);
}

#define WI_DEEP_ROWS(rgb, rgba, sample, maximum)                                                                      \
    WI_INLINE void rgb##_body(const float *sums, const wi_light_columns *columns, float scale,                        \
                              const wi_resample_tables *tables, sample *out, bool wide) {                             \
        const float *weights = columns->weights;                                                                      \
        const size_t count = columns->count;                                                                          \
        for (size_t x = 0; x < columns->width; x++, weights += count, out += 4) {                                     \
            wi_float4 v = row_sum(sums + (size_t)columns->first[x] * 3, weights, count, 3, wide) * scale;             \
            for (int c = 0; c < 3; c++)                                                                               \
                out[c] = (sample)(encoded_word(tables, v[c]) * (maximum / 65535.0f) + 0.5f);                          \
            out[3] = maximum;                                                                                         \
        }                                                                                                             \
    }                                                                                                                 \
    WI_INLINE void rgba##_body(const float *sums, const wi_light_columns *columns, float scale,                       \
                               const wi_resample_tables *tables, sample *out, bool wide) {                            \
        const float *weights = columns->weights;                                                                      \
        const size_t count = columns->count;                                                                          \
        for (size_t x = 0; x < columns->width; x++, weights += count, out += 4) {                                     \
            wi_float4 v = row_sum(sums + (size_t)columns->first[x] * 4, weights, count, 4, wide) * scale;             \
            const float alpha = limited(v[3], 0, 1), over = v[3] > 0 ? 1 / v[3] : 0;                                  \
            const float cover = alpha * (maximum / 65535.0f);                                                         \
            for (int c = 0; c < 3; c++) out[c] = (sample)(encoded_word(tables, v[c] * over) * cover + 0.5f);          \
            out[3] = (sample)(alpha * maximum + 0.5f);                                                                \
        }                                                                                                             \
    }
WI_DEEP_ROWS(wi_encode_deep_rgb8, wi_encode_deep_rgba8, uint8_t, 255)
WI_DEEP_ROWS(wi_encode_light_rgb16, wi_encode_light_rgba16, uint16_t, 65535)

#define WI_ENCODE(name)                                                                                               \
    WI_DISPATCH_CALLS(void, name,                                                                                     \
                      (const float *sums, const wi_light_columns *columns, float scale,                               \
                       const wi_resample_tables *tables, void *out),                                                  \
                      (sums, columns, scale, tables, out), name##_body(sums, columns, scale, tables, out, true),      \
                      name##_body(sums, columns, scale, tables, out, false))
WI_ENCODE(wi_encode_light_rgb8)
WI_ENCODE(wi_encode_light_rgba8)
WI_ENCODE(wi_encode_deep_rgb8)
WI_ENCODE(wi_encode_deep_rgba8)
WI_ENCODE(wi_encode_light_rgb16)
WI_ENCODE(wi_encode_light_rgba16)
