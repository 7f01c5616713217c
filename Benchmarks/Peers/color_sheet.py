#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""color_sheet.py WEBIMAGE DIRECTORY: Draws the images of the article "Color".

The file `gamut.png` compares both values of `webimage convert --color-space` for an image in Display P3. Screens for sRGB can't
show the colors of the right side. So it contains the samples of Display P3 without a profile, in which the detail is visible.

The file `gain-map.png` shows a base image, its gain map, and the image at three headrooms. The rendering is that of ISO 21496-1
without offsets. Each image is darkened by its headroom, as a camera would show displays with different luminance.

WEBIMAGE is the release build of the tool. All images are drawn, and the font is DejaVu Sans (fonts-dejavu-core).
"""
import os
import subprocess
import sys
import tempfile

import numpy
from PIL import Image, ImageDraw, ImageFont

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
MARGIN, TITLE = 10, 22


def convert(tool, source, target, space):
    subprocess.run([tool, "convert", source, target, "-y", "--quiet", "--color-space", space], check=True)
    return Image.open(target).convert("RGB")


def petals(width, height):
    """Returns samples of flowers whose red, green, and orange shades exceed sRGB."""
    y, x = numpy.mgrid[0:height, 0:width].astype(float)
    image = numpy.zeros((height, width, 3))
    image[..., 1] = 0.62 + 0.2 * numpy.sin(x / 9 + numpy.sin(y / 13) * 2)
    image[..., 0] = 0.1 + 0.1 * numpy.sin(y / 7 + x / 31)
    for left, top, color in ((75, 70, (1, 0.04, 0.08)), (225, 75, (1, 0.42, 0))):
        angle, radius = numpy.arctan2(y - top, x - left), numpy.hypot(x - left, y - top)
        edge = 40 + 18 * numpy.cos(angle * 7)
        shade = 0.9 + 0.1 * numpy.cos(angle * 42 + radius / 6)
        vein = numpy.clip(0.5 + 0.5 * numpy.cos(angle * 28), 0, 1)[..., None] * (0.0, 0.2, 0.16)
        petal = numpy.clip(numpy.array(color) * shade[..., None] + vein * (radius / 70)[..., None], 0, 1)
        image = numpy.where((radius < edge)[..., None], petal, image)
        image = numpy.where((radius < 9)[..., None], (0.35, 0.2, 0.05), image)
    return Image.fromarray((numpy.clip(image, 0, 1) * 255).round().astype("uint8"))


def gamut(tool):
    size = (300, 150)
    with tempfile.TemporaryDirectory() as folder:
        source, target = f"{folder}/source.png", f"{folder}/target.png"
        Image.new("RGB", (1, 1)).save(source)
        convert(tool, source, target, "display-p3")
        profile = Image.open(target).info["icc_profile"]
        petals(*size).save(source, icc_profile=profile)
        return [
            ("sRGB: shades are clipped", convert(tool, source, target, "srgb")),
            ("Source: the samples of Display P3", convert(tool, source, target, "source")),
        ]


def encoded(light):
    light = numpy.clip(light, 0, 1)
    samples = numpy.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    return Image.fromarray((samples * 255).round().astype("uint8"))


def gain_map():
    width, height, stops = 190, 130, 2
    y, x = numpy.mgrid[0:height, 0:width].astype(float)
    sky = numpy.array((0.10, 0.2, 0.45)) * (0.35 + y / height)[..., None]
    distance = numpy.hypot(x - 120, y - 55)
    glow = numpy.exp(-distance / 26)[..., None] * (3.4, 1.7, 0.6)
    scene = sky + glow + (distance < 13)[..., None] * numpy.array((4, 3.4, 2.4))
    hills = (y > 88 + 14 * numpy.sin(x / 23) + 5 * numpy.sin(x / 7))[..., None]
    scene = numpy.where(hills, (0.03, 0.045, 0.02), scene)
    peak = scene.max(axis=2, keepdims=True)
    base = scene / numpy.maximum(peak, 1) * numpy.minimum(peak, 1)
    logarithm = numpy.clip(numpy.log2(numpy.maximum(peak, 1)), 0, stops)
    images = [("Base image", encoded(base)), ("Gain map", Image.fromarray((logarithm[..., 0] / stops * 255).astype("uint8")).convert("RGB"))]
    for headroom in (1, 2, 4):
        weight = min(numpy.log2(headroom) / stops, 1)
        images.append((f"Headroom {headroom}", encoded(base * 2 ** (logarithm * weight) / 4)))
    return images


def sheet(images, path):
    width, height = images[0][1].size
    columns = len(images) if len(images) < 4 else 3
    rows = -(-len(images) // columns)
    font = ImageFont.truetype(FONT, 13)
    result = Image.new("RGB", (columns * (width + MARGIN) + MARGIN, rows * (height + TITLE + MARGIN)), "white")
    draw = ImageDraw.Draw(result)
    for index, (title, image) in enumerate(images):
        left, top = MARGIN + index % columns * (width + MARGIN), index // columns * (height + TITLE + MARGIN)
        draw.text((left, top + 3), title, "black", font)
        result.paste(image, (left, top + TITLE))
    result.save(path, optimize=True)
    print(f"{path}: {result.width} x {result.height}, {os.path.getsize(path):,} bytes")


def main():
    tool, directory = sys.argv[1:]
    sheet(gamut(tool), f"{directory}/gamut.png")
    sheet(gain_map(), f"{directory}/gain-map.png")


main()
