#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""light.py WEBIMAGE [--rounds N] [--folder DIR] [--times-only | --scores-only]: Compares reduced photographs with those of libvips and Pillow.

Prints five tables. The first one contains the quality of photographs that are reduced to 168, 500, and 1,024 pixels. The
second one contains the quality at 500 pixels if the photographs are progressive JPEG, WebP, and lossless WebP files of 2,000
pixels. The third one contains the quality and the size of images of 500 pixels as JPEG with quality 80. The fourth one
contains the bytes of WebImage at the score that each peer reaches with quality 80, relative to the bytes of the peer. The
fifth one contains processor times.

The quality is the SSIMULACRA2 score against the full image, reduced by Lanczos-3 in linear light with floating-point
samples. WEBIMAGE is the release build of the tool. The photographs and renders are those of Debian's packages
mate-backgrounds, ukui-wallpapers, and gnome-backgrounds. The Python packages ssimulacra2, pyvips-binary, pyvips, and pillow must be installed in a directory of
PYTHONPATH (Scripts/setup benchmarks).

The processor time is the user time of all threads, per image. The contenders take turns, and the table contains medians.
The start of a process doesn't count: the tool converts the list of images once and converts one tiny image once, and the
difference is divided by the number of images.
"""
import argparse
import glob
import os
import resource
import statistics
import subprocess
import sys
import time

os.environ["VIPS_CONCURRENCY"] = "1"
import numpy
import pyvips
from PIL import Image
from ssimulacra2 import compute_ssimulacra2

pyvips.cache_set_max(0)
BACKGROUNDS = "/usr/share/backgrounds"
NATURE = "Aqua Blinds Dune FreshFlower Garden LadyBird RainDrops Storm TwoWings Wood YellowFlower"
PHOTOGRAPHS = [f"{BACKGROUNDS}/mate/nature/{name}.jpg" for name in NATURE.split()] + [
    f"{BACKGROUNDS}/{name}.jpg"
    for name in ("mate/abstract/Elephants_5640x3172", "2004default", "firstgeneration", "rhythm", "string", "the-mouse")
]
PHOTOGRAPHS += [f"{BACKGROUNDS}/mate/nature/GreenMeadow.jpg"]
# Debian's packages of GNOME have different images in each version. The patterns of lines and cells are left out.
PHOTOGRAPHS += [
    path
    for path in sorted(glob.glob(f"{BACKGROUNDS}/gnome/*.jpg") + glob.glob(f"{BACKGROUNDS}/gnome/*-l.webp"))
    if not os.path.basename(path).startswith(("grid", "pixels", "symbolic", "truchet", "vnc"))
]
SIDE = 500
SIDES = (168, 500, 1024)
FORMS = (
    ("progressive JPEG", "jpg", {"quality": 92, "progressive": True, "subsampling": 2}),
    ("WebP", "webp", {"quality": 95}),
    ("lossless WebP", "webp", {"lossless": True, "quality": 20, "method": 0}),
)
WIDTHS = (768, 2000, 4000)
# The qualities of WebImage between which the bytes at a score are interpolated.
QUALITIES = (40, 50, 60, 68, 74, 80, 86, 92)


def light(image):
    """Returns linear light as three floating-point images."""
    values = numpy.asarray(image.convert("RGB"), dtype=numpy.float32) / 255
    values = numpy.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4).astype(numpy.float32)
    return [Image.fromarray(numpy.ascontiguousarray(values[:, :, channel])) for channel in range(3)]


def reduced(image, size):
    """Returns an image, reduced by Lanczos-3 in linear light."""
    values = numpy.dstack([numpy.asarray(plane.resize(size, Image.LANCZOS)) for plane in light(image)])
    values = numpy.clip(values, 0, 1).astype(numpy.float64)
    values = numpy.where(values <= 0.0031308, values * 12.92, 1.055 * values ** (1 / 2.4) - 0.055)
    return Image.fromarray(numpy.round(values * 255).astype(numpy.uint8))


def fitting(size, side):
    scale = side / max(size)
    return tuple(max(1, round(length * scale)) for length in size)


class Tool:
    """The tool with one kind of light."""

    def __init__(self, path, mode):
        self.path, self.mode = path, mode
        self.name = f"WebImage, {mode}"

    def arguments(self, sources, folder, form, side, quality=80):
        options = ["--quality", str(quality)] if form == "jpeg" else []
        return [
            self.path, "convert", *sources, "--output-dir", folder, "--format", form, "--size", f"{side}x{side}",
            "--light", self.mode, "--quiet", "--overwrite", *options,
        ]

    def convert(self, source, folder, form, side=SIDE, quality=80):
        subprocess.run(self.arguments([source], folder, form, side, quality), check=True)
        name = os.path.splitext(os.path.basename(source))[0]
        return f"{folder}/{name}.{'jpg' if form == 'jpeg' else form}"

    def seconds(self, sources, folder, form, side, tiny):
        def run(inputs):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run(self.arguments(inputs, folder, form, side), check=True)
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

        return (run(sources) - run([tiny])) / len(sources)


class InProcess:
    def convert(self, source, folder, form, side=SIDE):
        target = f"{folder}/{os.path.splitext(os.path.basename(source))[0]}.{form}"
        self.write(source, target, form, side)
        return target

    def seconds(self, sources, folder, form, side, tiny):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        for source in sources:
            self.convert(source, folder, form, side)
        return (resource.getrusage(resource.RUSAGE_SELF).ru_utime - before) / len(sources)


class Vips(InProcess):
    def __init__(self, linear=False):
        self.linear = linear
        self.name = f"libvips {pyvips.version(0)}.{pyvips.version(1)} thumbnail" + (", linear" if linear else "")

    def write(self, source, target, form, side):
        image = pyvips.Image.thumbnail(source, side, height=side, linear=self.linear)
        if form == "jpeg":
            image.jpegsave(target, Q=80, optimize_coding=True)
        else:
            image.write_to_file(target)


class Pillow(InProcess):
    name = f"Pillow {Image.__version__} thumbnail"

    def write(self, source, target, form, side):
        image = Image.open(source)
        image.thumbnail((side, side), Image.LANCZOS)
        image.convert("RGB").save(target, form, quality=80, **({"optimize": True} if form == "jpeg" else {}))


def sources(folder, width):
    """Returns the photographs as JPEG files that are at most `width` pixels wide."""
    paths = []
    for path in PHOTOGRAPHS:
        target = f"{folder}/{width}-{os.path.splitext(os.path.basename(path))[0]}.jpg"
        image = Image.open(path).convert("RGB")
        if width == 4000 and image.width < 3600:
            continue
        if image.width > width:
            image = reduced(image, (width, round(image.height * width / image.width)))
        image.save(target, quality=92, subsampling=2)
        paths.append(target)
    return paths


def encoded(folder, form, extension, options):
    """Returns the photographs as files of 2,000 pixels in one form."""
    paths = []
    for path in PHOTOGRAPHS:
        image = Image.open(path).convert("RGB")
        if image.width > 2000:
            image = reduced(image, (2000, round(image.height * 2000 / image.width)))
        target = f"{folder}/{form.replace(' ', '-')}-{os.path.splitext(os.path.basename(path))[0]}.{extension}"
        image.save(target, **options)
        paths.append(target)
    return paths


def quality(contender, paths, folder, side, scores):
    """Returns the mean score of the reduced images, the lowest score, and its image."""
    values = [scores.score(path, contender.convert(path, folder, "png", side)) for path in paths]
    worst = os.path.splitext(os.path.basename(paths[values.index(min(values))]))[0]
    return f"{statistics.mean(values):.1f}, {min(values):.1f} ({worst})"


class Scores:
    def __init__(self, folder):
        self.folder, self.references = folder, {}

    def score(self, source, result):
        size = Image.open(result).size
        if (source, size) not in self.references:
            path = f"{self.folder}/reference-{len(self.references)}.png"
            reduced(Image.open(source), size).save(path)
            self.references[source, size] = path
        return compute_ssimulacra2(self.references[source, size], result)


def relative_bytes(tool, peer, paths, outputs, scores):
    """Returns the bytes of the tool at the scores of a peer with quality 80, relative to the peer, and the number of images.

    Images whose score isn't between those of the qualities don't count.
    """
    ours, theirs, count = 0, 0, 0
    for path in paths:
        made = peer.convert(path, outputs[peer], "jpeg")
        score, size = scores.score(path, made), os.path.getsize(made)
        points = []
        for quality in QUALITIES:
            file = tool.convert(path, outputs[tool], "jpeg", quality=quality)
            points.append((scores.score(path, file), os.path.getsize(file)))
        points.sort()
        if not points[0][0] <= score <= points[-1][0]:
            continue
        ours += numpy.exp(numpy.interp(score, [s for s, _ in points], numpy.log([b for _, b in points])))
        theirs += size
        count += 1
    return ours / theirs if theirs else float("nan"), count


def table(columns, rows):
    print("\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("webimage")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", default="/tmp/webimage-light")
    parser.add_argument("--times-only", action="store_true")
    parser.add_argument("--scores-only", action="store_true")
    options = parser.parse_args()
    folder = options.folder
    os.makedirs(folder, exist_ok=True)
    contenders = [Tool(options.webimage, "linear"), Tool(options.webimage, "encoded"), Vips(), Vips(True), Pillow()]
    scores = Scores(folder)
    outputs = {}
    for index, contender in enumerate(contenders):
        outputs[contender] = f"{folder}/{index}"
        os.makedirs(outputs[contender], exist_ok=True)
    made = {width: sources(folder, width) for width in WIDTHS}

    if not options.times_only:
        rows = [
            [contender.name] + [quality(contender, PHOTOGRAPHS, outputs[contender], side, scores) for side in SIDES]
            for contender in contenders
        ]
        table([f"{len(PHOTOGRAPHS)} photographs: mean and lowest score"] + [f"{side:,} pixels" for side in SIDES], rows)

        files = {form: encoded(folder, form, extension, choices) for form, extension, choices in FORMS}
        rows = [
            [contender.name] + [quality(contender, files[form], outputs[contender], SIDE, scores) for form in files]
            for contender in contenders
        ]
        table([f"from 2,000 to {SIDE} pixels: mean and lowest score"] + list(files), rows)

        rows = []
        for contender in contenders:
            row = [contender.name]
            for width in WIDTHS:
                results = [(path, contender.convert(path, outputs[contender], "jpeg")) for path in made[width]]
                mean = statistics.mean(scores.score(*pair) for pair in results)
                row.append(f"{mean:.1f}, {statistics.mean(os.path.getsize(pair[1]) for pair in results):,.0f} bytes")
            rows.append(row)
        table([f"to {SIDE} pixels, JPEG quality 80"] + [f"from {width:,}" for width in WIDTHS], rows)

        rows = []
        for peer in contenders[2:]:
            row = [peer.name]
            for width in WIDTHS:
                ratio, count = relative_bytes(contenders[0], peer, made[width], outputs, scores)
                row.append(f"{ratio:.3f} ({count} of {len(made[width])})")
            rows.append(row)
        table(["bytes of WebImage at the score of"] + [f"from {width:,}" for width in WIDTHS], rows)
    if options.scores_only:
        return

    large = f"{folder}/12-megapixels.jpg"
    Image.open(PHOTOGRAPHS[11]).convert("RGB").resize((4000, 3000), Image.LANCZOS).save(large, quality=85, subsampling=2)
    tiny = f"{folder}/tiny.jpg"
    Image.new("RGB", (8, 8)).save(tiny)
    cases = [(f"{width:,} to {SIDE}, JPEG", made[width], "jpeg", SIDE) for width in WIDTHS]
    cases.append(("12 MP to 256, JPEG", [large], "jpeg", 256))
    cases.append(("photographs to 168, JPEG", [path for path in PHOTOGRAPHS if path.endswith(".jpg")], "jpeg", 168))
    lossless = f"{folder}/4-megapixels.png"
    Image.open(PHOTOGRAPHS[11]).convert("RGB").resize((2309, 1732), Image.LANCZOS).save(lossless)
    cases.append(("PNG of 4 MP to 256, JPEG", [lossless], "jpeg", 256))
    rows = []
    for name, paths, form, side in cases:
        # The same file several times is the same work, because nothing is cached.
        paths = paths * max(1, 24 // len(paths))
        times = {contender: [] for contender in contenders}
        for _ in range(options.rounds + 1):
            for contender in contenders:
                times[contender].append(contender.seconds(paths, outputs[contender], form, side, tiny))
        medians = {contender: statistics.median(values[1:]) for contender, values in times.items()}
        ours = medians[contenders[0]]
        cells = [f"{value * 1000:.2f} ms" + (f" ({ours / value:.2f})" if value != ours else "") for value in medians.values()]
        rows.append([name] + cells)
    table(["user time per image (ratio of WebImage, linear)"] + [contender.name for contender in contenders], rows)


if __name__ == "__main__":
    main()
