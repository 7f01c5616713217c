// SPDX-License-Identifier: MIT
// From samples of any RGB space to sRGB through linear light. Pixels are R, G, B, A, alpha not multiplied in.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Steps of a curve between samples 0 and 1: sixteen for each step of eight bits.
#define WI_CURVE_STEPS 4080
/// Steps of light between 0 and 1 in the table of sRGB bytes: at black a byte takes five of them.
#define WI_LIGHT_STEPS 16384
/// Steps in the square root of light, for sRGB words and tone curves.
#define WI_ROOT_STEPS 4096

typedef struct {
    /// Light of each of the 256 bytes, per channel.
    const float *bytes[3];
    /// Light at WI_CURVE_STEPS + 1 samples, per channel.
    const float *curves[3];
    /// Linear light of the source to that of sRGB, row by row.
    float matrix[9];
    /// Where not 0, light is multiplied by ootf_scale × luminance to the power of this (BT.2100 HLG).
    float ootf_power;
    float ootf_scale;
    float luminance[3];
    /// Factors at WI_ROOT_STEPS + 1 places of √(largest of the three ÷ peak); NULL where light is kept.
    const float *gains;
    float peak;
    /// sRGB bytes at WI_LIGHT_STEPS + 1 places of light.
    const uint8_t *encoded_bytes;
    /// sRGB words (0...65535) at WI_ROOT_STEPS + 2 places of the square root of light.
    const float *encoded_words;
} wi_light;

/// `src` may be `dst`.
void wi_light_rgba8(const uint8_t *src, uint8_t *dst, const wi_light *light, size_t count);
void wi_light_rgba16(const uint16_t *src, uint16_t *dst, const wi_light *light, size_t count);

/// colour = round(colour × alpha / 65535), in place.
void wi_premultiply_rgba16(uint16_t *pixels, size_t count);
/// colour = round(colour × 65535 / alpha), at most 65535; transparent pixels become transparent black. `src` may be
/// `dst`.
void wi_unpremultiply_rgba16(const uint16_t *src, uint16_t *dst, size_t count);
