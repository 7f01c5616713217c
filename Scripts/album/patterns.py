# SPDX-License-Identifier: MIT
"""Draws gradients, flow, cells, waves, engravings, maps, and objects on a transparent background."""
import numpy as np
from canvas import blend, blur, fractal, glow, grid, halve, noise, ramp, rgb, smooth


def mesh(width, height, colours, seed):
    """A warped gradient of colors."""
    x, y = grid(width, height)
    wx, wy = x + 0.34 * noise(x * 1.3, y * 1.3, seed), y + 0.34 * noise(x * 1.3 + 7, y * 1.3, seed + 1)
    rng = np.random.default_rng(seed)
    total, weights = 0, 0
    columns = (len(colours) + 1) // 2
    for index, colour in enumerate(colours):
        px = (index % columns + 0.5 + rng.uniform(-0.3, 0.3)) / columns * width / height
        py = 0.22 + 0.56 * (index // columns) + rng.uniform(-0.15, 0.15)
        w = 1 / (((wx - px) ** 2 + (wy - py) ** 2) ** 1.5 + 0.004)
        total, weights = total + w[..., None] * rgb(colour), weights + w
    return total / weights[..., None]


def flow(width, height, seed=8):
    """1,200 strokes along a vector field, on a transparent background."""
    w, h = width * 2, height * 2
    rng = np.random.default_rng(seed)
    colour, alpha = np.zeros((h, w, 3)), np.zeros((h, w))
    n = 1500
    px, py = rng.uniform(-0.05, 1.05, n) * w, rng.uniform(-0.05, 1.05, n) * h
    tints = ramp(np.clip(py / h + rng.normal(0, 0.13, n), 0, 1), (0, '#003049'), (0.3, '#2a9d8f'), (0.5, '#e9c46a'), (0.75, '#f77f00'), (1, '#d62828'))
    reach = rng.uniform(0.4, 1, n)
    wide = rng.choice([1.6, 2.2, 3.4], n)
    disc = [(i, j) for i in range(-4, 5) for j in range(-4, 5)]
    steps = 260
    for step in range(steps):
        angle = 2.6 * np.pi * fractal(px / h * 1.1, py / h * 1.1, 2, seed) + 0.5
        px, py = px + np.cos(angle) * 1.6, py + np.sin(angle) * 1.6
        live = step < reach * steps
        thick = wide * np.sin(np.pi * np.clip(step / (reach * steps), 0.02, 0.98)) ** 0.5
        for i, j in disc:
            hit = live & (i * i + j * j <= thick * thick)
            column, row = (px[hit] + i).astype(int), (py[hit] + j).astype(int)
            inside = (column >= 0) & (column < w) & (row >= 0) & (row < h)
            colour[row[inside], column[inside]] = tints[hit][inside]
            alpha[row[inside], column[inside]] = 1
    return cutout(colour, alpha)


def cutout(colour, alpha):
    """Converts the drawing to straight RGBA at half the size."""
    alpha = alpha[..., None]
    light, cover = halve(colour * alpha), halve(alpha)
    return np.concatenate([light / np.maximum(cover, 1e-6), cover], -1)


def glass(width, height, seed=14):
    """A church window: cells between lead lines."""
    x, y = grid(width * 2, height * 2)
    rng = np.random.default_rng(seed)
    ratio = width / height
    angle = np.concatenate([np.arange(k) / k * 2 * np.pi + r * 1.7 for r, k in zip((0.10, 0.21, 0.33, 0.46, 0.62, 0.80), (6, 12, 18, 26, 34, 44))])
    radius = np.concatenate([np.full(k, r) for r, k in zip((0.10, 0.21, 0.33, 0.46, 0.62, 0.80), (6, 12, 18, 26, 34, 44))])
    radius = radius + rng.normal(0, 0.012, radius.size)
    cx = np.append(ratio / 2 + radius * np.cos(angle), ratio / 2)
    cy = np.append(0.5 + radius * np.sin(angle), 0.5)
    nearest, second = np.full(x.shape, 9.0), np.full(x.shape, 9.0)
    owner = np.zeros(x.shape, int)
    for index in range(cx.size):
        d = np.hypot(x - cx[index], y - cy[index])
        closer = d < nearest
        second = np.where(closer, nearest, np.minimum(second, d))
        owner = np.where(closer, index, owner)
        nearest = np.where(closer, d, nearest)
    hues = np.append(radius / 0.82, 0) + rng.normal(0, 0.06, cx.size)
    tint = ramp(np.clip(hues, 0, 1), (0, '#fff3b0'), (0.2, '#f9a03f'), (0.4, '#d1345b'), (0.62, '#6a2c91'), (0.8, '#1e63b4'), (1, '#0d9488'))
    tint = np.clip(tint * rng.uniform(0.82, 1.18, (cx.size, 1)), 0, 1)
    picture = tint[owner] * (0.80 + 0.35 * fractal(x * 7, y * 7, 4, seed))[..., None]
    picture = glow(np.clip(picture, 0, 1), rgb('#fff1c9'), np.exp(-np.hypot(x - ratio / 2, y - 0.5) * 3.4) * 0.55)
    return halve(blend(picture, rgb('#0c0a12'), smooth(0.011, 0.006, second - nearest)))


def waves(width, height, seed=2):
    """Layers of a stylized sea under a red sun."""
    x, y = grid(width * 2, height * 2)
    picture = ramp(y, (0, '#f6e7cb'), (0.6, '#f3c9a5'))
    picture = blend(picture, rgb('#d1495b'), smooth(0.2035, 0.1985, np.hypot(x - 0.98, y - 0.38)))
    colours = ['#9cc5c9', '#6ba6b5', '#3d7f98', '#22577a', '#153b5c', '#0b2540']
    for layer, colour in enumerate(colours):
        phase = x * (5.2 - 0.35 * layer) + layer * 1.9
        crest = 0.44 + 0.098 * layer - 0.035 * (1 - np.abs(np.sin(phase))) ** 1.4 * 1.9 - 0.012 * np.sin(phase * 0.37 + layer)
        edge = (y - crest) * height * 2
        picture = blend(picture, rgb(colour), np.clip(edge, 0, 1))
        for line in range(3):
            offset = 0.018 + 0.020 * line
            picture = blend(picture, rgb('#f6e7cb'), smooth(0.0026, 0.0012, np.abs(y - crest - offset)) * (0.55 - 0.16 * line))
    return halve(picture)


def guilloche(width, height):
    """Engraved rosettes as on banknotes, on a transparent background."""
    w, h = width * 2, height * 2
    y, x = np.mgrid[0:h, 0:w]
    u, v = (x + 0.5 - w / 2) / h, (y + 0.5 - h / 2) / h
    r, a = np.hypot(u, v), np.arctan2(v, u)
    alpha, colour = np.zeros((h, w)), np.zeros((h, w, 3))
    for base, swing, petals, lines, tint in [(0.40, 0.055, 18, 26, ('#0b5351', '#00a9a5')), (0.27, 0.07, 12, 22, ('#4e2a84', '#c05299')), (0.13, 0.07, 8, 16, ('#b5382a', '#f3a712'))]:
        for line in range(lines):
            shift = 2 * np.pi * line / lines
            path = base + swing * np.sin(petals * a + shift) * (0.75 + 0.25 * np.cos(shift * 2)) + 0.018 * np.sin(petals * 2 * a - shift)
            slope = np.hypot(1, petals * swing * np.cos(petals * a + shift) / np.maximum(r, 0.03))
            ink = smooth(0.0021, 0.0009, np.abs(r - path) / slope)
            tone = rgb(tint[0]) + (rgb(tint[1]) - rgb(tint[0])) * (0.5 + 0.5 * np.sin(shift))
            colour = blend(colour, tone, ink)
            alpha = np.maximum(alpha, ink)
    return cutout(colour, alpha)


def contours(width, height, seed=9):
    """A contour map of hills, with few colors for a palette."""
    x, y = grid(width * 2, height * 2)
    land = fractal(x * 1.5 + 3, y * 1.5, 5, seed, 0.42) + 0.22 * np.cos((x - 0.7) * 2.2) * np.cos((y - 0.45) * 2.6)
    level = np.clip((land + 0.52) / 1.05, 0, 0.999) * 22
    tone = np.floor(level / 2) / 10
    picture = ramp(tone, (0, '#24576f'), (0.24, '#5f9ea0'), (0.30, '#e9e3b4'), (0.5, '#a9c586'), (0.72, '#c9a66b'), (0.9, '#a5694f'), (1, '#f5f0e6'))
    slope = np.hypot(*np.gradient(level)) + 1e-6
    line = np.abs(level - np.round(level)) / slope
    heavy = np.round(level) % 5 == 0
    picture = blend(picture, rgb('#3c2f2f'), np.clip(np.where(heavy, 2.2, 1.25) - line, 0, 1) * np.where(heavy, 0.75, 0.42))
    return halve(picture)


def planet(width, height, seed=17):
    """A planet with rings on a transparent background."""
    w, h = width * 2, height * 2
    y, x = np.mgrid[0:h, 0:w]
    u, v = (x + 0.5 - w / 2) / h, (y + 0.5 - h / 2) / h
    tilt = 0.42
    p, q = u * np.cos(tilt) + v * np.sin(tilt), -u * np.sin(tilt) + v * np.cos(tilt)
    radius = 0.27
    d = np.hypot(u, v)
    body = np.clip((radius - d) * h + 0.5, 0, 1)
    z = np.sqrt(np.clip(radius ** 2 - d ** 2, 0, None)) / radius
    band = q / radius * 3.2 + 0.10 * fractal(p * 9 / (z + 0.5), q * 16, 4, seed)
    tone = 0.5 + 0.5 * np.sin(band * 3.1) * np.cos(band * 1.3 + 1)
    colour = ramp(tone, (0, '#8a4b2f'), (0.35, '#d99a5b'), (0.7, '#f6d8a8'), (1, '#fff4df'))
    light = np.clip((-u * 0.62 - v * 0.5) / radius + z * 0.62, 0.03, 1)
    colour = colour * (light ** 0.8)[..., None]
    ring = np.hypot(p, q / 0.27)
    grain = 0.62 + 0.55 * noise(ring * 95, ring * 0, seed) + 0.25 * noise(ring * 260, ring * 0, seed + 1)
    cover = smooth(0.335, 0.342, ring) * smooth(0.497, 0.490, ring) * np.clip(grain, 0.15, 1) * (1 - 0.9 * smooth(0.004, 0.002, np.abs(ring - 0.432)))
    tint = ramp((ring - 0.335) / 0.16, (0, '#7c6a5a'), (0.4, '#f0dcc0'), (1, '#b59a84'))
    tint = tint * np.clip(0.86 - 0.75 * u, 0.4, 1.1)[..., None]
    front = (q > 0) * cover
    back = (q <= 0) * cover * (1 - body)
    alpha = np.maximum(body, back)
    colour = blend(np.where((body > 0)[..., None], colour, tint), tint, front)
    return cutout(colour, np.maximum(alpha, front))


def bubble(width, height, seed=23):
    """A soap bubble that is thin in the center and iridescent at the rim."""
    w, h = width * 2, height * 2
    y, x = np.mgrid[0:h, 0:w]
    u, v = (x + 0.5 - w / 2) / h * 2.15, (y + 0.5 - h / 2) / h * 2.15
    d = np.hypot(u, v)
    inside = np.clip((1 - d) * h / 2.15 + 0.5, 0, 1)
    film = 1.5 * d ** 3 + 0.8 * noise(u * 0.45 + 0.3 * v + 3.3, v * 0.6 - 0.3 * u + 1.6, seed) + 0.08 * fractal(u * 1.5, v * 2.5, 2, seed) + v * 0.6
    colour = np.stack([0.5 + 0.5 * np.cos(2 * np.pi * (film + shift)) for shift in (0.0, 0.33, 0.67)], -1)
    colour = 0.42 + 0.58 * colour
    alpha = 0.08 + 0.72 * np.clip(d, 0, 1) ** 7 + 0.24 * np.clip(d, 0, 1) ** 2
    shine = np.exp(-(((u + 0.42) * 1.2) ** 2 + ((v + 0.5) * 2.1) ** 2) / 0.018) + 0.6 * np.exp(-(((u - 0.45) * 1.3) ** 2 + ((v - 0.52) * 2) ** 2) / 0.012)
    shine = np.clip(shine, 0, 1)
    return cutout(blend(colour, np.ones(3), shine), np.clip(alpha + shine, 0, 1) * inside)
