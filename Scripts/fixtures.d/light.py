# SPDX-License-Identifier: MIT
"""Shared formulas of the scripts that compute the colors of fixtures, in double precision. They share no code with the
library.

The formulas are those of BT.2100 (PQ and HLG), BT.2390 (the tone curve), and BT.2408 (the white of 203 cd/m2).
"""
import numpy as np

WHITE, PEAK = 203.0, 1000.0
D65 = (0.3127, 0.3290)
PRIMARIES = {
    "srgb": ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06), D65),
    "p3": ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), D65),
    "2020": ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046), D65),
    "adobe": ((0.64, 0.33), (0.21, 0.71), (0.15, 0.06), D65),
    "prophoto": ((0.734699, 0.265301), (0.159597, 0.840403), (0.036598, 0.000105), (0.345704, 0.358540)),
}
# The names of the primaries by code point.
CODED = {1: "srgb", 9: "2020", 12: "p3"}


def xyz(point):
    x, y = point
    return np.array([x / y, 1, (1 - x - y) / y])


def to_xyz(name):
    red, green, blue, white = PRIMARIES[name]
    columns = np.stack([xyz(red), xyz(green), xyz(blue)], axis=1)
    return columns * np.linalg.solve(columns, xyz(white))


def srgb_light(v):
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def srgb_sample(light):
    light = np.clip(light, 0, 1)
    return np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)


def pq_nits(v):
    root = v ** (1 / 78.84375)
    return 10000 * (np.maximum(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root)) ** (1 / 0.1593017578125)


def pq_sample(nits):
    root = (nits / 10000) ** 0.1593017578125
    return ((0.8359375 + 18.8515625 * root) / (1 + 18.6875 * root)) ** 78.84375


def hlg_nits(v):
    scene = np.where(v <= 0.5, v * v / 3, (np.exp((v - 0.55991073) / 0.17883277) + 0.28466892) / 12)
    luminance = scene @ np.array([0.2627, 0.6780, 0.0593])
    return PEAK * scene * np.maximum(luminance, 0)[..., None] ** 0.2


NITS = {16: pq_nits, 18: hlg_nits}


def in_gamut(light, name):
    """Mixes colors with the gray of the same luminance until no channel is negative."""
    luminance = (light @ to_xyz(name)[1])[..., None]
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
