// SPDX-License-Identifier: MIT
#pragma once
#include <lcms2.h>

/// A context of its own for one profile; what it allocates is bounded piece by piece.
cmsContext wi_color_context(void);
