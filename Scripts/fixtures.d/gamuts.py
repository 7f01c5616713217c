#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Computes the colors of wide gamuts on several displays: Tests/Fixtures/hdr/gamuts.json.

The formulas are those of BT.2100 (PQ and HLG), BT.2390 (the tone curve), BT.2408 (the white of 203 cd/m2), and of the article
“Color”, in double precision. They share no code with the library.
"""
import itertools, json, os

import numpy as np

from common import ROOT

OUT = os.path.join(ROOT, "Tests", "Fixtures", "hdr", "gamuts.json")
WHITE, PEAK = 203.0, 1000.0
HEADROOMS = (1, 2, 4, 8)
# The primaries and the weights of the luminance by code point. All of them have the white point D65.
PRIMARIES = {
    1: ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06)),
    9: ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046)),
    12: ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060)),
}
D65 = (0.3127, 0.3290)


def xyz(point):
    x, y = point
    return np.array([x / y, 1, (1 - x - y) / y])


def to_xyz(number):
    columns = np.stack([xyz(point) for point in PRIMARIES[number]], axis=1)
    return columns * np.linalg.solve(columns, xyz(D65))


def matrix(source, target):
    return np.linalg.solve(to_xyz(target), to_xyz(source))


def pq_nits(v):
    root = v ** (1 / 78.84375)
    return 10000 * (np.maximum(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root)) ** (1 / 0.1593017578125)


def pq_sample(nits):
    root = (nits / 10000) ** 0.1593017578125
    return ((0.8359375 + 18.8515625 * root) / (1 + 18.6875 * root)) ** 78.84375


def hlg_nits(v):
    scene = np.where(v <= 0.5, v * v / 3, (np.exp((v - 0.55991073) / 0.17883277) + 0.28466892) / 12)
    luminance = scene @ np.array([0.2627, 0.6780, 0.0593])
    return PEAK * scene * luminance[..., None] ** 0.2


def in_gamut(light, target):
    """Mixes colors with the gray of the same luminance until no channel is negative."""
    luminance = (light @ to_xyz(target)[1])[..., None]
    smallest = light.min(axis=-1, keepdims=True)
    share = np.where(smallest < 0, luminance / np.where(smallest < 0, luminance - smallest, 1), 1)
    return luminance + (light - luminance) * share


def limited(nits, headroom):
    """Applies the tone curve to the largest channel, which then doesn't exceed the display. Other channels follow it."""
    largest = np.maximum(nits.max(axis=-1, keepdims=True), 1e-9)
    end = WHITE * headroom
    if end >= PEAK:
        return nits * np.minimum(1, end / largest)
    top, target = pq_sample(PEAK), pq_sample(end) / pq_sample(PEAK)
    value = pq_sample(np.minimum(largest, PEAK)) / top
    knee = 1.5 * target - 0.5
    t = np.clip((value - knee) / (1 - knee), 0, 1)
    curve = (2 * t**3 - 3 * t**2 + 1) * knee + (t**3 - 2 * t**2 + t) * (1 - knee) + (3 * t**2 - 2 * t**3) * target
    return nits * np.where(value < knee, 1, pq_nits(curve * top) / largest)


def srgb_sample(light):
    light = np.clip(light, 0, 1)
    return np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)


def shown(samples, transfer, target, headroom):
    """Returns linear light in the target primaries, where 1 is white."""
    if transfer == 8:
        # A channel of a color outside of the gamut can exceed white.
        return np.clip(samples @ matrix(9, target).T, 0, headroom)
    nits = {16: pq_nits, 18: hlg_nits}[transfer](samples)
    return limited(in_gamut(nits @ matrix(9, target).T, target), headroom) / WHITE


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
                               for target in PRIMARIES for headroom in HEADROOMS])
        entries.append(entry)
    with open(OUT, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries) + "\n]\n")


main()
