// SPDX-License-Identifier: MIT
#pragma once
#include <webp/decode.h>
#include <webp/encode.h>
#include <webp/demux.h>
#include <webp/mux.h>
