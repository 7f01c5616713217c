// SPDX-License-Identifier: MIT
#include "CPNG.h"
