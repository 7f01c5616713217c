// SPDX-License-Identifier: MIT
// Kernels that convert the samples of any RGB color space to sRGB through linear light. Pixels are R, G, B, A with
// straight alpha.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// The number of steps in a curve between the samples 0 and 1, which is sixteen for each 8-bit step.
#define WI_CURVE_STEPS 4080
/// The number of steps of linear light between 0 and 1 in the table of sRGB bytes. Near black, a byte covers five
/// steps.
#define WI_LIGHT_STEPS 16384
/// The number of steps in the square root of light, for 16-bit sRGB samples and tone curves.
#define WI_ROOT_STEPS 4096

typedef struct {
    /// The linear light of each of the 256 byte values, per channel.
    const float *bytes[3];
    /// The linear light at WI_CURVE_STEPS + 1 samples, per channel.
    const float *curves[3];
    /// The matrix from linear light of the source to linear light of sRGB, in row-major order.
    float matrix[9];
    /// If this value isn't 0, light is multiplied by ootf_scale × luminance to the power of this value (BT.2100 HLG).
    float ootf_power;
    float ootf_scale;
    /// The weights of the luminance in the primaries of the source.
    float luminance[3];
    /// The weights of the luminance in the primaries of the result.
    float output_luminance[3];
    /// The tone mapping factors at WI_ROOT_STEPS + 2 positions of √(largest channel of the result ÷ peak), or NULL if
    /// there's no tone mapping. Without it, channels outside of the range are clipped.
    const float *gains;
    float peak;
    /// The sRGB bytes at WI_LIGHT_STEPS + 1 positions of linear light.
    const uint8_t *encoded_bytes;
    /// The 16-bit sRGB samples (0 to 65535) at WI_ROOT_STEPS + 2 positions of the square root of light.
    const float *encoded_words;
} wi_light;

