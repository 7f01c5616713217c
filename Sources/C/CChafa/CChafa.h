// SPDX-License-Identifier: MIT
#pragma once
#include <chafa.h>
