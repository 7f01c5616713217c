// SPDX-License-Identifier: MIT
#pragma once
#include <jxl/decode.h>
#include <stdint.h>
#include "CJXL.h"

/// Checks the layer whose header the decoder has read. It's the layer with the number `number`, beginning with 1. `size`
/// receives its width and height. The decoder doesn't combine layers.
wi_jxl_status wi_jxl_check_layer(JxlDecoder *decoder, uint32_t number, wi_jxl_layer_limits limits, uint32_t size[2]);
