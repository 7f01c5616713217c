// SPDX-License-Identifier: MIT

#include "CLibFuzzer.h"
