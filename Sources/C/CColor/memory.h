// SPDX-License-Identifier: MIT
#pragma once
#include <lcms2.h>

/// Creates a separate context for one profile, which limits the size of each allocation.
cmsContext wi_color_context(void);
