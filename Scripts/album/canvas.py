# SPDX-License-Identifier: MIT
"""Shared tools for drawing. A canvas is an array of height x width x 3 (or 4) sRGB values from 0 to 1."""
import numpy as np


def rgb(text):
    """Converts '#rrggbb' to three numbers from 0 to 1."""
    return np.array([int(text[i:i + 2], 16) / 255 for i in (1, 3, 5)])


def smooth(edge0, edge1, x):
    t = np.clip((x - edge0) / (edge1 - edge0), 0, 1)
    return t * t * (3 - 2 * t)


def ramp(t, *stops):
    """A smooth gradient of colors for positions from 0 to 1. `stops` are (position, '#rrggbb')."""
    places = [place for place, _ in stops]
    colours = np.array([rgb(colour) for _, colour in stops])
    t = np.clip(t, places[0], places[-1])
    return np.stack([np.interp(t, places, colours[:, c]) for c in range(3)], -1)


def grid(width, height):
    """The x and y of the center of each pixel. y is 0...1 from the top, and x preserves the aspect ratio."""
    y, x = np.mgrid[0:height, 0:width]
    return (x + 0.5) / height, (y + 0.5) / height


def noise(x, y, seed):
    """Gradient noise for any coordinates, with values of about -0.7...0.7."""
    angles = np.random.default_rng(seed).uniform(0, 2 * np.pi, (256, 256))
    x0, y0 = np.floor(x).astype(int), np.floor(y).astype(int)
    fx, fy = x - x0, y - y0

    def corner(i, j):
        a = angles[(y0 + j) & 255, (x0 + i) & 255]
        return np.cos(a) * (fx - i) + np.sin(a) * (fy - j)

    u, v = (f * f * f * (f * (f * 6 - 15) + 10) for f in (fx, fy))
    top = corner(0, 0) * (1 - u) + corner(1, 0) * u
    bottom = corner(0, 1) * (1 - u) + corner(1, 1) * u
    return top * (1 - v) + bottom * v


def fractal(x, y, octaves, seed, gain=0.5, ridged=False):
    """A sum of noise with increasing frequency. Ridged noise has creases like rock."""
    total, weight = np.zeros(np.broadcast(x, y).shape), 1.0
    for octave in range(octaves):
        n = noise(x * 2 ** octave, y * 2 ** octave, seed + octave)
        total += weight * ((0.5 - np.abs(n) * 1.4) if ridged else n)
        weight *= gain
    return total


def blend(under, over, amount):
    """Blends `over` onto `under` by `amount`, from 0 to 1."""
    return under + (over - under) * np.asarray(amount)[..., None]


def glow(picture, colour, amount):
    """Adds light and keeps the values in 0...1."""
    return 1 - (1 - picture) * (1 - np.asarray(colour) * np.clip(amount, 0, 1)[..., None])


def halve(picture):
    """Averages 2 x 2 pixels, which smooths the edges of an image that is drawn at double size."""
    h, w = picture.shape[0] // 2 * 2, picture.shape[1] // 2 * 2
    p = picture[:h, :w]
    return (p[0::2, 0::2] + p[1::2, 0::2] + p[0::2, 1::2] + p[1::2, 1::2]) / 4


def blur(field, radius):
    """Blurs with three box passes along both axes, which approximate a Gaussian blur."""
    for axis in (0, 1):
        for _ in range(3):
            n = 2 * radius + 1
            pad = [(0, 0)] * field.ndim
            pad[axis] = (radius + 1, radius)
            sums = np.cumsum(np.pad(field, pad, mode='edge'), axis=axis)
            high = np.take(sums, range(n, sums.shape[axis]), axis=axis)
            low = np.take(sums, range(0, sums.shape[axis] - n), axis=axis)
            field = (high - low) / n
    return field


def stars(width, height, count, seed, size=1.0):
    """Stars with a bright core, some of them with a halo."""
    rng = np.random.default_rng(seed)
    sky = np.zeros((height, width, 3))
    for _ in range(count):
        x, y = rng.uniform(3, width - 3), rng.uniform(3, height - 3)
        power = rng.pareto(2.2) * 0.16 + 0.08
        radius = min(3.2, 0.55 + power * 0.8) * size
        tint = np.array([1, 1, 1]) - rng.uniform(0, 0.35) * rng.choice([[0, 0.25, 0.6], [0.6, 0.25, 0]])
        r = int(np.ceil(radius * 3))
        x0, x1, y0, y1 = max(0, int(x) - r), min(width, int(x) + r + 1), max(0, int(y) - r), min(height, int(y) + r + 1)
        yy, xx = np.mgrid[y0:y1, x0:x1]
        d = np.hypot(xx + 0.5 - x, yy + 0.5 - y)
        sky[y0:y1, x0:x1] += np.exp(-(d / radius) ** 2)[..., None] * tint * min(1, power * 2.2)
    return np.clip(sky, 0, 1)
