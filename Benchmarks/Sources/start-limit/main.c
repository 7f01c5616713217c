// SPDX-License-Identifier: MIT
// The limit of the suite `start`: a process that reads a JPEG file and decodes it, without a cache.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <jpeglib.h>

static double now(clockid_t clock) {
    struct timespec time;
    return clock_gettime(clock, &time) == 0 ? (double)time.tv_sec + (double)time.tv_nsec / 1e9 : 0;
}

static double resident(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1) exit(1);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

int main(int count, char **arguments) {
    double before = resident();
    int descriptor = count == 3 ? open(arguments[1], O_RDONLY | O_CLOEXEC) : -1;
    struct stat facts;
    if (descriptor < 0 || fstat(descriptor, &facts) != 0) return 1;
    unsigned char *bytes = malloc((size_t)facts.st_size);
    if (!bytes || read(descriptor, bytes, (size_t)facts.st_size) != facts.st_size) return 1;
    struct jpeg_error_mgr errors;
    struct jpeg_decompress_struct jpeg = {.err = jpeg_std_error(&errors)};
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, bytes, (unsigned long)facts.st_size);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = JCS_EXT_RGBA;
    jpeg_start_decompress(&jpeg);
    unsigned char *pixels = malloc((size_t)jpeg.output_width * jpeg.output_height * 4);
    while (pixels && jpeg.output_scanline < jpeg.output_height)
        jpeg_read_scanlines(&jpeg, &(JSAMPROW){pixels + (size_t)jpeg.output_scanline * jpeg.output_width * 4}, 1);
    printf("{\"wall\":%.9f,\"cpu\":%.9f,\"bytes\":%.0f}", now(CLOCK_MONOTONIC) - strtod(arguments[2], NULL) / 1e9,
           now(CLOCK_PROCESS_CPUTIME_ID), resident() - before);
    return pixels ? 0 : 1;
}
