// SPDX-License-Identifier: MIT
// Counts the lossy encodes of a program, for looks.py. It's a library for LD_PRELOAD, whose functions have the names of
// those that encode an image in libjpeg-turbo, libwebp, libavif, and libjxl. When the program ends, the library writes
// the number to the file that the environment variable LOOKS_COUNT names.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int count;

// Each function has up to six arguments in registers, which are passed unchanged.
#define COUNTED(name)                                                                                                   \
    long name(long a, long b, long c, long d, long e, long f) {                                                         \
        static long (*next)(long, long, long, long, long, long);                                                        \
        if (!next) next = (long (*)(long, long, long, long, long, long))dlsym(RTLD_NEXT, #name);                        \
        atomic_fetch_add(&count, 1);                                                                                    \
        return next(a, b, c, d, e, f);                                                                                  \
    }

COUNTED(jpeg_start_compress)
COUNTED(WebPEncode)
COUNTED(avifEncoderWrite)
COUNTED(JxlEncoderAddImageFrame)

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("LOOKS_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%d\n", atomic_load(&count));
    fclose(file);
}
