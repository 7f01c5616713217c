// SPDX-License-Identifier: MIT
#include "CWebP.h"
