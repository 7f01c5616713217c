#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Generates the reference of ResamplerTests: the waves of PixelMaking.waves, scaled down with ImageMagick.
set -euo pipefail
target="$(dirname "$0")/../../Tests/Fixtures/Resample"
mkdir -p "$target"
/usr/bin/python3 - <<'PY' | /usr/bin/convert -size 240x180 -depth 8 rgb:- -filter Lanczos -resize '50x36!' \
  -depth 8 "rgb:$target/waves-240x180-to-50x36.rgb"
import sys
from math import cos, hypot, sin
for y in range(180):
    for x in range(240):
        u, v = float(x), float(y)
        sys.stdout.buffer.write(bytes(int(max(0, min(255, c))) for c in (
            128 + 90 * sin(u / 11) * cos(v / 17) + 25 * sin(u * 0.9 + v * 0.4),
            128 + 100 * sin((u + v) / 23) + 20 * cos(v * 1.1),
            128 + 110 * cos(hypot(u - 40, v - 30) / 9))))
PY
