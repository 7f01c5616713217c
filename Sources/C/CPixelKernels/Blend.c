// SPDX-License-Identifier: MIT
// Blending kernels (W3C Compositing and Blending Level 1, section 5.1 for the general formula, 9.1 for the operators,
// and 10.1 for the separable modes).
#include "Depths.h"
#include <math.h>

WI_INLINE float wi_hard_light(float back, float front) {
    float twice = 2 * front;
    return front <= 0.5f ? back * twice : back + (twice - 1) - back * (twice - 1);
}

WI_INLINE float wi_soft_light(float back, float front) {
    float dark = back - (1 - 2 * front) * back * (1 - back);
    float curve = back <= 0.25f ? ((16 * back - 12) * back + 4) * back : sqrtf(back);
    return front <= 0.5f ? dark : back + (2 * front - 1) * (curve - back);
}

// Blends two straight colors and returns a straight color. All values are between 0 and 1.
WI_INLINE float wi_blended(wi_blend_mode mode, float back, float front) {
    switch (mode) {
    case wi_blend_multiply: return back * front;
    case wi_blend_screen: return back + front - back * front;
    case wi_blend_overlay: return wi_hard_light(front, back);
    case wi_blend_darken: return back < front ? back : front;
    case wi_blend_lighten: return back > front ? back : front;
    case wi_blend_color_dodge: return back <= 0 ? 0 : back >= 1 - front ? 1 : back / (1 - front);
    case wi_blend_color_burn: return back >= 1 ? 1 : 1 - back >= front ? 0 : 1 - (1 - back) / front;
    case wi_blend_hard_light: return wi_hard_light(back, front);
    case wi_blend_soft_light: return wi_soft_light(back, front);
    case wi_blend_difference: return back > front ? back - front : front - back;
    case wi_blend_exclusion: return back + front - 2 * back * front;
    default: return front;
    }
}

#define KERNELS "BlendKernels.h"
#include "EachDepth.h"
