// SPDX-License-Identifier: MIT
//
// Prints the highest resident memory, in MiB, of a process that only decodes a JPEG file with libjpeg in an eighth of its
// size, line by line. A progressive file needs memory for the coefficients of the whole image, regardless of its scale,
// because each scan refines all of them.
//
//     progressive FILE
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>
#include <sys/resource.h>

int main(int count, char **words) {
    FILE *file = count == 2 ? fopen(words[1], "rb") : NULL;
    if (!file) return 64;
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_stdio_src(&jpeg, file);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.scale_num = 1;
    jpeg.scale_denom = 8;
    jpeg_start_decompress(&jpeg);
    JSAMPROW line = malloc((size_t)jpeg.output_width * jpeg.output_components);
    while (jpeg.output_scanline < jpeg.output_height) jpeg_read_scanlines(&jpeg, &line, 1);
    jpeg_finish_decompress(&jpeg);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%.1f\n", usage.ru_maxrss / 1024.0);
    jpeg_destroy_decompress(&jpeg);
    free(line);
    fclose(file);
    return 0;
}
