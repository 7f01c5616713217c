// SPDX-License-Identifier: MIT
#pragma once
#include <webp/encode.h>
#include "CWebP.h"

/// 0 where a number is out of range.
int wi_webp_configure(WebPConfig *config, const wi_webp_options *options);
