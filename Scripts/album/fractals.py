# SPDX-License-Identifier: MIT
"""Draws escape-time fractals and a strange attractor."""
import numpy as np
from canvas import blur, halve, ramp, rgb

PALETTES = {
    'sea': ((0, '#04102b'), (0.16, '#0b3c6f'), (0.36, '#2fa4b5'), (0.5, '#f4f1de'), (0.62, '#f2a65a'),
            (0.8, '#8a2c3b'), (1, '#04102b')),
    'violet': ((0, '#0b0221'), (0.2, '#3b1c71'), (0.42, '#d76d77'), (0.58, '#ffe1a8'), (0.75, '#5fb3ce'),
               (0.9, '#1b3b6f'), (1, '#0b0221')),
}


def escape(z, c, steps):
    """The smooth escape time of each point, which is negative for points that never escape."""
    z, c = z.ravel().copy(), np.broadcast_to(c, z.shape).ravel().copy()
    count, alive = np.full(z.size, -1.0), np.arange(z.size)
    for step in range(steps):
        z = z * z + c
        size = z.real ** 2 + z.imag ** 2
        out = size > 1e6
        count[alive[out]] = step + 1 - np.log2(np.log(size[out]) / np.log(1e6) * 2)
        keep = ~out
        z, c, alive = z[keep], c[keep], alive[keep]
    return count


def plane(width, height, centre, span):
    y, x = np.mgrid[0:height, 0:width]
    unit = span / width
    return centre + ((x + 0.5 - width / 2) + 1j * (height / 2 - y - 0.5)) * unit


def coloured(count, shape, palette, pace, shift):
    count = count.reshape(shape)
    t = (np.sqrt(np.clip(count, 0, None)) * pace + shift) % 1
    picture = ramp(t, *PALETTES[palette])
    picture[count < 0] = rgb('#05060f')
    return halve(picture)


def mandelbrot(width, height):
    """The seahorse valley of the Mandelbrot set."""
    points = plane(width * 2, height * 2, -0.7454 + 0.1130j, 0.0085)
    return coloured(escape(np.zeros_like(points), points, 900), points.shape, 'sea', 0.16, 0.05)


def julia(width, height):
    """A Julia set with fine structures."""
    points = plane(width * 2, height * 2, 0, 3.0)
    return coloured(escape(points, -0.7885 + 0.145j, 500), points.shape, 'violet', 0.13, 0.02)


def attractor(width, height):
    """The density of four million steps of Clifford's map."""
    a, b, c, d = -1.7, 1.8, -1.9, -0.4
    rng = np.random.default_rng(5)
    x, y = rng.uniform(-1, 1, (2, 20_000))
    w, h = width * 2, height * 2
    density, direction = np.zeros(w * h), np.zeros(w * h)
    for step in range(420):
        x, y, old = np.sin(a * y) + c * np.cos(a * x), np.sin(b * x) + d * np.cos(b * y), x
        if step < 20:
            continue
        column = np.clip(((x + 3.1) / 6.2 * w).astype(int), 0, w - 1)
        row = np.clip(((y + 1.55) / 3.1 * h).astype(int), 0, h - 1)
        place = row * w + column
        density += np.bincount(place, minlength=w * h)
        direction += np.bincount(place, weights=np.abs(x - old), minlength=w * h)
    hue = (direction / np.maximum(density, 1)).reshape(h, w)
    light = np.log1p(blur(density.reshape(h, w), 1))
    light = np.clip(light / np.percentile(light, 99.9), 0, 1)[..., None]
    colour = ramp(blur(hue, 2) / 3.2, (0, '#ffd27d'), (0.35, '#ff6f91'), (0.7, '#6a5cff'), (1, '#38d6ff'))
    ground = rgb('#070a1c')
    return halve(np.clip(ground + (colour * 1.15 - ground) * light ** 1.15 + light ** 5 * 0.5, 0, 1))
