// SPDX-License-Identifier: MIT
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void wi_premultiply_rgba8(uint8_t *pixels, size_t count);
void wi_unpremultiply_rgba8(const uint8_t *src, uint8_t *dst, size_t count);
bool wi_is_opaque_rgba8(const uint8_t *pixels, size_t count);
int wi_resample_simple(const uint8_t *source, size_t sw, size_t sh, size_t sstride, double x, double y, double w,
                       double h, uint8_t *out, size_t ow, size_t oh, size_t ostride, int box);
