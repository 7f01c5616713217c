// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "CJXL.h"
#include "library.h"

WI_LIBRARY(libjxl, LIBJXL_FUNCTIONS, "JXL", WI_JXL_FILE)
WI_LIBRARY(libjxl_threads, LIBJXL_THREADS_FUNCTIONS, "JXL threads", WI_JXL_THREADS_FILE)

const char *wi_jxl_load(void) {
    return wi_library_load(&wi_libjxl_library) ? NULL : wi_libjxl_library.message;
}

int wi_jxl_load_threads(void) { return wi_library_load(&wi_libjxl_threads_library); }
#endif
