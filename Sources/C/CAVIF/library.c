// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "CAVIF.h"
#include "library.h"

WI_LIBRARY(libavif, LIBAVIF_FUNCTIONS, "AVIF", WI_AVIF_FILE)

const char *wi_avif_load(void) {
    return wi_library_load(&wi_libavif_library) ? NULL : wi_libavif_library.message;
}
#endif
