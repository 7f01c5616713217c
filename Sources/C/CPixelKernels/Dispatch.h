// SPDX-License-Identifier: MIT
// Compiles each inline body for three instruction sets and selects one at run time. The attribute target_clones isn't
// suitable, because its ifunc resolvers run before the sanitizers are ready, and static musl has no ifunc.
#pragma once
#include "CPixelKernels.h"

#define WI_INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)
#define WI_DISPATCH(result, name, parameters, arguments)                                                              \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma"))) static result name##_avx512 parameters {        \
        return name##_body arguments;                                                                                 \
    }                                                                                                                 \
    __attribute__((target("avx2,fma"))) static result name##_avx2 parameters { return name##_body arguments; }        \
    result name parameters {                                                                                          \
        if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&                               \
            __builtin_cpu_supports("avx512dq"))                                                                       \
            return name##_avx512 arguments;                                                                           \
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return name##_avx2 arguments;            \
        return name##_body arguments;                                                                                 \
    }
#else
#define WI_DISPATCH(result, name, parameters, arguments)                                                              \
    result name parameters { return name##_body arguments; }
#endif
