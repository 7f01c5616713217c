// SPDX-License-Identifier: MIT
#pragma once
#include <png.h>
#include "CPNG.h"

/// Has libpng keep what wi_png_read_colors reads. Before the header.
void wi_png_want_colors(png_structp png);
/// After the header; libpng's error exit may be taken.
void wi_png_read_colors(png_structp png, png_infop info, wi_png_colors *colors);
