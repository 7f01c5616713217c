// SPDX-License-Identifier: MIT
//
// Computes the fewest empty cell-seconds of the fling that wall.py measures, for a program that knows the movement in
// advance and whose only costs are the network and the decoding of images.
//
//     fling RATE TRIP BYTES COLUMNS ROW VIEWPORT TARGET FILE…
//
// RATE is in bits per second (0: unlimited), TRIP in milliseconds, and BYTES the average size of an image. ROW and
// VIEWPORT are heights, and TARGET is a row. The throughput is the lower one of the network and of all processors, which
// decode the files with libjpeg in half of their size. Each image has one deadline, the time at which its row becomes
// visible. The images that are visible the longest choose their time first: the latest free one before the deadline, or
// else the first free one after it. Prints the empty cell-seconds, all cell-seconds, and the throughput in images/s.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>
#include <time.h>
#include <unistd.h>

enum { STEPS_PER_SECOND = 240, STEPS = 11 * STEPS_PER_SECOND };
typedef struct { int row, first, count; } Row;
static double row_height, viewport, distance;
static int *slots;

// The times are those of ScrollMeasurementStateMachine: four seconds to the target, a rest of two seconds, and back.
static double position(double time) {
    int is_back = time >= 6;
    double elapsed = is_back ? time - 6 : time;
    double part = elapsed < 4 ? (1 - exp(-elapsed / 0.5)) / (1 - exp(-4 / 0.5)) : 1;
    return distance * (is_back ? 1 - part : part);
}

static int is_visible(int row, int step) {
    double top = position((double)step / STEPS_PER_SECOND);
    return row >= floor((top + 1) / row_height) && row < ceil((top + viewport - 1) / row_height);
}

static int longest_first(const void *left, const void *right) {
    const Row *a = left, *b = right;
    return a->count != b->count ? b->count - a->count : b->first - a->first;
}

// The latest free slot up to `slot`. Slot 0 is never free.
static int free_slot(int slot) {
    while (slots[slot] != slot) slot = slots[slot] = slots[slots[slot]];
    return slot;
}

static double decoding_seconds(char **paths, int count) {
    clock_t start = clock();
    for (int i = 0; i < count; i++) {
        FILE *file = fopen(paths[i], "rb");
        if (!file) exit(1);
        struct jpeg_decompress_struct jpeg;
        struct jpeg_error_mgr errors;
        jpeg.err = jpeg_std_error(&errors);
        jpeg_create_decompress(&jpeg);
        jpeg_stdio_src(&jpeg, file);
        jpeg_read_header(&jpeg, TRUE);
        jpeg.scale_num = 4;
        jpeg.scale_denom = 8;
        jpeg_start_decompress(&jpeg);
        JSAMPROW line = malloc((size_t)jpeg.output_width * jpeg.output_components);
        while (jpeg.output_scanline < jpeg.output_height) jpeg_read_scanlines(&jpeg, &line, 1);
        jpeg_finish_decompress(&jpeg);
        jpeg_destroy_decompress(&jpeg);
        free(line);
        fclose(file);
    }
    return (double)(clock() - start) / CLOCKS_PER_SEC / count;
}

int main(int count, char **words) {
    if (count < 9) return 64;
    double rate = atof(words[1]), trip = atof(words[2]) / 1000, bytes = atof(words[3]);
    int columns = atoi(words[4]), target = atoi(words[7]);
    row_height = atof(words[5]);
    viewport = atof(words[6]);
    distance = target * row_height;
    double throughput = sysconf(_SC_NPROCESSORS_ONLN) / decoding_seconds(words + 8, count - 8);
    if (rate > 0) throughput = fmin(throughput, rate / 8 / bytes);
    double latency = trip + 1 / throughput;
    int slot_count = (int)(STEPS / STEPS_PER_SECOND * throughput);
    slots = malloc(sizeof(int) * (slot_count + 2));
    for (int i = 0; i < slot_count + 2; i++) slots[i] = i;

    // The first page was loaded before.
    int rows = target + (int)ceil(viewport / row_height) + 1, used = 0;
    Row *list = calloc(rows, sizeof(Row));
    for (int row = (int)ceil(viewport / row_height); row < rows; row++) {
        Row found = {row, -1, 0};
        for (int step = 0; step < STEPS; step++) {
            if (!is_visible(row, step)) continue;
            if (found.first < 0) found.first = step;
            found.count++;
        }
        if (found.count) list[used++] = found;
    }
    qsort(list, used, sizeof(Row), longest_first);
    double blank = 0, all = 0;
    for (int i = 0; i < used * columns; i++) {
        Row row = list[i / columns];
        all += row.count;
        // An image of slot s arrives at s / throughput + latency.
        int last = (int)fmin(((double)row.first / STEPS_PER_SECOND - latency) * throughput, slot_count);
        int slot = last > 0 ? free_slot(last) : 0;
        if (slot == 0) {
            for (slot = last > 0 ? last + 1 : 1; slot <= slot_count && slots[slot] != slot; slot++) continue;
            int missed = 0, end = slot > slot_count ? STEPS : (int)((slot / throughput + latency) * STEPS_PER_SECOND);
            for (int step = 0; step < STEPS && step <= end; step++) missed += is_visible(row.row, step);
            blank += missed;
            if (missed == row.count) continue;
        }
        slots[slot] = slot - 1;
    }
    printf("%.1f %.1f %.1f\n", blank / STEPS_PER_SECOND, all / STEPS_PER_SECOND, throughput);
}
