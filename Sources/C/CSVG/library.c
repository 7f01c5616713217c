// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "CSVG.h"
#include "library.h"

WI_LIBRARY(librsvg, LIBRSVG_FUNCTIONS, "SVG", "librsvg-2.so.2")

const char *wi_svg_load(void) {
    return wi_library_load(&wi_librsvg_library) ? NULL : wi_librsvg_library.message;
}
#endif
