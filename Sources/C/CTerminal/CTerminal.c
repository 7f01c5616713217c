// SPDX-License-Identifier: MIT
#include "CTerminal.h"
