#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Computes the colors of wide gamuts on several displays: Tests/Fixtures/hdr/gamuts.json.

The formulas are those of light.py, and of the article “Color”.
"""
import itertools, json, os

import numpy as np

from common import ROOT
from light import CODED, NITS, WHITE, in_gamut, limited, srgb_sample, to_xyz

OUT = os.path.join(ROOT, "Tests", "Fixtures", "hdr", "gamuts.json")
HEADROOMS = (1, 2, 4, 8)


def matrix(source, target):
    return np.linalg.solve(to_xyz(target), to_xyz(source))


def shown(samples, transfer, target, headroom):
    """Returns linear light in the target primaries, where 1 is white."""
    convert = matrix("2020", CODED[target]).T
    if transfer == 8:
        # A channel of a color outside of the gamut can exceed white.
        return np.clip(samples @ convert, 0, headroom)
    return limited(in_gamut(NITS[transfer](samples) @ convert, CODED[target]), headroom) / WHITE


LEVELS = {16: (0.05, 0.3, 0.5, 0.62, 0.8), 18: (0.05, 0.3, 0.6, 0.8, 1), 8: (0, 0.05, 0.3, 0.7, 1)}


def colors(transfer):
    """Every third color of a lattice, as 16-bit samples. Its gray diagonal is always part of it."""
    lattice = list(itertools.product(LEVELS[transfer], repeat=3))
    chosen = [color for place, color in enumerate(lattice) if place % 3 == 0 or len(set(color)) == 1]
    return np.rint(np.array(chosen) * 65535).astype(int)


def rounded(values):
    return [round(float(value), 5) for value in values.ravel()]


def main():
    entries = []
    for transfer in LEVELS:
        words = colors(transfer)
        samples = words / 65535
        entry = dict(primaries=9, transfer=transfer, words=[int(word) for word in words.ravel()],
                     standard=[dict(primaries=target, samples=rounded(srgb_sample(shown(samples, transfer, target, 1))))
                               for target in (1, 12)],
                     displays=[dict(primaries=target, headroom=headroom,
                                    light=rounded(shown(samples, transfer, target, headroom)))
                               for target in CODED for headroom in HEADROOMS])
        entries.append(entry)
    with open(OUT, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries) + "\n]\n")


main()
