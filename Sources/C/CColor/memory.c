// SPDX-License-Identifier: MIT
#include "memory.h"
#include <lcms2_plugin.h>
#include <stdint.h>
#include <stdlib.h>

/// The maximum size of one allocation, in bytes. A profile can declare a table of any size before the missing data is
/// detected. The largest table that a profile of 4 MiB can fill uses 8 MiB.
static const cmsUInt32Number LARGEST = 16u << 20;

static void *take(cmsContext context, cmsUInt32Number size) {
    (void)context;
    return size > LARGEST ? NULL : malloc(size);
}

static void give(cmsContext context, void *block) {
    (void)context;
    free(block);
}

static void *resize(cmsContext context, void *block, cmsUInt32Number size) {
    (void)context;
    return size > LARGEST ? NULL : realloc(block, size);
}

static void *take_zeroed(cmsContext context, cmsUInt32Number size) {
    (void)context;
    return size > LARGEST ? NULL : calloc(1, size);
}

static void *take_several(cmsContext context, cmsUInt32Number count, cmsUInt32Number size) {
    (void)context;
    return (uint64_t)count * size > LARGEST ? NULL : calloc(count, size);
}

cmsContext wi_color_context(void) {
    cmsPluginMemHandler handler = {
        .base = {cmsPluginMagicNumber, 2060, cmsPluginMemHandlerSig, NULL},
        .MallocPtr = take,
        .FreePtr = give,
        .ReallocPtr = resize,
        .MallocZeroPtr = take_zeroed,
        .CallocPtr = take_several,
    };
    return cmsCreateContext(&handler, NULL);
}
