// SPDX-License-Identifier: MIT
// The functions of libtiff that this module calls.
#pragma once
#include <CDynamicLibrary.h>
#include <tiffio.h>

#define LIBTIFF_FUNCTIONS(X)                                                                                           \
    X(TIFFClientOpenExt) X(TIFFClientdata) X(TIFFClose) X(TIFFComputeStrip) X(TIFFComputeTile)                         \
    X(TIFFDefaultStripSize) X(TIFFFlush) X(TIFFGetField) X(TIFFGetFieldDefaulted) X(TIFFGetStrileByteCount)            \
    X(TIFFGetStrileOffset) X(TIFFGetVersion) X(TIFFIsTiled) X(TIFFOpenOptionsAlloc) X(TIFFOpenOptionsFree)             \
    X(TIFFOpenOptionsSetErrorHandlerExtR) X(TIFFOpenOptionsSetMaxSingleMemAlloc)                                       \
    X(TIFFOpenOptionsSetWarningHandlerExtR) X(TIFFRGBAImageBegin) X(TIFFRGBAImageEnd) X(TIFFRGBAImageGet)              \
    X(TIFFRGBAImageOK) X(TIFFReadDirectory) X(TIFFReadEncodedStrip) X(TIFFReadEncodedTile)                             \
    X(TIFFReadFromUserBuffer) X(TIFFScanlineSize) X(TIFFSetDirectory) X(TIFFSetField) X(TIFFStripSize)                 \
    X(TIFFTileRowSize) X(TIFFTileSize) X(TIFFVStripSize) X(TIFFWriteScanline)

WI_LIBRARY_TABLE(libtiff, LIBTIFF_FUNCTIONS)
