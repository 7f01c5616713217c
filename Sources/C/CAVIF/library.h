// SPDX-License-Identifier: MIT
// The functions of libavif that this module calls.
#pragma once
#include <CDynamicLibrary.h>
#include <avif/avif.h>

// Version 1.0 changed the interface and with it the name of the file.
#if AVIF_VERSION_MAJOR >= 1
#define WI_AVIF_FILE "libavif.so.16"
#else
#define WI_AVIF_FILE "libavif.so.15"
#endif

#define LIBAVIF_FUNCTIONS(X)                                                                                           \
    X(avifCodecVersions) X(avifDecoderCreate) X(avifDecoderDecodedRowCount) X(avifDecoderDestroy)                      \
    X(avifDecoderNextImage) X(avifDecoderNthImage) X(avifDecoderParse) X(avifDecoderSetIO) X(avifDecoderSetIOMemory)   \
    X(avifEncoderAddImage) X(avifEncoderCreate) X(avifEncoderDestroy) X(avifEncoderFinish) X(avifEncoderWrite)         \
    X(avifImageCreate) X(avifImageCreateEmpty) X(avifImageDestroy) X(avifImageRGBToYUV) X(avifImageSetMetadataExif)    \
    X(avifImageSetMetadataXMP) X(avifImageSetProfileICC) X(avifImageSetViewRect) X(avifImageYUVToRGB)                  \
    X(avifRGBImageSetDefaults) X(avifRWDataFree) X(avifResultToString) X(avifVersion)

WI_LIBRARY_TABLE(libavif, LIBAVIF_FUNCTIONS)
