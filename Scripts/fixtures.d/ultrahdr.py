#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates JPEG files with gain maps and their pixels for several displays: Tests/Fixtures/hdr.

libultrahdr encodes and renders the files. It's part of the package imagecodecs, which `Scripts/setup benchmarks` installs
in Benchmarks/.python. Without that package, this script does nothing, and the fixtures remain.
"""
import json, os, sys

import numpy as np

from common import ROOT

sys.path.insert(0, os.path.join(ROOT, "Benchmarks", ".python"))
try:
    import imagecodecs
except ImportError:
    print("ultrahdr.py: imagecodecs is missing, so the fixtures remain", file=sys.stderr)
    sys.exit(0)

OUT = os.path.join(ROOT, "Tests", "Fixtures", "hdr")
W, H = 128, 96
# The rows and columns in the manifest are those at the offset and then at each step.
OFFSET, STEP = 4, 8
HEADROOMS = (1, 2, 4, 8)
CODES = imagecodecs.ULTRAHDR
# The gamuts of libultrahdr with the code points of their primaries.
FILES = {"ultrahdr-srgb.jpg": (CODES.CG.BT_709, 1), "ultrahdr-p3.jpg": (CODES.CG.DISPLAY_P3, 12)}


def light():
    """Linear light, where 1 is white: gradients, and a glow that's up to 8 times as bright."""
    x, y = np.meshgrid(np.linspace(0, 1, W), np.linspace(0, 1, H))
    pixels = np.ones((H, W, 4))
    # libultrahdr doesn't interpolate chroma, so the chroma must change slowly.
    pixels[..., 0], pixels[..., 1], pixels[..., 2] = 0.15 + 0.55 * x, 0.15 + 0.5 * x + 0.1 * y, 0.2 + 0.4 * x
    pixels[..., :3] *= (1 + 9 * np.exp(-((x - 0.6) ** 2 + (y - 0.45) ** 2) / 0.03))[..., None]
    return pixels.astype("float16")


def main():
    os.makedirs(OUT, exist_ok=True)
    entries = []
    for name, (gamut, primaries) in FILES.items():
        data = imagecodecs.ultrahdr_encode(light(), 98, transfer=CODES.CT.LINEAR, gamut=gamut, nits=203 * 8)
        with open(os.path.join(OUT, name), "wb") as file:
            file.write(data)
        for headroom in HEADROOMS:
            shown = imagecodecs.ultrahdr_decode(data, dtype="float16", transfer=CODES.CT.LINEAR, boost=headroom)
            grid = shown[OFFSET::STEP, OFFSET::STEP, :3].astype("float64")
            entries.append(dict(file=name, primaries=primaries, headroom=headroom, offset=OFFSET, step=STEP,
                                light=[round(float(value), 5) for value in grid.ravel()]))
    with open(os.path.join(OUT, "manifest.json"), "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n")


main()
