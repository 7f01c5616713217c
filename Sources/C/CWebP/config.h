// SPDX-License-Identifier: MIT
#pragma once
#include <webp/encode.h>
#include "CWebP.h"

/// Returns 0 if an option is out of range.
int wi_webp_configure(WebPConfig *config, const wi_webp_options *options);
