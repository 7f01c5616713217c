// SPDX-License-Identifier: MIT
#include "CHash.h"
