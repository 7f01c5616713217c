// SPDX-License-Identifier: MIT
// The kernels that exist for each pixel format. As in CPixelKernels.h, these functions don't allocate memory, check
// bounds, or keep state. Pixels are premultiplied R, G, B, A in the format of the function unless its comment says
// otherwise.
#pragma once
#include "PixelEffects.h"
#include "PixelLight.h"
#include "PixelRender.h"
#include "PixelResample.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The source pixels for one output pixel: `count` pixels from `first` on, with the weights from `weight` on.
typedef struct {
    uint32_t first;
    uint32_t count;
    uint32_t weight;
} wi_tap;

/// Calls KERNEL(result, name, parameters) for each kernel. The function for a format is wi_NAME_FORMAT.
#define WI_FORMAT_KERNELS(KERNEL)                                                                                     \
    /* Computes sums[i] = Σ weights[j] × row j, sample i. `stride` is the distance between rows in bytes. */          \
    KERNEL(void, vertical, (float *sums, const void *rows, size_t stride, const float *weights, size_t count,         \
                            size_t samples))                                                                          \
    /* Adds the same sums to the contents of `sums`. */                                                               \
    KERNEL(void, vertical_add, (float *sums, const void *rows, size_t stride, const float *weights,                   \
                                size_t count, size_t samples))                                                        \
    /* Computes one output row of `width` pixels from a row of sums. The results are rounded, and colors are          \
       clamped to 0...alpha. */                                                                                       \
    KERNEL(void, horizontal, (const float *sums, const wi_tap *taps, const float *weights, size_t width, void *out))  \
    /* Converts a row of pixels to light. */                                                                          \
    KERNEL(void, light_row, (const void *pixels, float *light, const wi_resample_tables *tables, size_t width))       \
    /* Computes color = round(color × alpha / maximum) in place. */                                                   \
    KERNEL(void, premultiply, (void *pixels, size_t count))                                                           \
    /* Computes color = round(color × maximum / alpha), at most the maximum. Transparent pixels become                \
       transparent black. `src` and `dst` may be the same buffer. */                                                  \
    KERNEL(void, unpremultiply, (const void *src, void *dst, size_t count))                                           \
    /* Limits the colors of premultiplied pixels to their alpha, which lossy files can exceed. */                     \
    KERNEL(void, limit, (void *pixels, size_t count))                                                                 \
    /* Returns whether every alpha is at its maximum. */                                                              \
    KERNEL(bool, is_opaque, (const void *pixels, size_t count))                                                       \
    /* Clips a row to a shape and draws its border. `outer` and `inner` contain the coverage of each pixel (0         \
       to 1) by the areas inside the outer and the inner edge of the border. `border` is premultiplied, in the        \
       range of the samples. */                                                                                       \
    KERNEL(void, cut, (const void *src, void *dst, const float *outer, const float *inner,                            \
                       const float *border, size_t count))                                                            \
    /* Blurs up to eight lines with three passes of `box`. Edges are clamped. `step` is the distance between          \
       the pixels of a line, and `lane` is the distance between lines, in bytes. `scratch` has space for 64 ×         \
       count floats. `src` and `dst` may be the same buffer if the steps are equal. */                                \
    KERNEL(void, blur_lines, (const void *src, void *dst, ptrdiff_t src_step, ptrdiff_t src_lane,                     \
                              ptrdiff_t dst_step, ptrdiff_t dst_lane, size_t count, size_t lanes, wi_box box,         \
                              float *scratch))                                                                        \
    /* Blends a row of the front over a row of the back. The alpha of the front is multiplied by the opacity          \
       and the coverage (0 to 1 per pixel). `dst` and `back` may be the same buffer. */                               \
    KERNEL(void, blend, (const void *back, const void *front, void *dst, const float *coverage, float opacity,        \
                         wi_blend_mode mode, wi_blend_place place, size_t count))                                     \
    /* Applies a color matrix (4 × 5). Its rows compute red, green, blue, and alpha from straight red, green,         \
       blue, alpha, and the constant 1. All values are between 0 and 1. */                                            \
    KERNEL(void, color_matrix, (const void *src, void *dst, const float *matrix, size_t count))                       \
    /* Mixes `share` (0 to 1 per pixel) of `to` with the rest of `from`. */                                           \
    KERNEL(void, mix, (const void *from, const void *to, void *dst, const float *share, size_t count))                \
    /* Computes straight color + amount × (color − blurred color) if the difference reaches `threshold`. Alpha        \
       stays unchanged. */                                                                                            \
    KERNEL(void, unsharp, (const void *src, const void *blurred, void *dst, float amount, float threshold,            \
                           size_t count))                                                                             \
    /* Computes the luminance (Rec. 709 weights) of each pixel, from 0 to 1. */                                       \
    KERNEL(void, luminance, (const void *src, float *dst, size_t count))                                              \
    /* Computes the alpha of each pixel, from 0 to 1. */                                                              \
    KERNEL(void, alpha, (const void *src, float *dst, size_t count))                                                  \
    /* Adds each channel of a row to its sum. */                                                                      \
    KERNEL(void, sum, (const void *src, uint64_t *sums, size_t count))                                                \
    /* Computes one row of a rotated image. out[i] is the source at x + i × dx, y + i × dy, over `background`,        \
       which is a premultiplied pixel. Pixel centers are at halves. The interpolation uses light, or the              \
       samples if `tables` is NULL. */                                                                                \
    KERNEL(void, rotate_row, (const void *src, size_t stride, size_t width, size_t height, double x, double y,        \
                              double dx, double dy, const void *background, const wi_resample_tables *tables,         \
                              void *out, size_t count))                                                               \
    /* Converts pixels with straight alpha to sRGB. `src` and `dst` may be the same buffer. */                        \
    KERNEL(void, light, (const void *src, void *dst, const wi_light *light, size_t count))                            \
    /* Computes `count` × 3 samples between 0 and 1 of a row of a gain map by bilinear interpolation of two           \
       rows with `map_width` pixels. `fraction` is the weight of `bottom`, `first` is the position of the             \
       first pixel in the map, which may be negative, and `step` is the distance between two pixels in the            \
       map. */                                                                                                        \
    KERNEL(void, map_row, (const void *top, const void *bottom, float fraction, double first, double step,            \
                           size_t map_width, float *out, size_t count))                                               \
    /* Renders a row for a display with more headroom. `map` has 3 samples per pixel, and is NULL if there's          \
       no gain map. */                                                                                                \
    KERNEL(void, render, (const void *src, const float *map, uint16_t *dst, const wi_render *render, size_t count))

#define WI_KERNEL_MEMBER(result, name, parameters) result (*name) parameters;
#define WI_KERNEL_RGBA8(result, name, parameters) result wi_##name##_rgba8 parameters;
#define WI_KERNEL_RGBA16(result, name, parameters) result wi_##name##_rgba16 parameters;

WI_FORMAT_KERNELS(WI_KERNEL_RGBA8)
WI_FORMAT_KERNELS(WI_KERNEL_RGBA16)

/// The kernels of one format.
typedef struct {
    WI_FORMAT_KERNELS(WI_KERNEL_MEMBER)
    /// The variant of `light_row` for opaque pixels, which omits alpha.
    void (*light_row_opaque)(const void *pixels, float *light, const wi_resample_tables *tables, size_t width);
    /// Computes one output row from sums of light as floats, with and without alpha. See PixelResample.h.
    void (*encode_row)(const float *sums, const wi_light_columns *columns, float scale,
                       const wi_resample_tables *tables, void *out);
    void (*encode_row_opaque)(const float *sums, const wi_light_columns *columns, float scale,
                              const wi_resample_tables *tables, void *out);
} wi_pixel_kernels;

extern const wi_pixel_kernels wi_kernels_rgba8, wi_kernels_rgba16;
