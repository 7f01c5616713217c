// SPDX-License-Identifier: MIT
#include "CJPEG.h"
