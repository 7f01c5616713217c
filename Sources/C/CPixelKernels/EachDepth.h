// SPDX-License-Identifier: MIT
// Includes the file that KERNELS names for both sample widths.
#define SAMPLE uint8_t
#define MAXIMUM 255.0f
#define DEPTH rgba8
#include KERNELS
#undef SAMPLE
#undef MAXIMUM
#undef DEPTH

#define SAMPLE uint16_t
#define MAXIMUM 65535.0f
#define DEPTH rgba16
#include KERNELS
#undef SAMPLE
#undef MAXIMUM
#undef DEPTH
#undef KERNELS
