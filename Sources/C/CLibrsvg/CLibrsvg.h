// SPDX-License-Identifier: MIT
#pragma once
#include <librsvg/rsvg.h>
