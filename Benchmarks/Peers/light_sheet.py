#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""light_sheet.py WEBIMAGE OUTPUT: Draws the contact sheet of the article "Transformers".

Each row shows a reduced image. The left side averages stored values (`webimage convert --light encoded`), and the right side
averages light, which is the default. In the last row, both sides have the same pixels before they're encoded as JPEG with
quality 80 and half the resolution of chroma. The left side is a file of Pillow, and the right side is a file of WebImage.

WEBIMAGE is the release build of the tool. The photographs are those of Debian's packages mate-backgrounds and
ukui-wallpapers, and the font is DejaVu Sans (fonts-dejavu-core). The other images are drawn.
"""
import os
import random
import subprocess
import sys
import tempfile

from PIL import Image, ImageDraw, ImageFont

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
BACKGROUNDS = "/usr/share/backgrounds"
# The size of a crop, and the factor by which the sheet enlarges its pixels.
CROP, ZOOM, MARGIN = (150, 60), 2, 10


def text():
    image = Image.new("RGB", (1200, 480), "white")
    draw = ImageDraw.Draw(image)
    for line in range(12):
        draw.text((20, 8 + line * 39), "Small black text on white paper, line after line. " * 2, "black", ImageFont.truetype(FONT, 30))
    return image


def night():
    image = Image.new("RGB", (1200, 480), (4, 6, 16))
    draw = ImageDraw.Draw(image)
    numbers = random.Random(5)
    for _ in range(900):
        x, y, size = numbers.randrange(1200), numbers.randrange(480), numbers.choice((1, 1, 2, 3))
        draw.rectangle((x, y, x + size, y + size), numbers.choice(("white", "#ffd9a0", "#a0c8ff")))
    for x in range(40, 1200, 90):
        draw.rectangle((x, 300, x + 60, 480), (12, 12, 20))
        for window in range(24):
            if numbers.random() < 0.5:
                left, top = x + 6 + window % 4 * 14, 308 + window // 4 * 28
                draw.rectangle((left, top, left + 3, top + 5), "#ffdf80")
    return image


def edges():
    image = Image.new("RGBA", (1200, 480), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    for column, color in enumerate(((255, 60, 40), (40, 60, 200), (255, 255, 255), (40, 200, 80))):
        for ring in range(9):
            box = (column * 300 + 10 + ring * 16, 100 + ring * 16, column * 300 + 290 - ring * 16, 380 - ring * 16)
            draw.ellipse(box, outline=(*color, 255), width=6)
    return image


def cropped(path, left, top):
    """Returns the part of a photograph that becomes a crop."""
    image = Image.open(path).convert("RGB")
    return image.crop((left, top, left + 1200, top + 480))


def converted(tool, image, *options, form="png"):
    with tempfile.TemporaryDirectory() as folder:
        source, target = f"{folder}/source.png", f"{folder}/target.{form}"
        image.save(source)
        subprocess.run([tool, "convert", source, target, "--quiet", *options], check=True)
        return Image.open(target).convert("RGBA")


def reduced(tool, image):
    """Returns an image that is reduced in both lights, over a bright and a dark background if it has alpha."""
    size = f"{CROP[0]}x{CROP[1]}"
    sides = [converted(tool, image, "--size", size, "--light", light) for light in ("encoded", "linear")]
    for side in sides:
        below = Image.new("RGBA", side.size, "white")
        below.paste((40, 40, 60), (side.width // 2, 0, *side.size))
        below.alpha_composite(side)
        yield below.convert("RGB")


def encoded(tool, image):
    """Returns the JPEG file of Pillow and that of WebImage."""
    small = converted(tool, image, "--size", f"{CROP[0]}x{CROP[1]}").convert("RGB")
    with tempfile.TemporaryDirectory() as folder:
        small.save(f"{folder}/plain.jpg", quality=80, subsampling=2, optimize=True)
        yield Image.open(f"{folder}/plain.jpg").convert("RGB")
    yield converted(tool, small, "--quality", "80", form="jpg").convert("RGB")


def main():
    tool, output = sys.argv[1:]
    rows = [
        ("Text on white", reduced(tool, text())),
        ("Foliage", reduced(tool, cropped(f"{BACKGROUNDS}/mate/nature/GreenMeadow.jpg", 40, 520))),
        ("Night scene", reduced(tool, night())),
        ("Edges of transparent shapes", reduced(tool, edges())),
        ("Saturated colors as JPEG: Pillow and WebImage", encoded(tool, cropped(f"{BACKGROUNDS}/2004default.jpg", 1300, 900))),
    ]
    font = ImageFont.truetype(FONT, 14)
    width, height = CROP[0] * ZOOM, CROP[1] * ZOOM
    sheet = Image.new("RGB", (2 * width + 3 * MARGIN, 26 + len(rows) * (height + 30)), "white")
    draw = ImageDraw.Draw(sheet)
    draw.text((MARGIN, 6), "Average of stored values", "black", font)
    draw.text((2 * MARGIN + width, 6), "Average of light", "black", font)
    for row, (title, sides) in enumerate(rows):
        top = 28 + row * (height + 30)
        for column, side in enumerate(sides):
            sheet.paste(side.resize((width, height), Image.NEAREST), (MARGIN + column * (width + MARGIN), top))
        draw.text((MARGIN, top + height + 3), title, "black", font)
    sheet.save(output, quality=80, subsampling=0, optimize=True)
    print(f"{output}: {sheet.width} x {sheet.height}, {os.path.getsize(output):,} bytes")


main()
