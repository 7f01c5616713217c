# SPDX-License-Identifier: MIT
"""Encodes the BlurHash of an image, according to the description of the algorithm at blurha.sh."""
import math
import subprocess

import numpy as np

from encoders import MAGICK

DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~'


def reduced(path):
    """The first frame in linear light, and the width and height of the image.

    The frame has the EXIF orientation applied, a white background, and sides of up to 64 pixels.
    """
    ask = [MAGICK, path + '[0]', '-auto-orient']
    width, height = map(int, subprocess.run(
        ask + ['-format', '%w %h', 'info:'], check=True, capture_output=True).stdout.split())
    scale = min(1, 64 / max(width, height))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    data = subprocess.run(
        ask + ['-background', 'white', '-alpha', 'remove', '-colorspace', 'sRGB', '-type', 'TrueColor', '-resize',
               f'{size[0]}x{size[1]}!', '-depth', '8', 'rgb:-'], check=True, capture_output=True).stdout
    stored = np.frombuffer(data, np.uint8).reshape(size[1], size[0], 3) / 255
    light = np.where(stored <= 0.04045, stored / 12.92, ((stored + 0.055) / 1.055) ** 2.4)
    return light, width, height


def digits(value, count):
    return ''.join(DIGITS[value // 83 ** place % 83] for place in range(count - 1, -1, -1))


def stored(light):
    value = light * 12.92 if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055
    return max(0, min(255, round(value * 255)))


def blur_hash(path):
    """The hash, and the aspect ratio (width ÷ height)."""
    light, width, height = reduced(path)
    across, down = (4, 3) if width >= height else (3, 4)
    rows, columns = light.shape[:2]
    waves = []
    for j in range(down):
        for i in range(across):
            wave = np.outer(np.cos(math.pi * j * np.arange(rows) / rows),
                            np.cos(math.pi * i * np.arange(columns) / columns))
            waves.append((light * wave[:, :, None]).mean(axis=(0, 1)) * (1 if i == j == 0 else 2))
    largest = max(abs(float(part)) for wave in waves[1:] for part in wave)
    level = max(0, min(82, math.floor(largest * 166 - 0.5)))
    text = digits(across - 1 + (down - 1) * 9, 1) + digits(level, 1)
    red, green, blue = (stored(float(part)) for part in waves[0])
    text += digits(red << 16 | green << 8 | blue, 4)
    for wave in waves[1:]:
        levels = [max(0, min(18, math.floor(math.copysign(math.sqrt(abs(part) * 166 / (level + 1)), part) * 9 + 9.5)))
                  for part in map(float, wave)]
        text += digits(levels[0] * 361 + levels[1] * 19 + levels[2], 2)
    return text, round(width / height, 3)
