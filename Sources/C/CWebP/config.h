// SPDX-License-Identifier: MIT
#pragma once
#include <webp/encode.h>

/// `effort` 0 to 9, -1 for the library's default; 0 where a number is out of range.
int wi_webp_configure(WebPConfig *config, int is_lossless, float quality, int effort);
