// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include "decoder.h"

/// The beginning of a segment with a part of a profile (ICC.1, annex B.4). The number of the part, from 1, and the total
/// number of parts follow.
static const JOCTET name[12] = "ICC_PROFILE";
#define HEAD_SIZE (sizeof name + 2)

/// The parts of one division of a profile into segments.
typedef struct {
    unsigned count;
    /// The segments by their numbers, from 1. A segment is NULL if it's missing.
    jpeg_saved_marker_ptr parts[256];
} division;

/// The maximum number of divisions. Files that send a profile twice have one or two.
#define MAX_DIVISIONS 4

static int is_part(jpeg_saved_marker_ptr segment) {
    return segment->marker == JPEG_APP0 + 2 && segment->data_length >= HEAD_SIZE &&
           memcmp(segment->data, name, sizeof name) == 0;
}

static int are_equal(jpeg_saved_marker_ptr first, jpeg_saved_marker_ptr second) {
    return first->data_length == second->data_length && memcmp(first->data, second->data, first->data_length) == 0;
}

/// Adds a segment to its division. Returns 0 if it's invalid or contradicts an earlier segment.
static int add_part(division *divisions, int *used, jpeg_saved_marker_ptr segment) {
    unsigned number = segment->data[sizeof name], count = segment->data[sizeof name + 1];
    int index = 0;
    if (number == 0 || number > count) return 0;
    while (index < *used && divisions[index].count != count) index++;
    if (index == MAX_DIVISIONS) return 0;
    if (index == *used) {
        divisions[index].count = count;
        *used += 1;
    }
    jpeg_saved_marker_ptr *slot = &divisions[index].parts[number];
    if (*slot) return are_equal(*slot, segment);
    *slot = segment;
    return 1;
}

/// Joins the parts of a division. Returns NULL if a part is missing or if the profile is empty or too large.
static uint8_t *join(const division *parts, size_t limit, size_t *count) {
    size_t total = 0;
    for (unsigned number = 1; number <= parts->count; number++) {
        if (!parts->parts[number]) return NULL;
        total += parts->parts[number]->data_length - HEAD_SIZE;
    }
    if (total == 0 || total > limit) return NULL;
    uint8_t *bytes = malloc(total);
    if (!bytes) return NULL;
    *count = 0;
    for (unsigned number = 1; number <= parts->count; number++) {
        size_t size = parts->parts[number]->data_length - HEAD_SIZE;
        memcpy(bytes + *count, parts->parts[number]->data + HEAD_SIZE, size);
        *count += size;
    }
    return bytes;
}

uint8_t *wi_jpeg_decoder_icc(wi_jpeg_decoder *decoder, size_t limit, size_t *count) {
    division *divisions = calloc(MAX_DIVISIONS, sizeof *divisions);
    int used = 0, is_valid = divisions != NULL;
    for (jpeg_saved_marker_ptr segment = decoder->info.marker_list; is_valid && segment; segment = segment->next)
        if (is_part(segment)) is_valid = add_part(divisions, &used, segment);
    uint8_t *profile = is_valid && used > 0 ? join(&divisions[0], limit, count) : NULL;
    for (int index = 1; profile && index < used; index++) {
        size_t other_count = 0;
        uint8_t *other = join(&divisions[index], limit, &other_count);
        if (!other || other_count != *count || memcmp(other, profile, other_count) != 0) {
            free(profile);
            profile = NULL;
        }
        free(other);
    }
    free(divisions);
    return profile;
}
