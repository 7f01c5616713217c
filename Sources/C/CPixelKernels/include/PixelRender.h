// SPDX-License-Identifier: MIT
// Kernels that render pixels for displays with more headroom than standard dynamic range. Pixels are premultiplied
// R, G, B, A.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// The number of steps in a table of gains between the samples 0 and 1 of a gain map.
#define WI_GAIN_STEPS 2048
/// The number of steps in the table of PQ samples, which are evenly spaced in the fourth root of light.
#define WI_PQ_STEPS 16384

typedef struct {
    /// The linear light at WI_CURVE_STEPS + 1 samples, per channel.
    const float *curves[3];
    /// The values of wi_light for PQ and HLG.
    float ootf_power;
    float ootf_scale;
    float luminance[3];
    float output_luminance[3];
    /// The tone mapping factors of wi_light, or NULL.
    const float *tones;
    float peak;
    /// Whether light outside of the primaries of the result keeps its hue instead of being clipped.
    int keeps_hue;
    /// The matrix from linear light of the source to the primaries to which the gain applies.
    float to_gain[9];
    /// The gains at WI_GAIN_STEPS + 2 samples, per channel, or NULL if there's no gain map.
    const float *gains[3];
    float base_offset[3];
    float alternate_offset[3];
    /// The matrix from the primaries to which the gain applies to those of the result.
    float to_output[9];
    /// The largest sample of the result in linear light.
    float limit;
    /// The PQ samples (0 to 65535) at WI_PQ_STEPS + 2 positions of the fourth root of light, or NULL for linear
    /// floating-point samples.
    const float *pq;
    /// The factor from linear light to the range 0 to 1 of the table.
    float pq_scale;
} wi_render;

