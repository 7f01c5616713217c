// SPDX-License-Identifier: MIT
// Compiles one inline body three times and picks at run time. Not target_clones: its ifunc resolvers run before
// the sanitizers are ready, and static musl has no ifunc at all.
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
