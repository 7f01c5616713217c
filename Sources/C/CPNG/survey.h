// SPDX-License-Identifier: MIT
#pragma once
#include "CPNG.h"

/// The maximum number of colors in a palette.
#define MAX_COLOURS 256
#define SLOTS 1024

struct wi_png_survey {
    /// The colors as R, G, B, A in memory order.
    uint32_t colours[MAX_COLOURS];
    /// The number of colors, or MAX_COLOURS + 1 if there are more.
    int count;
    /// Indices into `colours`, starting from 1.
    uint16_t slots[SLOTS];
    bool is_gray;
    /// The bits per sample that represent all gray values exactly.
    int gray_bits;
};

/// Returns the index of `colour`, or -1 if the survey doesn't contain it.
int wi_png_survey_find(const wi_png_survey *survey, uint32_t colour);
