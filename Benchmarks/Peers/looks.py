#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""looks.py WEBIMAGE PHOTO…: Measures how well `webimage convert --looks` reaches its target, and how many bytes it saves.

WEBIMAGE is the command-line tool. The photographs are reduced to at most 640 pixels per side. The search starts from
averages of photographs of mate-backgrounds, which looks_limits.py measures, so use other photographs. The script prints
one line per file, and then for each format:

- difference: the mean and the largest difference from the target, and the number of differences of more than 2 points.
- encodes: the mean and the largest number of encodes of a search.
- bytes: the bytes at the mean score of a common encoder with quality 80, relative to that encoder, and the same for
  WebImage with quality 80. `looks` gives each photograph the same score.
- paired: the bytes at the score that each photograph has with the common encoder, relative to that encoder. Photographs
  whose score isn't between those of the targets don't count.

The script requires the programs of looks_limits.py, and pillow and ssimulacra2 from PyPI.
"""
import os
import subprocess
import sys
import tempfile

import looks_limits
import numpy
from PIL import Image
from ssimulacra2 import compute_ssimulacra2

FORMATS = {"jpeg": "jpg", "webp": "webp", "avif": "avif", "jxl": "jxl"}
TARGETS = (50, 60, 70, 75, 80, 85, 90)
QUALITY = 80


def encode(tool, source, folder, name, *options):
    """Returns the size of the encoded file in bytes, its score, and the number of encodes."""
    encoded, decoded, count = f"{folder}/{name}", f"{folder}/decoded.png", f"{folder}/count"
    subprocess.run(
        [tool, "convert", "--quiet", "--overwrite", source, encoded, *options], check=True,
        env=os.environ | {"LD_PRELOAD": f"{folder}/count.so", "LOOKS_COUNT": count})
    subprocess.run([tool, "convert", "--quiet", "--overwrite", encoded, decoded], check=True)
    with open(count) as file:
        encodes = int(file.read())
    return os.path.getsize(encoded), float(compute_ssimulacra2(source, decoded)), encodes


def measure(tool, photo, folder):
    """Returns the sizes, the scores, and the numbers of encodes of a photograph by format and option."""
    source = f"{folder}/source.png"
    image = Image.open(photo).convert("RGB")
    image.thumbnail((looks_limits.SIDE, looks_limits.SIDE), Image.LANCZOS)
    image.save(source)
    results = {}
    for format, form in FORMATS.items():
        common = looks_limits.encode(form, looks_limits.VARIANTS[form][0], QUALITY, source, folder)
        results[format, "common"] = (*common, 1)
        results[format, "quality"] = encode(tool, source, folder, f"a.{format}", "--quality", str(QUALITY))
        for target in TARGETS:
            results[format, target] = encode(tool, source, folder, f"b.{format}", "--looks", str(target))
    for key, (size, score, encodes) in results.items():
        print(os.path.basename(photo), *key, size, f"{score:.2f}", encodes, flush=True)
    return results


def relative(format, photos, reference):
    """Returns the bytes at the mean score of a reference, relative to the reference."""
    mean = numpy.mean([photo[format, reference][1] for photo in photos])
    scores = [numpy.mean([photo[format, target][1] for photo in photos]) for target in TARGETS]
    sizes = [numpy.log(sum(photo[format, target][0] for photo in photos)) for target in TARGETS]
    return numpy.exp(numpy.interp(mean, scores, sizes)) / sum(photo[format, reference][0] for photo in photos)


def paired(format, photos):
    """Returns the bytes at the scores of the common encoder, relative to it, and the number of photographs."""
    found = []
    for photo in photos:
        size, score, _ = photo[format, "common"]
        points = sorted(photo[format, target][1::-1] for target in TARGETS)
        if points[0][0] <= score <= points[-1][0]:
            found.append((numpy.exp(numpy.interp(score, [s for s, _ in points], numpy.log([b for _, b in points]))), size))
    return sum(own for own, _ in found) / max(1, sum(size for _, size in found)), len(found)


def report(format, photos):
    """Prints the summary of a format."""
    differences = [abs(photo[format, target][1] - target) for photo in photos for target in TARGETS]
    encodes = [photo[format, target][2] for photo in photos for target in TARGETS]
    ratio, count = paired(format, photos)
    print(
        f"{format}: difference {numpy.mean(differences):.2f}, at most {max(differences):.2f}, "
        f"{sum(difference > 2 for difference in differences)} of {len(differences)} above 2; "
        f"encodes {numpy.mean(encodes):.2f}, at most {max(encodes)}; "
        f"bytes {relative(format, photos, 'common'):.3f} of the common encoder, "
        f"{relative(format, photos, 'quality'):.3f} of WebImage; paired {ratio:.3f} ({count} photographs)"
    )


def main():
    tool, paths = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "looks_count.c")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, "-ldl", "-o", f"{folder}/count.so"], check=True)
        looks_limits.build(folder)
        photos = [measure(tool, path, folder) for path in paths]
    for format in FORMATS:
        report(format, photos)


if __name__ == "__main__":
    main()
