// SPDX-License-Identifier: MIT
#pragma once
#include <avif/avif.h>
#include "CAVIF.h"

wi_avif_status wi_avif_status_of(avifResult result);
