# SPDX-License-Identifier: MIT
"""Draws the frames of the animated images. The last frame of each animation leads into the first."""
import numpy as np
from canvas import blend, fractal, glow, grid, halve, ramp, rgb, smooth, stars


def solid(a, b, c, scale, seed):
    """Values that resemble three-dimensional noise."""
    a, b, c = a * scale, b * scale, c * scale
    return (fractal(a + 5, b + 3, 5, seed, 0.55) + fractal(b + 9, c + 1, 5, seed + 7, 0.55)
            + fractal(c + 2, a + 8, 5, seed + 13, 0.55)) * 0.62


def globe(side, frames, seed=5):
    """A blue planet that rotates once."""
    s = side * 2
    y, x = np.mgrid[0:s, 0:s]
    u, v = (x + 0.5 - s / 2) / s * 2.35, (y + 0.5 - s / 2) / s * 2.35
    d = np.hypot(u, v)
    z = np.sqrt(np.clip(1 - d * d, 0, None))
    tilt = 0.35
    p, q = u * np.cos(tilt) + v * np.sin(tilt), -u * np.sin(tilt) + v * np.cos(tilt)
    around, up = np.arctan2(p, z + 1e-9), np.arcsin(np.clip(q, -1, 1))
    light = np.clip(-0.55 * u - 0.42 * v + 0.72 * z, 0, 1)
    field = stars(side, side, 60, seed, 0.8).mean(-1)
    for frame in range(frames):
        turn = around + 2 * np.pi * frame / frames
        # Use noise in three planes, so that the map has no seam.
        a, b, c = np.cos(turn) * np.cos(up), np.sin(turn) * np.cos(up), np.sin(up)
        land = solid(a, b, c, 1.35, seed) + 0.02
        cloud = smooth(0.10, 0.55, solid(a + 4, b + 4, c * 2.2, 1.7, seed + 20))
        ground = ramp(np.clip(land * 1.5 + 0.25, 0, 1), (0, '#5fa463'), (0.5, '#c9b27a'), (1, '#8a6a4a'))
        sea = ramp(np.clip(-land * 2.2, 0, 1), (0, '#2f9bc6'), (0.4, '#1a63a8'), (1, '#0e3a78'))
        colour = blend(sea, ground, smooth(-0.01, 0.02, land))
        colour = blend(colour, rgb('#f2f7fa'), smooth(1.12, 1.22, np.abs(up) + 0.12 * land))
        colour = blend(colour, np.ones(3), cloud * 0.85) * (0.06 + 0.98 * light)[..., None]
        air = np.exp(-np.clip(d - 1, 0, 9) * 13) * smooth(1.05, -0.6, u * 0.79 + v * 0.6) * (d > 1)
        picture = np.tile(rgb('#060918'), (s, s, 1))
        picture = glow(picture, rgb('#4aa8ff'), air * 0.6)
        colour = glow(colour, rgb('#7fc4ff'), smooth(0.75, 1.0, d) * light * 0.6)
        picture = blend(picture, colour, np.clip((1 - d) * s / 2.35 + 0.5, 0, 1))
        yield glow(halve(picture), np.ones(3), field * (halve(d[..., None])[..., 0] > 1.02))


def orbit(side, frames):
    """Dots that move on circles, each row with a delay."""
    s = side * 2
    y, x = np.mgrid[0:s, 0:s]
    u, v = (x + 0.5 - s / 2) / s * 2, (y + 0.5 - s / 2) / s * 2
    tints = ['#ff595e', '#ff924c', '#ffca3a', '#8ac926', '#36b5a0', '#1982c4', '#6a4c93']
    for frame in range(frames):
        t = 2 * np.pi * frame / frames
        picture = np.tile(rgb('#10131f'), (s, s, 1))
        for index, tint in enumerate(tints):
            radius = 0.16 + 0.115 * index
            track = smooth(0.008, 0.003, np.abs(np.hypot(u, v) - radius))
            picture = blend(picture, rgb('#262b40'), track)
            for arm in range(3):
                angle = t / 3 + 2 * np.pi * arm / 3 + 0.9 * np.sin(t + index * 0.55)
                px, py = radius * np.cos(angle), radius * np.sin(angle)
                size = 0.030 + 0.005 * index
                picture = blend(picture, rgb(tint), smooth(size + 0.008, size - 0.008, np.hypot(u - px, v - py)))
        yield halve(picture)


def lava(width, height, frames):
    """Drops that merge."""
    x, y = grid(width, height)
    ratio = width / height
    rng = np.random.default_rng(12)
    drops = [(rng.uniform(0.15, ratio - 0.15), rng.uniform(0.06, 0.15), rng.integers(1, 3), rng.uniform(0, 6.28), rng.uniform(0.25, 0.4)) for _ in range(9)]
    for frame in range(frames):
        t = 2 * np.pi * frame / frames
        field = np.zeros_like(x)
        for px, size, speed, phase, swing in drops:
            cx, cy = px + 0.07 * np.sin(t * speed + phase * 2), 0.5 + swing * np.sin(t * speed + phase)
            field += size ** 2 / ((x - cx) ** 2 + (y - cy) ** 2 + 1e-4)
        ground = ramp(y + 0.06 * np.sin(x * 3 + t), (0, '#2b0a5e'), (0.5, '#5a189a'), (1, '#b5179e'))
        body = ramp(np.clip(np.log(field + 0.3) * 0.55 + 0.12 - 0.22 * (y - 0.5), 0, 1), (0, '#f72585'), (0.4, '#ff6b35'), (0.75, '#ffbe0b'), (1, '#fff3b0'))
        halo = glow(ground, rgb('#ff4d8d'), np.clip(field - 0.25, 0, 1) * 0.5)
        yield blend(halo, body, smooth(0.92, 1.06, field))


def outrun(width, height):
    """A road toward a striped sun, with few colors for GIF."""
    x, y = grid(width * 2, height * 2)
    middle, horizon = width / height / 2, 0.62
    picture = ramp(y, (0, '#0d0630'), (0.35, '#3b0f70'), (0.62, '#d13a8a'))
    picture = glow(picture, np.ones(3), stars(width * 2, height * 2, 130, 3, 1.2).mean(-1) * smooth(0.42, 0.1, y))
    d = np.hypot(x - middle, y - 0.40)
    gaps = (np.sin(y ** 2 * 150) > np.clip((0.66 - y) * 5.0 - 0.5, -1, 1)) | (y < 0.36)
    picture = glow(picture, rgb('#ff5fa2'), np.exp(-d * 5) * 0.5)
    picture = blend(picture, ramp((y - 0.15) / 0.47, (0, '#fff275'), (0.5, '#ff8c42'), (1, '#ff3c8e')), smooth(0.252, 0.248, d) * gaps)
    for layer, colour in enumerate(['#5b1a7d', '#2a0a4f']):
        crest = horizon - (0.15 - 0.05 * layer) * np.abs(fractal(x[:1] * (1.8 + layer), x[:1] * 0 + layer, 5, 7 + layer, 0.5)) * smooth(0.05, 0.45, np.abs(x[:1] - middle)) * 2.2
        picture = blend(picture, rgb(colour), np.clip((y - crest) * height * 2, 0, 1))
    depth = np.clip(y - horizon, 1e-3, 1)
    floor = ramp(depth, (0, '#3a0d66'), (0.38, '#0b0424'))
    across = np.abs(((x - middle) / depth * 0.62 + 0.5) % 1 - 0.5) * depth / 0.62
    along = np.abs((0.16 / depth) % 1 - 0.5) / 0.16 * depth ** 2
    line = np.maximum(smooth(0.0042, 0.0012, across), smooth(0.006, 0.0015, along))
    floor = glow(floor, rgb('#27e8ff'), np.clip(line, 0, 1) * np.clip(depth * 3.2 - 0.02, 0, 1))
    floor = glow(floor, rgb('#ff4fa3'), np.exp(-depth * 26) * 0.55)
    return halve(blend(picture, floor, np.clip((y - horizon) * height * 2, 0, 1)))
