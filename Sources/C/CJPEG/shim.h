// SPDX-License-Identifier: MIT
#pragma once
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include "CJPEG.h"
#include <jpeglib.h>
#include <jerror.h>

/// Corrupt files may warn once per block; past this many there is nothing worth showing (as libvips).
#define WI_JPEG_MAX_WARNINGS 100

/// libjpeg's error manager first, so that its pointer is also ours.
typedef struct {
    struct jpeg_error_mgr base;
    jmp_buf escape;
    wi_jpeg_status status;
    int input_ended;
    int missed_data;
    char message[JMSG_LENGTH_MAX];
} wi_jpeg_errors;

void wi_jpeg_errors_install(wi_jpeg_errors *errors, j_common_ptr info);
/// Leaves through `escape` with words of our own.
_Noreturn void wi_jpeg_fail(j_common_ptr info, wi_jpeg_status status, const char *message);
