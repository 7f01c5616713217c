#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""looks_limits.py PHOTO…: Measures how few bytes an encoder needs if it knows the SSIMULACRA2 score of every quality.

For each format and variant, the script encodes the photographs with many qualities and computes their scores. The
reference is the sum of the bytes of a common encoder with quality 80 for all photographs, and their mean score. The script
prints two numbers relative to these bytes:

- equal score: the bytes if each photograph has the mean score of the reference. No search for a visual quality can need
  fewer bytes with this variant.
- equal quality: the bytes if all photographs have the same quality, at the same mean score.

It also prints the mean of the natural logarithm of the distortion by quality, from which the search of `looks(_:)` starts
(ScoreSearch.swift). The photographs are reduced to at most 640 pixels per side.

The script requires a C compiler, libjpeg-turbo, cwebp, avifenc, avifdec, cjxl, and djxl (Scripts/setup fixtures), and
pillow and ssimulacra2 from PyPI.
"""
import math
import os
import subprocess
import sys
import tempfile

import numpy
from PIL import Image
from ssimulacra2 import compute_ssimulacra2

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIDE, QUALITY = 640, 80
# The first variant of a format is the reference. The variants of JPEG are an encoder, the number of luma samples per chroma
# sample in each direction, and whether the file is optimized.
VARIANTS = {
    "jpg": [("cjpeg", 2, 0), ("WebImage", 2, 0), ("WebImage", 2, 1), ("WebImage", 1, 1)],
    "webp": ["-m 4", "-m 6 -sharp_yuv -sns 80"],
    "avif": ["-s 6 -y 420", "-s 6 -y 444", "-s 4 -y 444"],
    "jxl": ["-e 7", "-e 9"],
}
QUALITIES = {
    "jpg": (15, 30, 45, 60, 70, 80, 88, 94, 98),
    "webp": (8, 25, 45, 62, 74, 80, 86, 92, 97, 100),
    "avif": (15, 35, 50, 62, 74, 80, 88, 96),
    "jxl": (35, 50, 65, 75, 84, 91, 97),
}


def run(*command, **options):
    subprocess.run(command, check=True, capture_output=True, **options)


def build(folder):
    """Builds the JPEG encoder of WebImage."""
    sources = f"{ROOT}/Sources/C"
    shims = [f"{sources}/CJPEG/{name}.c" for name in ("encoder", "chroma", "errors", "optimizer")]
    run("cc", "-O2", f"-I{sources}/CJPEG/include", f"-I{sources}/CPixelKernels/include",
        f"{ROOT}/Benchmarks/Peers/looks_jpeg.c", *shims, f"{sources}/CPixelKernels/Chroma.c", "-ljpeg", "-lm", "-o",
        f"{folder}/looks_jpeg")


def encode_jpeg(source, target, quality, variant, folder):
    encoder, ratio, is_fine = variant
    image = Image.open(source)
    if encoder == "cjpeg":
        image.save(f"{folder}/source.ppm")
        run("cjpeg", "-quality", str(quality), "-sample", f"{ratio}x{ratio}", "-optimize", "-outfile", target,
            f"{folder}/source.ppm")
        return
    run(f"{folder}/looks_jpeg", *map(str, (*image.size, quality, ratio, is_fine)), target,
        input=image.convert("RGBA").tobytes())


def encode(form, variant, quality, source, folder):
    """Returns the size of the encoded file in bytes, and its score."""
    target, decoded = f"{folder}/out.{form}", f"{folder}/decoded.png"
    if form == "jpg":
        encode_jpeg(source, target, quality, variant, folder)
    elif form == "webp":
        run("cwebp", "-q", str(quality), *variant.split(), source, "-o", target)
    elif form == "avif":
        # The quantizers are those of WebImage.
        quantizer = ((100 - quality) * 63 + 49) // 99
        run("avifenc", "-j", "1", "--min", str(max(0, quantizer - 5)), "--max", str(quantizer), *variant.split(), source,
            target)
    else:
        run("cjxl", source, target, "-d", f"{0.1 + (100 - quality) * 0.09:.3f}", *variant.split())
    if form in ("avif", "jxl"):
        run("avifdec" if form == "avif" else "djxl", target, decoded)
    else:
        Image.open(target).convert("RGB").save(decoded)
    return os.path.getsize(target), float(compute_ssimulacra2(source, decoded))


def distortion(score):
    """Returns the distortion of a score, which is the inverse of SSIMULACRA2's last step."""
    target, low, high = ((100 - score) / 10) ** (1 / 0.6276336467831387), 0.0, 200.0
    for _ in range(60):
        middle = (low + high) / 2
        stretched = 2.326765642916932 * middle - 0.020884521182843837 * middle**2 + 6.248496625763138e-05 * middle**3
        low, high = (middle, high) if stretched < target else (low, middle)
    return (low + high) / 2


def bytes_at(results, score):
    """Returns the interpolated number of bytes at a score, or the largest number if no quality reaches it."""
    results = sorted(results, key=lambda result: result[1])
    return math.exp(numpy.interp(score, [s for _, s in results], numpy.log([b for b, _ in results])))


def report(form, sources, folder):
    reference = [encode(form, VARIANTS[form][0], QUALITY, source, folder) for source in sources]
    mean, total = numpy.mean([s for _, s in reference]), sum(b for b, _ in reference)
    deviation = numpy.std([s for _, s in reference])
    print(f"{form}, quality {QUALITY}: mean score {mean:.1f} (deviation {deviation:.1f}), {total:,} bytes")
    for variant in VARIANTS[form]:
        results = [[encode(form, variant, quality, source, folder) for quality in QUALITIES[form]] for source in sources]
        table = numpy.array(results)
        sums, means = table[:, :, 0].sum(0), table[:, :, 1].mean(0)
        equal_score = sum(bytes_at(photo, mean) for photo in results) / total
        equal_quality = bytes_at(list(zip(sums, means)), mean) / total
        curve = [numpy.mean([math.log(distortion(score)) for score in column]) for column in table[:, :, 1].T]
        print(f"  {variant}: equal score {equal_score:.3f}, equal quality {equal_quality:.3f}")
        print("    " + ", ".join(f"({q}, {v:.3f})" for q, v in zip(QUALITIES[form], curve)), flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        build(folder)
        sources = []
        for index, path in enumerate(sys.argv[1:]):
            image = Image.open(path).convert("RGB")
            image.thumbnail((SIDE, SIDE), Image.LANCZOS)
            sources.append(f"{folder}/source-{index}.png")
            image.save(sources[-1])
        for form in VARIANTS:
            report(form, sources, folder)


if __name__ == "__main__":
    main()
