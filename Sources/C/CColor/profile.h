// SPDX-License-Identifier: MIT
#pragma once
#include "CColor.h"
#include "memory.h"

struct wi_icc_profile {
    cmsContext context;
    cmsHPROFILE profile;
};
