// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "CTIFF.h"
#include "library.h"

WI_LIBRARY(libtiff, LIBTIFF_FUNCTIONS, "TIFF", "libtiff.so.6")

const char *wi_tiff_load(void) {
    return wi_library_load(&wi_libtiff_library) ? NULL : wi_libtiff_library.message;
}
#endif
