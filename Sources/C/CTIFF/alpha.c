// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include "alpha.h"
#include <stdlib.h>
#include <string.h>
#include "library.h"

int wi_tiff_color_samples(TIFF *tiff) {
    uint16_t photometric = 0, inks = INKSET_CMYK;
    if (!libtiff.TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric)) return 0;
    switch (photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_PALETTE:
        return 1;
    case PHOTOMETRIC_RGB:
        return 3;
    case PHOTOMETRIC_SEPARATED:
        // The extra samples of other sets of inks are inks.
        libtiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_INKSET, &inks);
        return inks == INKSET_CMYK ? 4 : 0;
    default:
        return 0;
    }
}

/// Returns whether the file has no data for a sample that is stored in a plane of its own. Some writers declare the sample,
/// and write only the planes of the colors.
static int is_without_data(TIFF *tiff, uint16_t sample) {
    uint16_t planes = PLANARCONFIG_CONTIG;
    uint64_t *counts = NULL;
    libtiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planes);
    if (planes != PLANARCONFIG_SEPARATE) return 0;
    const int is_tiled = libtiff.TIFFIsTiled(tiff);
    if (!libtiff.TIFFGetField(tiff, is_tiled ? TIFFTAG_TILEBYTECOUNTS : TIFFTAG_STRIPBYTECOUNTS, &counts) || !counts)
        return 1;
    return counts[is_tiled ? libtiff.TIFFComputeTile(tiff, 0, 0, 0, sample)
                           : libtiff.TIFFComputeStrip(tiff, 0, sample)] == 0;
}

static int is_alpha(int kind) { return kind == EXTRASAMPLE_ASSOCALPHA || kind == EXTRASAMPLE_UNASSALPHA; }

wi_tiff_alpha wi_tiff_find_alpha(TIFF *tiff) {
    wi_tiff_alpha alpha = {0, 0};
    uint16_t samples = 1, declared = 0, *kinds = NULL;
    const int colors = wi_tiff_color_samples(tiff);
    libtiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
    if (!colors || samples <= colors) return alpha;
    libtiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &declared, &kinds);
    alpha.kind = EXTRASAMPLE_UNASSALPHA;
    alpha.sample = colors;
    for (int index = 0; kinds && index < declared && colors + index < samples; index++) {
        if (!is_alpha(kinds[index])) continue;
        alpha.kind = kinds[index];
        alpha.sample = colors + index;
        return alpha;
    }
    if (is_without_data(tiff, (uint16_t)alpha.sample)) alpha.kind = 0;
    return alpha;
}

int wi_tiff_declare_alpha(TIFF *tiff, wi_tiff_alpha alpha) {
    uint16_t photometric = 0, samples = 1, declared = 0, *kinds = NULL;
    libtiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
    if (!alpha.kind) {
        // The interface would read an extra sample as associated alpha, also if it has no data.
        const int colors = wi_tiff_color_samples(tiff);
        return !colors || samples <= colors;
    }
    libtiff.TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
    // The RGBA interface of libtiff uses only the first extra sample. It doesn't multiply gray by alpha, and it ignores
    // the alpha of palettes and CMYK.
    if (photometric != PHOTOMETRIC_RGB || alpha.sample != 3) return 0;
    libtiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &declared, &kinds);
    if (kinds && declared && kinds[0] == alpha.kind) return 1;
    const uint16_t count = declared ? declared : (uint16_t)(samples - 3);
    // libtiff releases the current kinds before it copies the new ones.
    uint16_t *changed = calloc(count, sizeof *changed);
    if (!changed) return 0;
    if (kinds && declared) memcpy(changed, kinds, (size_t)declared * sizeof *changed);
    changed[0] = (uint16_t)alpha.kind;
    const int is_done = libtiff.TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, (int)count, changed);
    free(changed);
    return is_done;
}
#endif
