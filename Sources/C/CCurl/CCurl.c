// SPDX-License-Identifier: MIT
#include "CCurl.h"
