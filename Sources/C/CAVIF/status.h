// SPDX-License-Identifier: MIT
#pragma once
#include <avif/avif.h>
#include "CAVIF.h"

wi_avif_status wi_avif_status_of(avifResult result);
/// Gets the properties of the image after libavif parsed the header.
void wi_avif_describe(const avifDecoder *decoder, wi_avif_info *info);
