// SPDX-License-Identifier: MIT
// For headers that are included once per sample type: SAMPLE is the type, MAXIMUM its largest value, DEPTH what the
// functions' names end in.
#pragma once
#include "Dispatch.h"

#define WI_PASTE_(name, depth, suffix) name##_##depth##suffix
#define WI_PASTE(name, depth, suffix) WI_PASTE_(name, depth, suffix)
#define NAME(name) WI_PASTE(name, DEPTH, )
#define BODY(name) WI_PASTE(name, DEPTH, _body)
// Expands its arguments before WI_DISPATCH pastes them.
#define WI_DISPATCH_NAMED(...) WI_DISPATCH(__VA_ARGS__)

typedef float wi_float4 __attribute__((vector_size(16)));
typedef float wi_float16 __attribute__((vector_size(64)));

WI_INLINE float wi_clamp(float v, float low, float high) { return v < low ? low : v > high ? high : v; }
