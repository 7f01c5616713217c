// SPDX-License-Identifier: MIT
#pragma once
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include "CJPEG.h"
#include <jpeglib.h>
#include <jerror.h>

/// The maximum number of warnings. A corrupt file can cause one per block. As in libvips, images with more warnings
/// are rejected.
#define WI_JPEG_MAX_WARNINGS 100

/// The error state. libjpeg's error manager is the first member, so a pointer to it is also a pointer to this
/// structure.
typedef struct {
    struct jpeg_error_mgr base;
    jmp_buf escape;
    wi_jpeg_status status;
    int input_ended;
    int missed_data;
    char message[JMSG_LENGTH_MAX];
} wi_jpeg_errors;

void wi_jpeg_errors_install(wi_jpeg_errors *errors, j_common_ptr info);
/// Jumps to `escape` with a custom message.
_Noreturn void wi_jpeg_fail(j_common_ptr info, wi_jpeg_status status, const char *message);
