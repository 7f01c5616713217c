// SPDX-License-Identifier: MIT
#pragma once
#include <openjpeg.h>
