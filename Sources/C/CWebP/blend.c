// SPDX-License-Identifier: MIT
#include <string.h>
#include "CWebP.h"

// The integer arithmetic of libwebp's animation decoder (anim_decode.c, BlendPixelNonPremult), so that the frames of a
// file that's being received equal those of the whole file.
void wi_webp_blend(uint8_t *canvas, const uint8_t *frame, size_t count) {
    for (size_t place = 0; place < count; place++, canvas += 4, frame += 4) {
        unsigned alpha = frame[3];
        if (alpha == 255) {
            memcpy(canvas, frame, 4);
            continue;
        }
        if (alpha == 0) continue;
        unsigned below = canvas[3] * (256 - alpha) >> 8;
        unsigned sum = alpha + below;
        uint32_t scale = (1u << 24) / sum;
        for (int channel = 0; channel < 3; channel++) {
            uint32_t weighted = frame[channel] * alpha + canvas[channel] * below;
            canvas[channel] = (uint8_t)(weighted * scale >> 24);
        }
        canvas[3] = (uint8_t)sum;
    }
}
