#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates images in the optional formats for the tests of codecs: Tests/Fixtures/formats and its manifest.json.

The encoders are avifenc, cjxl, ImageMagick, heif-enc, and rsvg-convert. This script assembles the icons. A reference
contains straight RGBA with the EXIF orientation applied. If the format is lossless, these are the pixels of the source.
Otherwise, avifdec, djxl, heif-convert, rsvg-convert, or pdftocairo decodes the file.
"""
import gzip, hashlib, json, os, random, shutil, struct, zlib

from common import CONVERT, ROOT, TMP, read, run, tmp
from jxl_layers import layered

OUT = os.path.join(ROOT, "Tests", "Fixtures", "formats")
CODECS = os.path.join(ROOT, "Tests", "Fixtures", "codecs")
W, H = 40, 30
entries = []


def add(name, content, width, height, frames, *, format, tolerance=0, **facts):
    with open(os.path.join(OUT, name), "wb") as file:
        file.write(content)
    pixels = b"".join(frames)
    assert len(pixels) == width * height * 4 * len(frames), (name, len(pixels))
    reference = hashlib.sha256(pixels).hexdigest()[:16] + ".rgba"
    with open(os.path.join(OUT, reference), "wb") as file:
        file.write(pixels)
    entries.append(dict(file=name, format=format, width=width, height=height, frames=len(frames),
                        reference=reference, tolerance=tolerance, **facts))


def photo(width, height, seed=1):
    noise = random.Random(seed)
    out = []
    for y in range(height):
        for x in range(width):
            u, v = x / max(1, width - 1), y / max(1, height - 1)
            colour = [40 + 180 * u, 60 + 150 * v, 200 - 120 * u * v]
            if (u - 0.6) ** 2 + (v - 0.45) ** 2 < 0.06:
                colour = [230 - 60 * v, 90 + 40 * u, 40]
            out.append(tuple(max(0, min(255, int(c + noise.uniform(-4, 4)))) for c in colour) + (255,))
    return out


def with_alpha(pixels, width):
    out = []
    for i, (r, g, b, _) in enumerate(pixels):
        x = i % width
        a = 255 if x < width // 3 else 0 if x >= width - width // 4 else 40 + (x * 37 + i) % 200
        out.append((r, g, b, a) if a else (0, 0, 0, 0))
    return out


def rgba(pixels):
    return b"".join(bytes(p) for p in pixels)


def png(pixels, width, height):
    chunk = lambda k, d: struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d))
    opaque = all(p[3] == 255 for p in pixels)
    n = 3 if opaque else 4
    rows = b"".join(b"\0" + b"".join(bytes(p[:n]) for p in pixels[y * width:(y + 1) * width]) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2 if opaque else 6, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def decoded(path):
    """The straight RGBA of a PNG file. Fully transparent pixels are black."""
    data = run(CONVERT, path, "-depth", "8", "rgba:-")
    return b"".join(data[i:i + 4] if data[i + 3] else b"\0\0\0\0" for i in range(0, len(data), 4))


def turned(pixels, width, height, orientation):
    """The stored pixels with an EXIF orientation applied. The values 5 to 8 exchange width and height."""
    at = lambda x, y: pixels[(y * width + x) * 4:(y * width + x) * 4 + 4]
    place = {1: lambda x, y: (x, y), 2: lambda x, y: (width - 1 - x, y), 3: lambda x, y: (width - 1 - x, height - 1 - y),
             4: lambda x, y: (x, height - 1 - y), 5: lambda x, y: (y, x), 6: lambda x, y: (y, height - 1 - x),
             7: lambda x, y: (width - 1 - y, height - 1 - x), 8: lambda x, y: (width - 1 - y, x)}[orientation]
    w, h = (height, width) if orientation >= 5 else (width, height)
    return w, h, b"".join(at(*place(x, y)) for y in range(h) for x in range(w))


PHOTO = photo(W, H)
ALPHA = with_alpha(PHOTO, W)
OPAQUE_PNG, ALPHA_PNG = tmp("opaque.png", png(PHOTO, W, H)), tmp("alpha.png", png(ALPHA, W, H))


def avifs():
    def encode(*options):
        run("avifenc", "-s", "8", *options, "-o", tmp("o.avif"))
        return read(tmp("o.avif"))

    def decode(content, index=0):
        run("avifdec", "-d", "8", "--index", str(index), tmp("d.avif", content), tmp("d.png"))
        return decoded(tmp("d.png"))

    lossy = ["--min", "8", "--max", "20"]
    for name, options, depth in (
            ("444", ["-y", "444"], 8), ("422", ["-y", "422"], 8), ("420", ["-y", "420"], 8), ("400", ["-y", "400"], 8),
            ("420-limited", ["-y", "420", "-r", "limited"], 8), ("444-10", ["-y", "444", "-d", "10"], 10),
            ("420-10-limited", ["-y", "420", "-d", "10", "-r", "limited"], 10), ("444-12", ["-y", "444", "-d", "12"], 12)):
        content = encode(*lossy, *options, OPAQUE_PNG)
        add(name + ".avif", content, W, H, [decode(content)], format="avif", tolerance=2, depth=depth, hasAlpha=False)
    add("lossless.avif", encode("-l", OPAQUE_PNG), W, H, [rgba(PHOTO)], format="avif", hasAlpha=False)
    add("lossless-alpha.avif", encode("-l", ALPHA_PNG), W, H, [rgba(ALPHA)], format="avif", hasAlpha=True)
    for name, options in (("alpha-420", []), ("alpha-premultiplied", ["--premultiply"])):
        content = encode(*lossy, "-y", "420", *options, ALPHA_PNG)
        add(name + ".avif", content, W, H, [decode(content)], format="avif", tolerance=2, hasAlpha=True)
    # irot counts counterclockwise quarter turns, and imir 0 exchanges top and bottom. The last value of each tuple is
    # the EXIF orientation with the same result.
    for name, options, orientation in (("rotated-1", ["--irot", "1"], 8), ("rotated-2", ["--irot", "2"], 3),
                                       ("rotated-3", ["--irot", "3"], 6), ("mirrored-0", ["--imir", "0"], 4),
                                       ("mirrored-1", ["--imir", "1"], 2)):
        content = encode("-l", *options, OPAQUE_PNG)
        w, h, pixels = turned(rgba(PHOTO), W, H, orientation)
        add(name + ".avif", content, w, h, [pixels], format="avif", orientation=orientation)
    grid = photo(128, 128, 3)
    content = encode("-l", "--grid", "1x2", tmp("g1.png", png(grid[:128 * 64], 128, 64)), tmp("g2.png", png(grid[128 * 64:], 128, 64)))
    add("grid.avif", content, 128, 128, [rgba(grid)], format="avif")
    frames = [photo(W, H, n + 50) for n in range(4)]
    names = [tmp(f"a{n}.png", png(p, W, H)) for n, p in enumerate(frames)]
    add("sequence.avif", encode("-l", "--fps", "10", *names), W, H, [rgba(p) for p in frames], format="avif", loop=0)


def jxls():
    def encode(path, *options):
        run("cjxl", path, tmp("o.jxl"), *options)
        return read(tmp("o.jxl"))

    def decode(content):
        run("djxl", tmp("d.jxl", content), tmp("d.png"))
        return decoded(tmp("d.png"))

    add("lossless.jxl", encode(OPAQUE_PNG, "-d", "0"), W, H, [rgba(PHOTO)], format="jxl", hasAlpha=False)
    add("lossless-alpha.jxl", encode(ALPHA_PNG, "-d", "0"), W, H, [rgba(ALPHA)], format="jxl", hasAlpha=True)
    add("container.jxl", encode(OPAQUE_PNG, "-d", "0", "--container=1"), W, H, [rgba(PHOTO)], format="jxl")
    for name, path, options in (("lossy", OPAQUE_PNG, ["-d", "1"]), ("lossy-3", OPAQUE_PNG, ["-d", "3"]),
                                ("progressive", OPAQUE_PNG, ["-d", "1", "-p"]),
                                ("modular", OPAQUE_PNG, ["-d", "1", "-m", "1"]), ("lossy-alpha", ALPHA_PNG, ["-d", "1"])):
        content = encode(path, *options)
        add(name + ".jxl", content, W, H, [decode(content)], format="jxl", tolerance=1)
    run(CONVERT, OPAQUE_PNG, "-colorspace", "Gray", "-depth", "8", tmp("gray.png"))
    add("gray.jxl", encode(tmp("gray.png"), "-d", "0"), W, H, [decoded(tmp("gray.png"))], format="jxl")
    for orientation in range(2, 9):
        content = encode(os.path.join(CODECS, f"orientation-{orientation}.jpg"))
        run("djxl", tmp("d.jxl", content), tmp("d.png"))
        w, h = struct.unpack(">II", read(tmp("d.png"))[16:24])
        add(f"orientation-{orientation}.jxl", content, w, h, [decoded(tmp("d.png"))], format="jxl", tolerance=1,
            orientation=orientation)
    frames = [photo(W, H, n + 60) for n in range(4)]
    names = [tmp(f"j{n}.png", png(p, W, H)) for n, p in enumerate(frames)]
    run("apngasm", tmp("a.png"), *names, "1", "10", "-z0")
    add("animated.jxl", encode(tmp("a.png"), "-d", "0"), W, H, [rgba(p) for p in frames], format="jxl", loop=0)
    jxl_layers()


def jxl_layers():
    """Writes still images with layers, some of which extend past the canvas, a file with too many layers, and one with a
    large layer."""
    def plain(color, w, h):
        return bytes(color) * (w * h)

    pixels = list(PHOTO)
    layers = [(0, 0, W, H, b"".join(bytes(p[:3]) for p in PHOTO))]
    for x, y, w, h, color in ((5, 6, 10, 8, (200, 30, 60)), (-3, 20, 9, 30, (20, 180, 90)), (12, 10, 8, 7, (9, 9, 240))):
        layers.append((x, y, w, h, plain(color, w, h)))
        for row in range(max(0, y), min(H, y + h)):
            for column in range(max(0, x), min(W, x + w)):
                pixels[row * W + column] = color + (255,)
    add("layers.jxl", layered(W, H, layers), W, H, [rgba(pixels)], format="jxl", hasAlpha=False)
    many = [(n % 8, n // 8 % 8, 1, 1, bytes((n % 256, 0, 0))) for n in range(300)]
    with open(os.path.join(OUT, "many-layers.jxl"), "wb") as file:
        file.write(layered(8, 8, [(0, 0, 8, 8, plain((1, 2, 3), 8, 8))] + many))
    large = (-20, -10, 1300, 800, plain((200, 30, 60), 1300, 800))
    with open(os.path.join(OUT, "large-layer.jxl"), "wb") as file:
        file.write(layered(8, 8, [(0, 0, 8, 8, plain((1, 2, 3), 8, 8)), large]))


def tiffs():
    def encode(source, *options, kind="tiff"):
        run(CONVERT, source, "-strip", *options, f"{kind}:" + tmp("o.tiff"))
        return read(tmp("o.tiff"))

    def save(name, content, pixels, **facts):
        add(name + ".tiff", content, W, H, [pixels], format="tiff", **facts)

    for name in ("None", "LZW", "Zip", "RLE"):
        save(name.lower(), encode(OPAQUE_PNG, "-compress", name), rgba(PHOTO), hasAlpha=False, depth=8)
        save(name.lower() + "-alpha", encode(ALPHA_PNG, "-compress", name), rgba(ALPHA), hasAlpha=True)
    save("tiled", encode(OPAQUE_PNG, "-compress", "Zip", "-define", "tiff:tile-geometry=16x16"), rgba(PHOTO))
    save("strips", encode(OPAQUE_PNG, "-compress", "LZW", "-define", "tiff:rows-per-strip=7"), rgba(PHOTO))
    save("planar", encode(OPAQUE_PNG, "-compress", "LZW", "-interlace", "plane"), rgba(PHOTO))
    save("big-endian", encode(OPAQUE_PNG, "-endian", "MSB"), rgba(PHOTO))
    save("bigtiff", encode(OPAQUE_PNG, "-compress", "Zip", kind="tiff64"), rgba(PHOTO))
    save("rgb16", encode(OPAQUE_PNG, "-depth", "16", "-compress", "Zip"), rgba(PHOTO), depth=16)
    save("associated", encode(ALPHA_PNG, "-define", "tiff:alpha=associated"), rgba(ALPHA), hasAlpha=True, tolerance=1)
    run(CONVERT, OPAQUE_PNG, "-colorspace", "Gray", "-depth", "8", tmp("gray.png"))
    save("gray8", encode(tmp("gray.png"), "-depth", "8"), decoded(tmp("gray.png")), depth=8)
    save("gray16", encode(tmp("gray.png"), "-depth", "16"), decoded(tmp("gray.png")), depth=16)
    for depth in (10, 12, 14):
        save(f"rgb{depth}", encode(OPAQUE_PNG, "-depth", str(depth), "-compress", "Zip"), rgba(PHOTO), depth=depth,
             tolerance=1)
    for kind, depth in (("half", 16), ("float", 32)):
        save(f"rgb-{kind}", encode(OPAQUE_PNG, "-depth", str(depth), "-define", "quantum:format=floating-point"),
             rgba(PHOTO), depth=depth, tolerance=1)
    run(CONVERT, OPAQUE_PNG, "-colors", "50", "-type", "Palette", "png8:" + tmp("p.png"))
    save("palette", encode(tmp("p.png"), "-compress", "LZW"), decoded(tmp("p.png")))
    run(CONVERT, OPAQUE_PNG, "-threshold", "50%", "-type", "Bilevel", tmp("b.png"))
    for name in ("Fax", "Group4"):
        save(name.lower(), encode(tmp("b.png"), "-type", "Bilevel", "-compress", name), decoded(tmp("b.png")), depth=1)
    for orientation, name in enumerate(("TopLeft", "TopRight", "BottomRight", "BottomLeft", "LeftTop", "RightTop",
                                        "RightBottom", "LeftBottom"), 1):
        w, h, pixels = turned(rgba(PHOTO), W, H, orientation)
        add(f"orientation-{orientation}.tiff", encode(OPAQUE_PNG, "-compress", "LZW", "-orient", name), w, h, [pixels],
            format="tiff", orientation=orientation)
    pages = [photo(W, H, n + 70) for n in range(3)]
    names = [tmp(f"t{n}.png", png(p, W, H)) for n, p in enumerate(pages)]
    run(CONVERT, *names, "-strip", "-compress", "Zip", tmp("m.tiff"))
    save("pages", read(tmp("m.tiff")), rgba(pages[0]))
    add("pages-2.tiff", read(tmp("m.tiff")), W, H, [rgba(pages[2])], format="tiff", page=2)


def icos():
    def icon(pictures, kind=1):
        """An ICO or CUR file. `pictures`: (width, height, bits, bytes)."""
        head, offset = struct.pack("<HHH", 0, kind, len(pictures)), 6 + 16 * len(pictures)
        for w, h, bits, body in pictures:
            head += struct.pack("<BBBBHHII", w % 256, h % 256, 0, 0, 1, bits, len(body), offset)
            offset += len(body)
        return head + b"".join(p[3] for p in pictures)

    def bitmap(pixels, w, h, bits, colours=()):
        rows = b""
        for y in reversed(range(h)):
            line = pixels[y * w:(y + 1) * w]
            if bits == 8:
                row = bytes(colours.index(p[:3]) if p[3] else 0 for p in line)
            else:
                row = b"".join(bytes((p[2], p[1], p[0]) + ((p[3],) if bits == 32 else ())) for p in line)
            rows += row + bytes(-len(row) % 4)
        for y in reversed(range(h)):
            value = 0
            for p in pixels[y * w:(y + 1) * w]:
                value = value << 1 | (p[3] == 0)
            rows += (value << (32 - w)).to_bytes(4, "big")
        table = b"".join(bytes((b, g, r, 0)) for r, g, b in colours)
        return struct.pack("<IiiHHIIiiII", 40, w, h * 2, 1, bits, 0, len(rows), 0, 0, len(colours), 0) + table + rows

    w, h = 32, 24
    soft = with_alpha(photo(w, h, 5), w)
    hard = [p if p[3] == 255 else (0, 0, 0, 0) for p in soft]
    small = [(200, 30, 90, 255)] * 256
    add("png.ico", icon([(w, h, 32, png(soft, w, h))]), w, h, [rgba(soft)], format="ico", hasAlpha=True)
    add("bmp32.ico", icon([(w, h, 32, bitmap(soft, w, h, 32))]), w, h, [rgba(soft)], format="ico", hasAlpha=True)
    add("bmp24.ico", icon([(w, h, 24, bitmap(hard, w, h, 24))]), w, h, [rgba(hard)], format="ico", hasAlpha=True)
    few = [((p[0] // 64 * 64, p[1] // 64 * 64, p[2] // 64 * 64) if p[3] else (0, 0, 0)) + (p[3],) for p in hard]
    colours = sorted({p[:3] for p in few})
    add("bmp8.ico", icon([(w, h, 8, bitmap(few, w, h, 8, colours))]), w, h, [rgba(few)], format="ico", hasAlpha=True)
    add("sizes.ico", icon([(16, 16, 32, bitmap(small, 16, 16, 32)), (w, h, 32, png(soft, w, h))]), w, h, [rgba(soft)],
        format="ico", hasAlpha=True)
    add("cursor.cur", icon([(w, h, 7, bitmap(soft, w, h, 32))], 2), w, h, [rgba(soft)], format="cur", hasAlpha=True)
    run(CONVERT, tmp("i.png", png(soft, w, h)), tmp("o.ico"))
    add("imagemagick.ico", read(tmp("o.ico")), w, h, [rgba(soft)], format="ico", hasAlpha=True)


def heifs():
    def encode(path, *options):
        run("heif-enc", *options, "-o", tmp("o.heic"), path)
        return read(tmp("o.heic"))

    def decode(content):
        run("heif-convert", tmp("d.heic", content), tmp("d.png"))
        return decoded(tmp("d.png"))

    w, h = 64, 48
    large = photo(w, h, 8)
    opaque, alpha = tmp("h.png", png(large, w, h)), tmp("ha.png", png(with_alpha(large, w), w, h))
    for name, path, options, facts in (
            ("420", opaque, ["-q", "80"], dict(hasAlpha=False)), ("444", opaque, ["-q", "80", "-p", "chroma=444"], {}),
            ("alpha", alpha, ["-q", "80"], dict(hasAlpha=True)), ("thumbnail", opaque, ["-q", "80", "-t", "16"], {})):
        content = encode(path, *options)
        add(name + ".heic", content, w, h, [decode(content)], format="heif", tolerance=2, **facts)


SVG = b"""<svg xmlns="http://www.w3.org/2000/svg" width="48" height="32" viewBox="0 0 96 64">
<rect width="96" height="64" fill="#204060"/><circle cx="40" cy="30" r="22" fill="#f08020" fill-opacity="0.8"/>
<path d="M60 10 L90 50 L50 58 Z" fill="#40c060" stroke="white" stroke-width="3"/></svg>"""


def svgs():
    def render(content, *options):
        run("rsvg-convert", *options, "-o", tmp("s.png"), tmp("s.svg", content))
        return decoded(tmp("s.png"))

    clear = SVG.replace(b'<rect width="96" height="64" fill="#204060"/>', b"")
    only_box = SVG.replace(b' width="48" height="32"', b"", 1)
    add("sized.svg", SVG, 48, 32, [render(SVG)], format="svg", tolerance=1)
    add("clear.svg", clear, 48, 32, [render(clear)], format="svg", tolerance=1, hasAlpha=True)
    add("viewbox.svg", only_box, 96, 64, [render(only_box, "-w", "96", "-h", "64")], format="svg", tolerance=1)
    add("packed.svgz", gzip.compress(SVG, mtime=0), 48, 32, [render(SVG)], format="svg", tolerance=1)
    add("utf16.svg", ('<?xml version="1.0" encoding="UTF-16"?>' + SVG.decode()).encode("utf-16"), 48, 32, [render(SVG)],
        format="svg", tolerance=1)


def pdfs():
    run("rsvg-convert", "-f", "pdf", "-o", tmp("1.pdf"), tmp("p1.svg", SVG.replace(b'"48" height="32"', b'"64" height="48"', 1)))
    run("rsvg-convert", "-f", "pdf", "-o", tmp("2.pdf"), tmp("p2.svg", SVG))
    run("pdfunite", tmp("1.pdf"), tmp("2.pdf"), tmp("both.pdf"))
    for name, path, page, facts in (("page.pdf", "1.pdf", 1, {}), ("pages.pdf", "both.pdf", 1, {}),
                                    ("pages-1.pdf", "both.pdf", 2, dict(page=1))):
        run("pdftocairo", "-png", "-singlefile", "-r", "72", "-f", str(page), "-l", str(page), tmp(path), tmp("pdf"))
        w, h = struct.unpack(">II", read(tmp("pdf.png"))[16:24])
        add(name, read(tmp(path)), w, h, [decoded(tmp("pdf.png"))], format="pdf", tolerance=1, **facts)


shutil.rmtree(OUT, ignore_errors=True)
os.makedirs(OUT)
try:
    for make in (avifs, jxls, tiffs, icos, heifs, svgs, pdfs):
        make()
finally:
    shutil.rmtree(TMP)
with open(os.path.join(OUT, "manifest.json"), "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(e, sort_keys=True) for e in entries) + "\n]\n")
total = sum(os.path.getsize(os.path.join(OUT, n)) for n in os.listdir(OUT))
print(f"{len(entries)} images, {total // 1024} KiB")
