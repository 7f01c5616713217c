# SPDX-License-Identifier: MIT
"""Pillow."""
import io

from PIL import Image, ImageSequence


def thumbnail(data, side=256):
    """Returns the RGB samples of the image, reduced to fit a square. Pillow scales JPEG data by DCT automatically."""
    image = Image.open(io.BytesIO(data))
    image.thumbnail((side, side), Image.LANCZOS)
    return image.convert("RGB").tobytes()


def decode(data):
    image = Image.open(io.BytesIO(data))
    image.load()
    return image.convert("RGBA")


def frames(data):
    """Draws every frame of an animation and returns the number of frames."""
    count = 0
    for frame in ImageSequence.Iterator(Image.open(io.BytesIO(data))):
        frame.load()
        count += 1
    return count
