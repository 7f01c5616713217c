// SPDX-License-Identifier: MIT
// Macros for headers that are included once per sample type. SAMPLE is the type, MAXIMUM is its largest value, and
// DEPTH is the suffix of the function names.
#pragma once
#include "Dispatch.h"

#define WI_PASTE_(name, depth, suffix) name##_##depth##suffix
#define WI_PASTE(name, depth, suffix) WI_PASTE_(name, depth, suffix)
#define NAME(name) WI_PASTE(name, DEPTH, )
#define BODY(name) WI_PASTE(name, DEPTH, _body)
// This macro expands its arguments before WI_DISPATCH pastes them.
#define WI_DISPATCH_NAMED(...) WI_DISPATCH(__VA_ARGS__)

typedef float wi_float4 __attribute__((vector_size(16)));
typedef float wi_float16 __attribute__((vector_size(64)));

WI_INLINE float wi_clamp(float v, float low, float high) { return v < low ? low : v > high ? high : v; }
