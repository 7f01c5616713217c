// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "CPDF.h"
#include "library.h"

WI_LIBRARY(libpoppler, LIBPOPPLER_FUNCTIONS, "PDF", "libpoppler-glib.so.8")

const char *wi_pdf_load(void) {
    return wi_library_load(&wi_libpoppler_library) ? NULL : wi_libpoppler_library.message;
}
#endif
