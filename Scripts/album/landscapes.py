# SPDX-License-Identifier: MIT
"""Draws mountains, seas, and night skies."""
import numpy as np
from canvas import blend, blur, fractal, glow, grid, noise, ramp, rgb, smooth, stars


def ridge(x, level, height, detail, seed):
    """The outline of a mountain range: the y of its crest for each x."""
    line = fractal(x * detail, np.full_like(x, seed * 7.31), 8, seed, 0.48, ridged=True)
    return level - height * line


def range_of(picture, x, y, crest, near, far, mist, light=0.0, seed=0, octaves=6):
    """A mountain range that is dark at the crest, hazy at its foot, and lit from the left."""
    height = picture.shape[0]
    inside = np.clip((y - crest) * height + 0.5, 0, 1)
    depth = np.clip((y - crest) / mist, 0, 1)
    colour = near + (far - near) * (depth ** 1.3)[..., None]
    if light:
        # Draw slanted creases that run down from the crest.
        fold = fractal(x * 5 + y * 2.5, y * 5, octaves, seed + 50, 0.55, ridged=True)
        slope = np.gradient(fold, axis=1) * height * 0.09
        shade = np.clip(slope, -1, 1) * (1 - depth) * light
        colour = np.clip(colour + shade[..., None] * np.array([1, 0.86, 0.74]), 0, 1)
    return blend(picture, colour, inside)


def dusk(width, height, seed=4):
    """Seven mountain ranges at sunset."""
    x, y = grid(width, height)
    sky = ramp(y + 0.03 * noise(x * 2, y * 3, seed), (0, '#2b2f6b'), (0.22, '#6a4c93'), (0.4, '#e2718a'),
               (0.54, '#ffb480'), (0.66, '#ffe3b0'))
    clouds = smooth(0.05, 0.5, fractal(x * 1.6 + 9, y * 9, 6, seed + 1)) * smooth(0.62, 0.2, y)
    sky = blend(sky, ramp(y, (0, '#8a6aa8'), (0.3, '#ff9d8a'), (0.55, '#fff0c4')), clouds * 0.75)
    distance = np.hypot(x - 0.98, y - 0.49)
    picture = glow(sky, rgb('#ffdf9e'), np.exp(-distance * 5) * 0.75)
    picture = blend(picture, rgb('#fff8e2'), smooth(0.0515, 0.0490, distance))
    for layer in range(7):
        t = layer / 6
        crest = ridge(x[:1], 0.60 + 0.075 * layer, 0.13 + 0.03 * t, 1.3 + 0.55 * t, seed * 31 + layer)
        colour = ramp(np.array(t), (0, '#f2a592'), (0.3, '#c2708f'), (0.6, '#6f4183'), (1, '#170f33'))
        haze = ramp(np.array(t), (0, '#ffd9ae'), (0.4, '#f09a96'), (1, '#6b3f80'))
        picture = range_of(picture, x, y, crest, colour, haze, 0.24, 0.02 + 0.06 * t, layer)
    return glow(picture, rgb('#ffb27a'), np.exp(-distance * 2.4) * 0.22)


def peaks(width, height, seed=11):
    """Snow and rock under a clear morning sky. This is the large image of the album."""
    x, y = grid(width, height)
    picture = ramp(y, (0, '#1f5fa8'), (0.3, '#6fb1e0'), (0.52, '#d8ecf2'), (0.62, '#fbeedd'))
    puffs = smooth(0.02, 0.45, fractal(x * 1.3 + 3, y * 5.5, 6, seed)) * smooth(0.5, 0.16, y)
    picture = blend(picture, np.ones(3), puffs * 0.8)
    layers = [(0.52, 0.26, 1.5, '#9db9d6', '#e8f0f4'), (0.62, 0.30, 1.25, '#5f84ad', '#dbe8ee'),
              (0.75, 0.24, 1.6, '#345a7e', '#b9d2d6'), (0.88, 0.15, 2.3, '#1d4452', '#7fae9e'),
              (1.00, 0.12, 3.2, '#0e2c30', '#2d6a56')]
    for index, (level, size, detail, near, far) in enumerate(layers):
        crest = ridge(x[:1], level, size, detail, seed + index * 17)
        picture = range_of(picture, x, y, crest, rgb(near), rgb(far), 0.30, 0.20, seed + index, 6)
        if index < 2:
            # Draw snow above an irregular line, except on steep slopes.
            line = level - size * 0.16 + 0.05 * fractal(x * 6, y * 6, 4, seed + 90 + index)
            fold = fractal(x * 9 + y * 5, y * 9, 5, seed + 60 + index, 0.55, ridged=True)
            snow = smooth(0.03, -0.03, y - line) * smooth(-0.05, 0.22, fold) * np.clip((y - crest) * height, 0, 1)
            sun = np.clip(0.88 + np.gradient(fold, axis=1) * height * 0.03, 0.8, 1)
            picture = blend(picture, sun[..., None] * rgb('#f8fbff') + rgb('#3a6ea8') * (1 - sun[..., None]),
                            snow * (0.8 - 0.3 * index) * smooth(0.30, 0.06, y - crest))
    return picture


def aurora(width, height, seed=21):
    """An aurora over a frozen lake."""
    x, y = grid(width, height)
    shore = 0.70
    mirrored = np.where(y > shore, 2 * shore - y, y)
    sky = ramp(mirrored, (0, '#050817'), (0.4, '#0a1633'), (0.7, '#123a4a'))
    field = stars(width, height, int(width * height / 1500), seed, height / 900)
    sky = glow(sky, np.ones(3), field.mean(-1) * (y < shore))
    for index, (level, tall, hue, top) in enumerate(
            [(0.33, 0.30, '#2be08f', '#8a3cff'), (0.50, 0.40, '#52ffb0', '#b03cff')]):
        bend = level + 0.34 * noise(x * 0.85 + index * 5, x * 0 + 0.4, seed + index)
        bend = bend + 0.05 * noise(x * 4.3, mirrored * 2, seed + 9) + 0.016 * noise(x * 26, x * 0, seed + 12)
        above = (bend - mirrored) / tall
        rays = 0.55 + 0.75 * fractal(x * 16 + index * 3 + 2 * bend, mirrored * 0.5, 4, seed + 30 + index, 0.6)
        body = smooth(-0.16, 0.05, above) * np.exp(-np.clip(above, 0, 9) * 2.6) * np.clip(rays, 0, 1.5)
        sky = glow(sky, rgb(hue), body * 0.95 + np.exp(-np.abs(above) * 3.2) * 0.10)
        sky = glow(sky, rgb(top), body * smooth(0.12, 0.8, above) * 1.2)
    picture = sky
    for layer in range(2):
        crest = ridge(x[:1], shore - 0.02 + 0.025 * layer, 0.10 - 0.03 * layer, 2.2 + layer, seed + layer * 5)
        pines = 0.0 if layer == 0 else 0.016 * np.abs(noise(x[:1] * 70, x[:1] * 0, seed + 77))
        crest = np.minimum(crest - pines, shore)
        picture = blend(picture, rgb(['#0c2436', '#050d18'][layer]),
                        np.clip((mirrored - crest) * height + 0.5, 0, 1))
    water = smooth(shore - 0.001, shore + 0.002, y)
    ripple = noise(x * 3, (y - shore) * 90, seed + 3) * 0.10 + noise(x * 14, (y - shore) * 260, seed + 4) * 0.05
    dimmed = picture * (0.72 + ripple)[..., None] + rgb('#06141f') * 0.25
    return np.clip(blend(picture, dimmed, water), 0, 1)


def moonrise(width, height, seed=33):
    """A full moon over a quiet sea."""
    x, y = grid(width, height)
    horizon, middle = 0.60, width / height * 0.62
    picture = ramp(y, (0, '#071029'), (0.35, '#1a2c5b'), (0.52, '#5a5b8e'), (0.60, '#d59a8b'))
    picture = glow(picture, np.ones(3), stars(width, height, width * height // 2600, seed, height / 900).mean(-1) * smooth(0.5, 0.1, y))
    dx, dy = x - middle, y - 0.33
    d = np.hypot(dx, dy)
    picture = glow(picture, rgb('#ffe9c4'), np.exp(-d * 6.5) * 0.55)
    seas = fractal(dx * 11 + 4, dy * 11, 5, seed, 0.55)
    disc = rgb('#fff6dc') * (1 - 0.22 * smooth(-0.02, 0.32, seas))[..., None]
    picture = blend(picture, disc, smooth(0.1115, 0.1095, d))
    bands = smooth(0.08, 0.42, fractal(x * 1.2, y * 15, 5, seed + 5)) * smooth(0.12, 0.34, y)
    picture = blend(picture, rgb('#3d3b66'), bands * 0.6)
    # Draw rows of waves that grow toward the viewer and are brighter below the moon.
    depth = np.clip(y - horizon, 1e-4, 1)
    far = 0.035 / (depth + 0.012)
    wave = fractal(x * far * 16 / (1 + far), far * 26, 4, seed + 8, 0.6)
    sea = ramp(depth, (0, '#8b7590'), (0.05, '#39426f'), (0.4, '#0a1433'))
    sea = np.clip(sea + wave[..., None] * 0.16 * np.array([0.7, 0.8, 1]), 0, 1)
    path = np.exp(-(dx / (0.05 + depth * 0.42)) ** 2)
    glitter = smooth(0.02, 0.34, wave + 0.10 * noise(x * 60, depth * 240, seed + 4)) * path
    sea = glow(sea, rgb('#ffe6b8'), np.clip(glitter * 1.0 + path * 0.12, 0, 1))
    picture = blend(picture, sea, np.clip((y - horizon) * height, 0, 1))
    crest = horizon - 0.05 * np.clip(fractal(x[:1] * 2.2 + 6, x[:1] * 0, 6, seed + 40, 0.5, True), 0, 1) * smooth(0.45, 0.1, x[:1])
    return blend(picture, rgb('#141b3c'), np.clip((y - crest) * height, 0, 1) * (y < horizon))


def pines(width, height, seed=51):
    """Firs in front of a fog bank and a low sun, in portrait format."""
    x, y = grid(width, height)
    picture = ramp(y, (0, '#f7b267'), (0.3, '#f79d65'), (0.55, '#f4845f'), (0.8, '#f25c54'))
    d = np.hypot(x - 0.40, y - 0.34)
    picture = glow(picture, rgb('#fff3c9'), np.exp(-d * 3.6) * 0.85)
    picture = blend(picture, rgb('#fffbe8'), smooth(0.0925, 0.0905, d))
    rng = np.random.default_rng(seed)
    for layer in range(6):
        t = layer / 5
        ground = 0.60 + 0.068 * layer + 0.035 * noise(x[:1] * 2 + layer * 3, x[:1] * 0, seed + layer)
        top = ground[0].copy()
        size = 0.05 + 0.21 * t ** 1.3
        for place in np.arange(-0.05, width / height + 0.05, size * (0.17 + 0.12 * t)):
            cx = place + rng.uniform(-0.3, 0.3) * size * 0.3
            tall = size * rng.uniform(0.45, 1.0) * rng.choice([1, 1, 1.3])
            foot = np.interp(cx, x[0], ground[0]) + 0.42 * tall
            # Draw a narrow spire whose branches widen downward in steps.
            rise = np.linspace(0, 1, 400)
            reach = tall * (0.15 + 0.05 * t) * (1 - rise) ** 0.85 * (0.62 + 0.38 * (1 - (rise * 9) % 1))
            u = np.abs(x[0] - cx)
            for level, half in zip(foot - tall * rise, reach):
                top = np.where(u < half, np.minimum(top, level), top)
        colour = rgb('#f0a27a') * (1 - t) ** 1.2 + rgb('#1d1530') * (1 - (1 - t) ** 1.2)
        fog = rgb('#ffc79a') * (1 - t) + rgb('#6b2d4a') * t
        inside = np.clip((y - top[None]) * height + 0.5, 0, 1)
        depth = np.clip((y - ground + size * 0.3) / 0.16, 0, 1)
        picture = blend(picture, colour + (fog - colour) * (depth * 0.85)[..., None], inside)
    return glow(picture, rgb('#ffd9a0'), np.exp(-d * 2.2) * 0.25)


def dunes(width, height, seed=61):
    """Sand in light and shadow, which suits grayscale."""
    x, y = grid(width, height)
    picture = ramp(y, (0, '#101014'), (0.2, '#3c3c44'), (0.42, '#c8c8cc'))
    for layer in range(6):
        t = layer / 5
        base = 0.36 + 0.125 * layer
        crest = base + (0.05 + 0.07 * t) * noise(x[:1] * (2.6 - 1.5 * t) + layer * 9.7, x[:1] * 0 + 0.3, seed + layer) * 1.9
        below = y - crest
        lean = 0.9 * noise(x * (1.5 - 0.5 * t) + layer, y * 1.3, seed + 20 + layer)
        edge = smooth(-0.03, 0.03, lean - below * 1.4)
        ripples = np.sin((below * (330 - 170 * t) + 7 * noise(x * 3, y * 5, seed + 5) + x * 22)) * 0.035 * (0.25 + t)
        light = 0.86 - 0.1 * t - below * 1.1 + ripples
        dark = 0.13 + 0.12 * (1 - t) + below * 0.5 + ripples * 0.3
        shade = np.clip(light * edge + dark * (1 - edge), 0, 1)
        picture = blend(picture, np.repeat(shade[..., None], 3, -1), np.clip(below * height + 0.5, 0, 1))
    d = np.hypot(x - 0.22, y - 0.14)
    return blend(picture, np.ones(3), smooth(0.0425, 0.0405, d))


def lake(width, height, seed=71):
    """A lake at night, with the galaxy above it and the fires of a village on the shore."""
    x, y = grid(width, height)
    shore = 0.66
    m = np.where(y > shore, 2 * shore - y, y)
    picture = ramp(m, (0, '#04061a'), (0.35, '#0c1640'), (0.6, '#2a2f66'), (0.66, '#5d4a7d'))
    along = (x - 0.75) * 0.75 + (m - 0.3) * 0.66
    across = (x - 0.75) * 0.66 - (m - 0.3) * 0.75
    dust = fractal(x * 3, m * 3, 6, seed, 0.6)
    band = np.exp(-(across + 0.06 * dust) ** 2 / 0.016) * (0.75 + 0.5 * dust) * smooth(0.95, 0.2, np.abs(along))
    picture = glow(picture, rgb('#b79fe8'), np.clip(band, 0, 1) * 0.75)
    lane = np.exp(-(across + 0.02 + 0.08 * dust) ** 2 / 0.0016) * smooth(-0.1, 0.3, dust)
    picture = blend(picture, rgb('#0b0b22'), np.clip(lane, 0, 1) * 0.55)
    field = stars(width, height, width * height // 420, seed, height / 900)
    picture = glow(picture, np.ones(3), np.clip(field.mean(-1) * (1.1 + 1.5 * np.clip(band, 0, 1)), 0, 1) * (y < shore))
    crest = np.minimum(ridge(x[:1], shore - 0.015, 0.14, 1.5, seed + 2), shore)
    picture = blend(picture, rgb('#0a0c20'), np.clip((m - crest) * height, 0, 1))
    rng = np.random.default_rng(seed)
    for _ in range(26):
        px, py = rng.normal(0.45, 0.10), shore - rng.uniform(0.002, 0.022)
        picture = glow(picture, rgb('#ffc46b'), np.exp(-((x - px) ** 2 + (m - py) ** 2) / 6e-6) * 0.95)
        streak = np.exp(-((x - px) / 0.004) ** 2) * np.exp(-np.clip(y - shore, 0, 1) * 11) * (y > shore)
        picture = glow(picture, rgb('#ff9d4a'), streak * (0.35 + 0.3 * noise(x * 40, y * 120, seed)))
    water = smooth(shore, shore + 0.002, y)
    ripple = 0.78 + 0.16 * noise(x * 4, (y - shore) * 130, seed + 4)
    return np.clip(blend(picture, picture * ripple[..., None] + rgb('#0a1030') * 0.12, water), 0, 1)
