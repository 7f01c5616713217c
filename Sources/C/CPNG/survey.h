// SPDX-License-Identifier: MIT
#pragma once
#include "CPNG.h"

/// The most a palette can have.
#define MAX_COLOURS 256
#define SLOTS 1024

struct wi_png_survey {
    /// R, G, B, A as they lie in memory.
    uint32_t colours[MAX_COLOURS];
    /// One more than MAX_COLOURS where there are more.
    int count;
    /// Place in `colours`, counted from 1.
    uint16_t slots[SLOTS];
    bool is_gray;
    /// That hold every grey.
    int gray_bits;
};

/// The place of `colour`; -1 where it is not among them.
int wi_png_survey_find(const wi_png_survey *survey, uint32_t colour);
