// SPDX-License-Identifier: MIT
// Compiles each inline body for three instruction sets and selects one at run time. The attribute target_clones isn't
// suitable, because its ifunc resolvers run before the sanitizers are ready, and static musl has no ifunc.
#pragma once
#include "CPixelKernels.h"

// Computes a square root. In contrast to sqrtf, Clang's builtin never sets errno, so loops with it become vector
// instructions.
#if __has_builtin(__builtin_elementwise_sqrt)
#define WI_SQRT(v) __builtin_elementwise_sqrt(v)
#else
#define WI_SQRT(v) __builtin_sqrtf(v)
#endif

#define WI_INLINE static inline __attribute__((always_inline))

// The highest instruction set that the kernels select: 0 for plain C, 1 for the vector instructions that every processor
// of the architecture has, 2 for AVX2, and 3 for AVX-512. Tests compile the kernels with lower values.
#ifndef WI_LEVEL
#define WI_LEVEL 3
#endif
#define WI_HAS(level, feature) (WI_LEVEL >= (level) && __builtin_cpu_supports(feature))

// Defines a function that calls `wide` on processors with AVX-512 and `narrow` on others.
#if defined(__x86_64__) && WI_LEVEL >= 2
#define WI_DISPATCH_CALLS(result, name, parameters, arguments, wide, narrow)                                          \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma"))) static result name##_avx512 parameters {        \
        return wide;                                                                                                  \
    }                                                                                                                 \
    __attribute__((target("avx2,fma"))) static result name##_avx2 parameters { return narrow; }                       \
    result name parameters {                                                                                          \
        if (WI_HAS(3, "avx512bw") && WI_HAS(3, "avx512vl") && WI_HAS(3, "avx512dq"))                                  \
            return name##_avx512 arguments;                                                                           \
        if (WI_HAS(2, "avx2") && WI_HAS(2, "fma")) return name##_avx2 arguments;                                      \
        return narrow;                                                                                                \
    }
#else
#define WI_DISPATCH_CALLS(result, name, parameters, arguments, wide, narrow)                                          \
    result name parameters { return narrow; }
#endif

// Defines a function that calls the function of the same name with the suffix "_body".
#define WI_DISPATCH(result, name, parameters, arguments)                                                              \
    WI_DISPATCH_CALLS(result, name, parameters, arguments, name##_body arguments, name##_body arguments)
