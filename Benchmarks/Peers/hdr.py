#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hdr.py FILE: Compares libultrahdr's rendering of an Ultra HDR file with ISO 21496-1 in double precision.

Prints the peak signal-to-noise ratio in PQ for several headrooms, for two ways to upsample the chroma of the base image,
and for two ways to interpolate the gain map. So it shows which part of the difference is libultrahdr's. FILE must have a
gain map with one component and the offsets 0. djpeg of libjpeg-turbo-progs decodes the base image. The Python package
imagecodecs must be installed in a directory of PYTHONPATH.
"""
import math
import re
import subprocess
import sys

import imagecodecs
import numpy


def pq(light):
    power = numpy.clip(light * 203 / 10_000, 0, 1) ** 0.1593017578125
    return ((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power)) ** 78.84375


def ratio(first, second):
    return -10 * math.log10(numpy.mean((pq(first) - pq(second)) ** 2))


def base(path, options):
    """Returns the linear light of the base image."""
    data = subprocess.run(["djpeg", "-ppm", *options, path], capture_output=True, check=True).stdout
    _, width, height, _ = data.split(None, 4)[:4]
    samples = numpy.frombuffer(data[-int(width) * int(height) * 3 :], numpy.uint8).reshape(int(height), int(width), 3)
    values = samples / 255
    return numpy.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def neighbors(count, places):
    first = numpy.floor(places).astype(int)
    return numpy.clip(first, 0, count - 1), numpy.clip(first + 1, 0, count - 1), places - first


def interpolated(gains, size, is_centered):
    """Interpolates the map bilinearly, or by inverse distances without centers of pixels, as libultrahdr does."""
    shift = 0.5 if is_centered else 0
    top, bottom, y = neighbors(gains.shape[0], (numpy.arange(size[0]) + shift) * gains.shape[0] / size[0] - shift)
    left, right, x = neighbors(gains.shape[1], (numpy.arange(size[1]) + shift) * gains.shape[1] / size[1] - shift)
    y, x = y[:, None], x[None, :]
    corners = [(gains[a][:, b], abs(v - y), abs(u - x)) for a, v in ((top, 0), (bottom, 1)) for b, u in ((left, 0), (right, 1))]
    if is_centered:
        return sum(corner * (1 - v) * (1 - u) for corner, v, u in corners)
    weights = [1 / numpy.maximum(numpy.hypot(v, u), 1e-9) for _, v, u in corners]
    return sum(corner * weight for (corner, _, _), weight in zip(corners, weights)) / sum(weights)


def main():
    path = sys.argv[1]
    data = open(path, "rb").read()
    start = data.rindex(b"\xff\xd8\xff")
    text = data[start:].decode("latin-1")
    number = lambda name: float(re.search(f'hdrgm:{name}="([^"]*)"', text)[1])
    assert number("OffsetSDR") == 0 == number("OffsetHDR") and number("Gamma") == 1
    smooth, nearest = base(path, []), base(path, ["-nosmooth"])
    gains = imagecodecs.jpeg8_decode(data[start:]) / 255
    maps = [interpolated(gains, smooth.shape, is_centered) for is_centered in (True, False)]
    print("| headroom | smooth chroma, bilinear | smooth chroma, distances | nearest chroma, bilinear | nearest chroma, distances |")
    print("|---|---|---|---|---|")
    for headroom in (1, 2, 4, 8):
        other = imagecodecs.ultrahdr_decode(
            data, dtype="float16", transfer=imagecodecs.ULTRAHDR.CT.LINEAR, boost=headroom
        )[..., :3].astype(float)
        low, high = number("HDRCapacityMin"), number("HDRCapacityMax")
        weight = min(max((math.log2(headroom) - low) / (high - low), 0), 1)
        cells = []
        for light in (smooth, nearest):
            for gain in maps:
                stops = number("GainMapMin") + (number("GainMapMax") - number("GainMapMin")) * gain
                rendered = numpy.clip(light * (2 ** (stops * weight))[..., None], 0, headroom)
                cells.append(f"{ratio(rendered, other):.1f} dB")
        print(f"| {headroom} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
