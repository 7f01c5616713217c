// SPDX-License-Identifier: MIT
#include "CGIF.h"
