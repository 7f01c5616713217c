// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "CHEIF.h"
#include "library.h"

WI_LIBRARY(libheif, LIBHEIF_FUNCTIONS, "HEIF", "libheif.so.1")

const char *wi_heif_load(void) {
    return wi_library_load(&wi_libheif_library) ? NULL : wi_libheif_library.message;
}
#endif
