// SPDX-License-Identifier: MIT
#include "shim.h"

static wi_jpeg_status status_of(int code) {
    switch (code) {
    case JERR_OUT_OF_MEMORY:
    case JERR_NO_BACKING_STORE:
    case JERR_IMAGE_TOO_BIG:
        return WI_JPEG_MEMORY;
    case JERR_BAD_PRECISION:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_ARITH_NOTIMPL:
    case JERR_SOF_UNSUPPORTED:
    case JERR_CCIR601_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOTIMPL:
        return WI_JPEG_UNSUPPORTED;
    default:
        return WI_JPEG_CORRUPT;
    }
}

static _Noreturn void error_exit(j_common_ptr info) {
    wi_jpeg_errors *errors = (wi_jpeg_errors *)info->err;
    errors->status = status_of(errors->base.msg_code);
    errors->base.format_message(info, errors->message);
    longjmp(errors->escape, 1);
}

_Noreturn void wi_jpeg_fail(j_common_ptr info, wi_jpeg_status status, const char *message) {
    wi_jpeg_errors *errors = (wi_jpeg_errors *)info->err;
    errors->status = status;
    snprintf(errors->message, sizeof errors->message, "%s", message);
    longjmp(errors->escape, 1);
}

static void emit_message(j_common_ptr info, int level) {
    wi_jpeg_errors *errors = (wi_jpeg_errors *)info->err;
    if (level >= 0) return;
    // Warnings after the end of the input are a consequence of the truncation, and they don't concern the data before
    // it.
    if (errors->input_ended) {
        if (errors->base.msg_code == JWRN_HIT_MARKER) errors->missed_data = 1;
        return;
    }
    if (++errors->base.num_warnings > WI_JPEG_MAX_WARNINGS) error_exit(info);
}

static void output_message(j_common_ptr info) { (void)info; }

void wi_jpeg_errors_install(wi_jpeg_errors *errors, j_common_ptr info) {
    info->err = jpeg_std_error(&errors->base);
    errors->base.error_exit = error_exit;
    errors->base.emit_message = emit_message;
    errors->base.output_message = output_message;
    errors->status = WI_JPEG_CORRUPT;
}
