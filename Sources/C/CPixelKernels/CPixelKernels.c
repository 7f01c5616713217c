// SPDX-License-Identifier: MIT
#include "CPixelKernels.h"
