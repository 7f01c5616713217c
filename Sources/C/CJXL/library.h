// SPDX-License-Identifier: MIT
// The functions of libjxl that this module calls.
#pragma once
#include <CDynamicLibrary.h>
#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/memory_manager.h>
#include <jxl/thread_parallel_runner.h>

#define WI_JXL_TEXT(number) #number
#define WI_JXL_NAME(stem, major, minor) stem ".so." WI_JXL_TEXT(major) "." WI_JXL_TEXT(minor)
// Each minor version before 1.0 has a file of its own.
#define WI_JXL_FILE WI_JXL_NAME("libjxl", JPEGXL_MAJOR_VERSION, JPEGXL_MINOR_VERSION)
#define WI_JXL_THREADS_FILE WI_JXL_NAME("libjxl_threads", JPEGXL_MAJOR_VERSION, JPEGXL_MINOR_VERSION)

#define LIBJXL_FUNCTIONS(X)                                                                                            \
    X(JxlDecoderCloseInput) X(JxlDecoderCreate) X(JxlDecoderDestroy) X(JxlDecoderFlushImage)                           \
    X(JxlDecoderGetBasicInfo) X(JxlDecoderGetColorAsEncodedProfile) X(JxlDecoderGetColorAsICCProfile)                  \
    X(JxlDecoderGetFrameHeader) X(JxlDecoderGetICCProfileSize) X(JxlDecoderGetIntendedDownsamplingRatio)               \
    X(JxlDecoderImageOutBufferSize) X(JxlDecoderProcessInput) X(JxlDecoderReleaseInput) X(JxlDecoderReset)             \
    X(JxlDecoderSetCoalescing) X(JxlDecoderSetImageOutBuffer) X(JxlDecoderSetInput) X(JxlDecoderSetKeepOrientation)    \
    X(JxlDecoderSetParallelRunner) X(JxlDecoderSetPreferredColorProfile) X(JxlDecoderSetProgressiveDetail) X(JxlDecoderSkipFrames)                    \
    X(JxlDecoderSubscribeEvents) X(JxlDecoderVersion) X(JxlEncoderAddBox) X(JxlEncoderAddImageFrame)                   \
    X(JxlEncoderAddJPEGFrame) X(JxlEncoderCloseBoxes) X(JxlEncoderCloseInput) X(JxlEncoderCreate)                      \
    X(JxlEncoderDestroy) X(JxlEncoderFrameSettingsCreate) X(JxlEncoderFrameSettingsSetOption)                          \
    X(JxlEncoderInitBasicInfo) X(JxlEncoderInitFrameHeader) X(JxlEncoderProcessOutput) X(JxlEncoderSetBasicInfo)       \
    X(JxlEncoderSetColorEncoding) X(JxlEncoderSetExtraChannelBlendInfo) X(JxlEncoderSetFrameDistance)                  \
    X(JxlEncoderSetFrameHeader) X(JxlEncoderSetFrameLossless) X(JxlEncoderSetICCProfile)                               \
    X(JxlEncoderStoreJPEGMetadata) X(JxlEncoderUseBoxes) X(JxlEncoderUseContainer)

WI_LIBRARY_TABLE(libjxl, LIBJXL_FUNCTIONS)

#define LIBJXL_THREADS_FUNCTIONS(X)                                                                                    \
    X(JxlThreadParallelRunner) X(JxlThreadParallelRunnerCreate) X(JxlThreadParallelRunnerDestroy)

WI_LIBRARY_TABLE(libjxl_threads, LIBJXL_THREADS_FUNCTIONS)
