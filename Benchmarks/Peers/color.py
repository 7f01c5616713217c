#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""color.py WEBIMAGE: Measures the colors of converted images with Little CMS, independently of the library.

Prints a table with the largest difference (CIEDE2000) of 16 saturated and medium colors. The images in Display P3, Adobe
RGB, and ProPhoto RGB are reduced to half their size and converted by the tool WEBIMAGE. Pillow, avifdec, and djxl decode
the files, and transicc of liblcms2-utils converts the samples to CIELAB. The second number is the difference with
--color-space srgb, which clips the colors.

The profiles are those of Tests/Fixtures/colors. Pillow must be installed in a directory of PYTHONPATH (Scripts/setup
benchmarks).
"""
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy
from PIL import Image

PROFILES = pathlib.Path(__file__).resolve().parents[2] / "Tests/Fixtures/colors"
NAMES = {"p3": "Display P3", "adobe": "Adobe RGB", "prophoto": "ProPhoto RGB"}
FORMATS = {"jpg": "JPEG", "png": "PNG", "webp": "WebP, lossless", "avif": "AVIF", "jxl": "JPEG XL"}
COLORS = (
    "ff0000 00ff00 0000ff ffff00 00ffff ff00ff ffffff 808080 e63c28 32d246 2846dc f0a01e b43cc8 5ac8c8 c88c78 465a3c"
).split()
SIDE = 64


def lab(colors, profile):
    """Returns the CIELAB coordinates of 8-bit colors, relative to the white of the profile."""
    with tempfile.NamedTemporaryFile(suffix=".icc") as file:
        file.write(profile)
        file.flush()
        numbers = "".join(f"{sample}\n" for color in colors for sample in color)
        words = ["transicc", "-n", "-v0", "-t1", "-i", file.name, "-o", "*Lab"]
        text = subprocess.run(words, input=numbers.encode(), capture_output=True, check=True).stdout
    return numpy.array(text.split(), dtype=float).reshape(-1, 3)


def difference(first, second):
    """Returns CIEDE2000 (Sharma, Wu, and Dalal, 2005)."""
    (l1, a1, b1), (l2, a2, b2) = first, second
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    scale = 1.5 - 0.5 * math.sqrt(mean**7 / (mean**7 + 25**7))
    a1, a2 = a1 * scale, a2 * scale
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0
    chroma, level = (c1 + c2) / 2, (l1 + l2) / 2 - 50
    hue = (h1 + h2) / 2 + (180 if abs(h1 - h2) > 180 else 0)
    cosine = [math.cos(math.radians(angle)) for angle in (hue - 30, 2 * hue, 3 * hue + 6, 4 * hue - 63)]
    weight = 1 - 0.17 * cosine[0] + 0.24 * cosine[1] + 0.32 * cosine[2] - 0.20 * cosine[3]
    hue_part = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2)) / (1 + 0.015 * chroma * weight)
    chroma_part = (c2 - c1) / (1 + 0.045 * chroma)
    light_part = (l2 - l1) / (1 + 0.015 * level**2 / math.sqrt(20 + level**2))
    bend = 2 * math.sqrt(chroma**7 / (chroma**7 + 25**7)) * math.sin(math.radians(60 * math.exp(-(((hue % 360) - 275) / 25) ** 2)))
    return math.sqrt(light_part**2 + chroma_part**2 + hue_part**2 - bend * chroma_part * hue_part)


def decoded(path):
    """Returns the pixels of a file and their profile."""
    source = path
    if path.suffix in (".jxl", ".avif"):
        source = path.with_suffix(path.suffix + ".png")
        words = {".jxl": ["djxl", path, source], ".avif": ["avifdec", path, source]}[path.suffix]
        subprocess.run(words, capture_output=True, check=True)
    image = Image.open(source)
    profile = image.info.get("icc_profile")
    if profile is None and path.suffix in (".png", ".avif"):
        info = subprocess.run(["avifdec", "--info", path], capture_output=True).stdout if path.suffix == ".avif" else b""
        is_p3 = b"Color Primaries: 12" in info
        profile = (PROFILES / ("p3.icc" if is_p3 else "srgb.icc")).read_bytes()
    return numpy.asarray(image.convert("RGB")), profile or (PROFILES / "srgb.icc").read_bytes()


def measure(tool, folder, name, extension, space):
    profile = (PROFILES / f"{name}.icc").read_bytes()
    colors = [tuple(bytes.fromhex(color)) for color in COLORS]
    pixels = numpy.repeat(numpy.repeat(numpy.array(colors, numpy.uint8).reshape(2, 8, 3), SIDE, 0), SIDE, 1)
    source, result = folder / "in.png", folder / f"out.{extension}"
    Image.fromarray(pixels).save(source, icc_profile=profile)
    words = [tool, "convert", source, result, "-y", "-s", f"{SIDE * 4}", "-Q", "98", "--subsampling", "444"]
    words += ["--color-space", space] + (["--lossless"] if extension == "webp" else [])
    subprocess.run(words, check=True)
    image, actual = decoded(result)
    half = SIDE // 2
    samples = image[half // 2 :: half, half // 2 :: half].reshape(-1, 3)
    return max(map(difference, lab(colors, profile), lab(samples.tolist(), actual)))


def main():
    tool = sys.argv[1]
    print("| largest ΔE2000 | " + " | ".join(NAMES.values()) + " |")
    print("|---" * (len(NAMES) + 1) + "|")
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        for extension, title in FORMATS.items():
            cells = []
            for name in NAMES:
                kept, clipped = (measure(tool, folder, name, extension, space) for space in ("source", "srgb"))
                cells.append(f"{kept:.2f} ({clipped:.1f})")
            print(f"| {title} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
