// SPDX-License-Identifier: MIT
// The benchmark creates all images itself, so the default error handler of libjpeg, which ends the process, is
// sufficient.
#include "CLimits.h"
#include <png.h>
#include <stdio.h>
#include <jpeglib.h>
#include <string.h>
#include <webp/decode.h>

int wi_limit_jpeg(
    const uint8_t *bytes, size_t count, int eighths, uint8_t *output, size_t capacity, wi_limit_size *size) {
    struct jpeg_decompress_struct job;
    struct jpeg_error_mgr errors;
    job.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&job);
    jpeg_mem_src(&job, bytes, count);
    jpeg_read_header(&job, TRUE);
    job.scale_num = (unsigned)eighths;
    job.scale_denom = 8;
    job.out_color_space = JCS_EXT_RGBA;
    jpeg_start_decompress(&job);
    size_t stride = (size_t)job.output_width * 4;
    size->width = (int)job.output_width;
    size->height = (int)job.output_height;
    int fits = stride * job.output_height <= capacity;
    while (fits && job.output_scanline < job.output_height) {
        JSAMPROW row = output + stride * job.output_scanline;
        jpeg_read_scanlines(&job, &row, 1);
    }
    jpeg_abort_decompress(&job);
    jpeg_destroy_decompress(&job);
    return fits ? 0 : -1;
}

int wi_limit_png(const uint8_t *bytes, size_t count, uint8_t *output, size_t capacity, wi_limit_size *size) {
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&image, bytes, count)) return -1;
    image.format = PNG_FORMAT_RGBA;
    size->width = (int)image.width;
    size->height = (int)image.height;
    if (PNG_IMAGE_SIZE(image) > capacity || !png_image_finish_read(&image, NULL, output, 0, NULL)) {
        png_image_free(&image);
        return -1;
    }
    return 0;
}

int wi_limit_webp(
    const uint8_t *bytes, size_t count, int side, uint8_t *output, size_t capacity, wi_limit_size *size) {
    WebPDecoderConfig job;
    if (!WebPInitDecoderConfig(&job) || WebPGetFeatures(bytes, count, &job.input) != VP8_STATUS_OK) return -1;
    size->width = job.input.width;
    size->height = job.input.height;
    if (side > 0) {
        double longer = size->width > size->height ? size->width : size->height;
        size->width = (int)(size->width * side / longer + 0.5);
        size->height = (int)(size->height * side / longer + 0.5);
        job.options.use_scaling = 1;
        job.options.scaled_width = size->width;
        job.options.scaled_height = size->height;
    }
    job.output.colorspace = MODE_rgbA;
    job.output.is_external_memory = 1;
    job.output.u.RGBA.rgba = output;
    job.output.u.RGBA.stride = size->width * 4;
    job.output.u.RGBA.size = capacity;
    VP8StatusCode code = WebPDecode(bytes, count, &job);
    WebPFreeDecBuffer(&job.output);
    return code == VP8_STATUS_OK ? 0 : -1;
}
