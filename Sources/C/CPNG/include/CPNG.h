// SPDX-License-Identifier: MIT
#pragma once
#include <stddef.h>
#include <stdio.h>
#include <png.h>
