// SPDX-License-Identifier: MIT
#pragma once
#include <png.h>
#include "CPNG.h"

/// Configures libpng to keep the chunks that wi_png_read_colors reads. Call this function before reading the header.
void wi_png_want_colors(png_structp png);
/// Reads the color chunks. Call this function after reading the header. It may exit through the error handler of
/// libpng.
void wi_png_read_colors(png_structp png, png_infop info, wi_png_colors *colors);
