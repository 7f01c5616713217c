// SPDX-License-Identifier: MIT
// The steps that map the light of PQ and HLG to a smaller range, for standard dynamic range and for other displays.
#pragma once
#include "Depths.h"
#include "PixelLight.h"
#include <math.h>

/// Applies the system gamma of HLG (BT.2100, table 5) to light in the primaries of the source.
WI_INLINE void wi_system_gamma(float *c, const float *luminance, float scale, float power) {
    float y = luminance[0] * c[0] + luminance[1] * c[1] + luminance[2] * c[2];
    float factor = y > 0 ? scale * powf(y, power) : 0;
    for (int k = 0; k < 3; k++) c[k] *= factor;
}

/// Returns the largest channel.
WI_INLINE float wi_largest(const float *c) {
    float largest = c[0] > c[1] ? c[0] : c[1];
    return largest > c[2] ? largest : c[2];
}

/// Multiplies light in the primaries of the result by the factor for its largest channel. NaN becomes the factor of black.
WI_INLINE void wi_tone(float *c, const float *factors, float peak) {
    float largest = wi_largest(c);
    float share = largest / peak;
    share = share > 0 ? (share < 1 ? share : 1) : 0;
    float place = wi_clamp(sqrtf(share) * WI_ROOT_STEPS, 0, WI_ROOT_STEPS - 0.001f);
    int32_t index = (int32_t)place;
    float factor = factors[index] + (factors[index + 1] - factors[index]) * (place - (float)index);
    // Above the peak, the factor continues to fall, so that the largest channel stays at white.
    if (largest > peak) factor *= peak / largest;
    for (int k = 0; k < 3; k++) c[k] *= factor;
}

/// Reduces light whose largest channel exceeds a limit to that limit. Clipping the channels would change the hue.
WI_INLINE void wi_limit(float *c, float limit) {
    float largest = wi_largest(c);
    if (!(largest > limit)) return;
    float factor = limit / largest;
    for (int k = 0; k < 3; k++) c[k] *= factor;
}

/// Mixes light with the gray of the same luminance until no channel is negative. Clipping the channels would change the
/// hue.
WI_INLINE void wi_into_gamut(float *c, const float *luminance) {
    float smallest = c[0] < c[1] ? c[0] : c[1];
    smallest = smallest < c[2] ? smallest : c[2];
    float y = luminance[0] * c[0] + luminance[1] * c[1] + luminance[2] * c[2];
    if (!(smallest < 0) || !(y > 0)) return;
    float share = y / (y - smallest);
    for (int k = 0; k < 3; k++) c[k] = y + (c[k] - y) * share;
}
