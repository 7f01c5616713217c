// SPDX-License-Identifier: MIT
#include <math.h>
#include <stdlib.h>
#include "shim.h"

/// The symbols of AC coefficients: a run of zeros in the upper four bits, and the size of the value in the lower four.
enum { SYMBOLS = 256, LONG_RUN = 0xF0, BLOCK_END = 0 };

/// The positions of the coefficients in the order of coding (ITU-T T.81, figure A.6).
static const uint8_t ORDER[DCTSIZE2] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/// The weight of the distortion relative to the bits. The file size at equal SSIMULACRA2 scores of photographs has its
/// minimum near this value.
static const float WEIGHT = 5;

/// The exponents that flatten the quantization tables of the standard, for luma and chroma, and the step of the flat
/// table relative to the first step. The metric sees more of the errors at high frequencies than the standard assumes.
static const double LUMA_SLOPE = 0.35, CHROMA_SLOPE = 0.5, FLAT_STEP = 1.5;

/// The approximate numbers of bits of the symbols, for one kind of component.
typedef struct {
    float bits[SYMBOLS];
    double counts[SYMBOLS];
} statistics;

static int size_of(int value) {
    int size = 0;
    for (; value; value >>= 1) size++;
    return size;
}

/// Sets the bits from a typical distribution, in which long runs and large values are rare.
static void start(statistics *own) {
    for (int symbol = 0; symbol < SYMBOLS; symbol++) {
        int run = symbol >> 4, size = symbol & 15;
        float bits = symbol == BLOCK_END ? 2.5f : symbol == LONG_RUN ? 10 : 1.5f + 1.1f * (float)size + 0.9f * (float)run;
        own->bits[symbol] = bits > 16 ? 16 : bits;
        own->counts[symbol] = 0;
    }
}

/// Sets the bits from the counts.
static void learn(statistics *own) {
    double sum = 0;
    for (int symbol = 0; symbol < SYMBOLS; symbol++) sum += own->counts[symbol] + 0.02;
    for (int symbol = 0; symbol < SYMBOLS; symbol++) {
        double bits = -log2((own->counts[symbol] + 0.02) / sum);
        own->bits[symbol] = (float)(bits < 1 ? 1 : bits > 16 ? 16 : bits);
        own->counts[symbol] = 0;
    }
}

static float run_bits(const statistics *own, int run, int size) {
    return (float)(run >> 4) * own->bits[LONG_RUN] + own->bits[(run & 15) << 4 | size] + (float)size;
}

/// The best path through the coefficients of a block up to one that isn't zero.
typedef struct {
    float cost;
    int place, before, value;
} step;

/// Quantizes a block so that the sum of the bits and the weighted distortion is minimal. `block` contains coefficients
/// without quantization, and `out` receives the result.
static void quantize(const JCOEF *block, const UINT16 *table, const statistics *own, JCOEF *out) {
    float zeros[DCTSIZE2];
    step steps[DCTSIZE2] = {{0, 0, -1, 0}};
    int count = 1;
    zeros[0] = 0;
    for (int place = 1; place < DCTSIZE2; place++) {
        const float unit = table[ORDER[place]];
        const float exact = fabsf((float)block[ORDER[place]]) / unit;
        zeros[place] = zeros[place - 1] + WEIGHT * exact * exact;
        const int nearest = (int)(exact + 0.5f);
        if (!nearest) continue;
        step best = {INFINITY, place, 0, 0};
        // Also try the largest value with fewer bits.
        const int size = size_of(nearest), lower = (1 << (size - 1)) - 1;
        const int values[3] = {nearest, nearest - 1, lower < nearest - 1 ? lower : 0};
        for (int index = 0; index < 3 && values[index] > 0; index++) {
            const float error = exact - (float)values[index];
            const float distortion = WEIGHT * error * error;
            const int bits = size_of(values[index]);
            for (int from = 0; from < count; from++) {
                float cost = steps[from].cost + zeros[place - 1] - zeros[steps[from].place] + distortion +
                             run_bits(own, place - steps[from].place - 1, bits);
                if (cost < best.cost) best = (step){cost, place, from, values[index]};
            }
        }
        steps[count++] = best;
    }
    int last = 0;
    float least = INFINITY;
    for (int at = 0; at < count; at++) {
        float cost = steps[at].cost + zeros[DCTSIZE2 - 1] - zeros[steps[at].place];
        if (steps[at].place < DCTSIZE2 - 1) cost += own->bits[BLOCK_END];
        if (cost < least) {
            least = cost;
            last = at;
        }
    }
    memset(out, 0, sizeof(JBLOCK));
    const int unit = table[0], direct = block[0];
    out[0] = (JCOEF)((direct + (direct < 0 ? -unit : unit) / 2) / unit);
    for (; last > 0; last = steps[last].before) {
        int at = ORDER[steps[last].place];
        out[at] = (JCOEF)(block[at] < 0 ? -steps[last].value : steps[last].value);
    }
}

static void count_symbols(const JCOEF *block, statistics *own) {
    int run = 0;
    for (int place = 1; place < DCTSIZE2; place++) {
        int value = abs(block[ORDER[place]]);
        if (!value) {
            run++;
            continue;
        }
        for (; run > 15; run -= 16) own->counts[LONG_RUN]++;
        own->counts[run << 4 | size_of(value)]++;
        run = 0;
    }
    if (run) own->counts[BLOCK_END]++;
}

/// Quantizes all blocks of a component. If `stores` is zero, only the symbols are counted.
static void quantize_component(j_decompress_ptr source, jvirt_barray_ptr blocks, jpeg_component_info *component,
                               const UINT16 *table, statistics *own, int stores) {
    for (JDIMENSION row = 0; row < component->height_in_blocks; row++) {
        JBLOCKARRAY line = source->mem->access_virt_barray((j_common_ptr)source, blocks, row, 1, TRUE);
        // A sample of the rows is enough for the statistics.
        if (!stores && row % 2) continue;
        for (JDIMENSION column = 0; column < component->width_in_blocks; column++) {
            JBLOCK result;
            quantize(line[0][column], table, own, result);
            if (stores) memcpy(line[0][column], result, sizeof result);
            else count_symbols(result, own);
        }
        // Blocks after the right edge repeat the last one, which costs the fewest bits.
        JDIMENSION padded = (component->width_in_blocks + (JDIMENSION)component->h_samp_factor - 1) /
                            (JDIMENSION)component->h_samp_factor * (JDIMENSION)component->h_samp_factor;
        if (!stores) continue;
        for (JDIMENSION column = component->width_in_blocks; column < padded; column++) {
            memset(line[0][column], 0, sizeof(JBLOCK));
            line[0][column][0] = line[0][component->width_in_blocks - 1][0];
        }
    }
}

/// The divisions of the coefficients into scans. Which one is smallest depends on the image.
enum { SEQUENTIAL, SIMPLE, SPECTRAL, REFINED, SCRIPTS };

/// Sets the scans. The scans of a gray image are those of the first component.
static void set_scans(j_compress_ptr target, int script) {
    static const jpeg_scan_info spectral[] = {
        {3, {0, 1, 2}, 0, 0, 0, 0}, {1, {0}, 1, 8, 0, 0}, {1, {1}, 1, 63, 0, 0}, {1, {2}, 1, 63, 0, 0}, {1, {0}, 9, 63, 0, 0}};
    static const jpeg_scan_info refined[] = {
        {3, {0, 1, 2}, 0, 0, 0, 0}, {1, {0}, 1, 8, 0, 1}, {1, {1}, 1, 63, 0, 0}, {1, {2}, 1, 63, 0, 0},
        {1, {0}, 9, 63, 0, 1},      {1, {0}, 1, 63, 1, 0}};
    static const jpeg_scan_info gray_spectral[] = {{1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 8, 0, 0}, {1, {0}, 9, 63, 0, 0}};
    static const jpeg_scan_info gray_refined[] = {
        {1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 8, 0, 1}, {1, {0}, 9, 63, 0, 1}, {1, {0}, 1, 63, 1, 0}};
    int is_gray = target->num_components == 1;
    switch (script) {
    case SIMPLE:
        jpeg_simple_progression(target);
        return;
    case SPECTRAL:
        target->scan_info = is_gray ? gray_spectral : spectral;
        target->num_scans = is_gray ? 3 : 5;
        return;
    case REFINED:
        target->scan_info = is_gray ? gray_refined : refined;
        target->num_scans = is_gray ? 4 : 6;
        return;
    default:
        return;
    }
}

static void copy_markers(j_decompress_ptr source, j_compress_ptr target) {
    for (jpeg_saved_marker_ptr marker = source->marker_list; marker; marker = marker->next)
        if (marker->marker != JPEG_APP0 && marker->marker != JPEG_APP0 + 14)
            jpeg_write_marker(target, marker->marker, marker->data, marker->data_length);
}

struct wi_jpeg_optimizer {
    struct jpeg_decompress_struct source;
    struct jpeg_compress_struct target;
    wi_jpeg_errors errors;
    int has_source, has_target;
    unsigned char *bytes, *best;
    unsigned long count, best_count;
};

/// Sets the quantization tables for a quality.
static void set_tables(j_compress_ptr target, int quality) {
    jpeg_set_quality(target, quality, TRUE);
    for (int table = 0; table < 2; table++) {
        UINT16 *steps = target->quant_tbl_ptrs[table]->quantval;
        const double flat = steps[0] * FLAT_STEP, slope = table ? CHROMA_SLOPE : LUMA_SLOPE;
        for (int at = 0; at < DCTSIZE2; at++) {
            double step = round(pow(flat, 1 - slope) * pow(steps[at], slope));
            steps[at] = (UINT16)(step < 1 ? 1 : step > 255 ? 255 : step);
        }
    }
}

static void write_file(wi_jpeg_optimizer *own, jvirt_barray_ptr *blocks, int quality, int script) {
    j_compress_ptr target = &own->target;
    jpeg_create_compress(target);
    own->has_target = 1;
    own->bytes = NULL;
    own->count = 0;
    jpeg_mem_dest(target, &own->bytes, &own->count);
    jpeg_copy_critical_parameters(&own->source, target);
    set_tables(target, quality);
    target->optimize_coding = TRUE;
    set_scans(target, script);
    jpeg_write_coefficients(target, blocks);
    copy_markers(&own->source, target);
    jpeg_finish_compress(target);
    jpeg_destroy_compress(target);
    own->has_target = 0;
}

wi_jpeg_optimizer *wi_jpeg_optimizer_open(void) {
    wi_jpeg_optimizer *own = calloc(1, sizeof *own);
    if (!own) return NULL;
    wi_jpeg_errors_install(&own->errors, (j_common_ptr)&own->source);
    own->target.err = own->source.err;
    own->target.client_data = own->source.client_data;
    return own;
}

void wi_jpeg_optimizer_close(wi_jpeg_optimizer *own) {
    if (!own) return;
    if (own->has_target) jpeg_destroy_compress(&own->target);
    if (own->has_source) jpeg_destroy_decompress(&own->source);
    free(own->bytes);
    free(own->best);
    free(own);
}

const char *wi_jpeg_optimizer_message(const wi_jpeg_optimizer *own) { return own->errors.message; }

wi_jpeg_status wi_jpeg_optimizer_run(wi_jpeg_optimizer *own, const uint8_t *fine, size_t fine_count, int quality,
                                     int is_progressive, const uint8_t **bytes, size_t *count) {
    if (setjmp(own->errors.escape)) return own->errors.status;
    j_decompress_ptr source = &own->source;
    jpeg_create_decompress(source);
    own->has_source = 1;
    for (int marker = 0; marker < 16; marker++) jpeg_save_markers(source, JPEG_APP0 + marker, 0xFFFF);
    jpeg_mem_src(source, fine, (unsigned long)fine_count);
    jpeg_read_header(source, TRUE);
    jvirt_barray_ptr *blocks = jpeg_read_coefficients(source);
    // The tables of the result.
    jpeg_create_compress(&own->target);
    own->has_target = 1;
    jpeg_copy_critical_parameters(source, &own->target);
    set_tables(&own->target, quality);
    statistics kinds[2];
    for (int kind = 0; kind < 2; kind++) start(&kinds[kind]);
    for (int pass = 0; pass < 2; pass++) {
        for (int index = 0; index < source->num_components; index++) {
            jpeg_component_info *component = &source->comp_info[index];
            const UINT16 *table = own->target.quant_tbl_ptrs[component->quant_tbl_no]->quantval;
            quantize_component(source, blocks[index], component, table, &kinds[index > 0], pass);
        }
        for (int kind = 0; kind < 2; kind++) learn(&kinds[kind]);
    }
    jpeg_destroy_compress(&own->target);
    own->has_target = 0;
    for (int script = is_progressive ? SIMPLE : SEQUENTIAL; script < SCRIPTS; script++) {
        write_file(own, blocks, quality, script);
        if (!own->best || own->count < own->best_count) {
            free(own->best);
            own->best = own->bytes;
            own->best_count = own->count;
        } else {
            free(own->bytes);
        }
        own->bytes = NULL;
    }
    *bytes = own->best;
    *count = own->best_count;
    return WI_JPEG_OK;
}
