#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Generates images with more than 8 bits per sample: Tests/Fixtures/depth and its manifest.json.

A reference contains straight RGBA with 16 bits per sample, little-endian. If the encoding is exact, these are the
samples that were written. Otherwise, heif-convert or ImageMagick decodes them. The writers below, ImageMagick, avifenc,
heif-enc, and cjxl write the files.
"""
import hashlib, json, os, struct, zlib

import numpy as np

from common import CONVERT, ROOT, read, run, tmp

OUT = os.path.join(ROOT, "Tests", "Fixtures", "depth")
W, H = 24, 18
entries = []


def add(name, content, pixels, format, depth, tolerance=0.0, **facts):
    """Adds a fixture.

    `pixels`: an array of shape H, W, 4 with straight 16-bit samples and the EXIF orientation applied. `tolerance` is in
    16-bit steps.
    """
    with open(os.path.join(OUT, name), "wb") as file:
        file.write(content)
    body = np.ascontiguousarray(pixels).astype("<u2").tobytes()
    reference = hashlib.sha256(body).hexdigest()[:16] + ".rgba16"
    with open(os.path.join(OUT, reference), "wb") as file:
        file.write(body)
    entries.append(dict(file=name, format=format, depth=depth, width=pixels.shape[1], height=pixels.shape[0],
                        reference=reference, tolerance=tolerance, **facts))


# --- Images -----------------------------------------------------------------------------------------------------------

def picture(alpha=False):
    """Gradients whose steps are far smaller than an 8-bit step, and some noise in the lowest bits."""
    random = np.random.default_rng(7)
    y, x = np.mgrid[0:H, 0:W]
    red = 20000 + x * 37 + y * 11
    green = 65535 - x * 900 - y * 700
    blue = (x * y * 71) % 65536
    pixels = np.stack([red, green, blue], -1) + random.integers(0, 64, (H, W, 3))
    pixels = np.clip(pixels, 0, 65535)
    opacity = np.full((H, W, 1), 65535)
    if alpha:
        opacity = (x * 2731 + y * 17)[..., None] % 65536
        opacity[:, -3:] = 0
        opacity[:, :3] = 65535
        pixels = np.where(opacity == 0, 0, pixels)
    return np.concatenate([pixels, opacity], -1).astype(np.uint16)


def grey(pixels):
    out = pixels.copy()
    out[..., 1] = out[..., 2] = out[..., 0]
    return out


def png(samples, kind, interlaced=False, chunks=b""):
    """Encodes samples of shape H, W, channels as a 16-bit PNG file."""
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    def rows(part):
        part = np.ascontiguousarray(part).astype(">u2")
        return b"".join(b"\0" + part[row].tobytes() for row in range(part.shape[0]))

    height, width = samples.shape[:2]
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    data = (b"".join(rows(samples[y::dy, x::dx]) for x, y, dx, dy in passes if y < height and x < width)
            if interlaced else rows(samples))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 16, kind, 0, 0, interlaced))
            + chunks + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b"")), chunk


def pngs():
    opaque, clear = picture(), picture(alpha=True)
    add("rgb.png", png(opaque[..., :3], 2)[0], opaque, "png", 16)
    add("rgba.png", png(clear, 6)[0], clear, "png", 16)
    add("interlaced.png", png(clear, 6, True)[0], clear, "png", 16)
    add("grey.png", png(opaque[..., :1], 0)[0], grey(opaque), "png", 16)
    add("grey-alpha.png", png(clear[..., [0, 3]], 4)[0], grey(clear), "png", 16)
    # One color is transparent. All 16 bits of its samples must match.
    key = opaque[5, 5, :3]
    keyed = opaque.copy()
    keyed[5, 6, :3] = key ^ np.array([0, 0, 1], np.uint16)
    chunk = png(opaque[..., :3], 2)[1]
    content = png(keyed[..., :3], 2, chunks=chunk(b"tRNS", struct.pack(">HHH", *[int(v) for v in key])))[0]
    keyed[(keyed[..., :3] == key).all(-1)] = 0
    add("key.png", content, keyed, "png", 16)


def tiffs():
    opaque, clear = picture(), picture(alpha=True)
    source, source_alpha = tmp("s.png", png(opaque[..., :3], 2)[0]), tmp("a.png", png(clear, 6)[0])

    def encode(path, *options):
        run(CONVERT, path, "-strip", "-depth", "16", *options, "tiff:" + tmp("o.tiff"))
        return read(tmp("o.tiff"))

    add("rgb.tiff", encode(source, "-compress", "Zip"), opaque, "tiff", 16)
    add("big-endian.tiff", encode(source, "-compress", "LZW", "-endian", "MSB"), opaque, "tiff", 16)
    add("planes.tiff", encode(source, "-compress", "Zip", "-interlace", "plane"), opaque, "tiff", 16)
    add("rgba.tiff", encode(source_alpha, "-compress", "Zip", "-define", "tiff:alpha=unassociated"), clear, "tiff", 16)
    grey_source = tmp("g.png", png(opaque[..., :1], 0)[0])
    add("grey.tiff", encode(grey_source, "-compress", "Zip"), grey(opaque), "tiff", 16)
    add("orientation-6.tiff", encode(source, "-compress", "Zip", "-orient", "RightTop"),
        np.rot90(opaque, -1), "tiff", 16, orientation=6)
    # Floating-point samples outside of 0 to 1 are clamped.
    numbers = (opaque[..., :3].astype(np.float32) / 65535) * 1.5 - 0.2
    content = float_tiff(numbers)
    cut = np.rint(np.clip(numbers.astype(np.float64), 0, 1) * 65535)
    add("float.tiff", content, np.concatenate([cut, np.full((H, W, 1), 65535)], -1).astype(np.uint16), "tiff", 32)


def float_tiff(numbers):
    """An uncompressed TIFF file of RGB with 32-bit floats in one strip."""
    height, width = numbers.shape[:2]
    body = numbers.astype("<f4").tobytes()
    values = 8 + 2 + 11 * 12 + 4
    tags = [(256, 3, 1, width), (257, 3, 1, height), (258, 3, 3, values), (259, 3, 1, 1), (262, 3, 1, 2),
            (273, 4, 1, values + 12), (277, 3, 1, 3), (278, 3, 1, height), (279, 4, 1, len(body)), (284, 3, 1, 1),
            (339, 3, 3, values + 6)]
    directory = struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + b"\0\0\0\0"
    return b"II*\0" + struct.pack("<I", 8) + directory + struct.pack("<6H", 32, 32, 32, 3, 3, 3) + body


def stepped(pixels, bits):
    """The samples after they were reduced to `bits` bits and expanded again."""
    top = (1 << bits) - 1
    return np.rint(np.rint(pixels / 65535 * top) / top * 65535).astype(np.uint16)


def avifs():
    for bits in (10, 12):
        pixels = stepped(picture(), bits)
        source = tmp("s.png", png(pixels[..., :3], 2)[0])
        run("avifenc", "--lossless", "-d", str(bits), "-s", "6", source, "-o", tmp("o.avif"))
        # Rounding can differ by half a step of the depth of the file.
        add(f"rgb-{bits}.avif", read(tmp("o.avif")), pixels, "avif", bits, tolerance=1)
    pixels = stepped(picture(alpha=True), 12)
    source = tmp("a.png", png(pixels, 6)[0])
    run("avifenc", "--lossless", "-d", "12", "-s", "6", source, "-o", tmp("o.avif"))
    add("rgba-12.avif", read(tmp("o.avif")), pixels, "avif", 12, tolerance=1)


def heifs():
    for bits in (10, 12):
        source = tmp("s.png", png(stepped(picture(), bits)[..., :3], 2)[0])
        run("heif-enc", "-b", str(bits), "-q", "95", "-p", "chroma=444", "-o", tmp("o.heic"), source)
        run("heif-convert", tmp("o.heic"), tmp("o.png"))
        pixels = np.frombuffer(run(CONVERT, tmp("o.png"), "-depth", "16", "-endian", "LSB", "rgba:-"), "<u2")
        add(f"rgb-{bits}.heic", read(tmp("o.heic")), pixels.reshape(H, W, 4), "heif", bits, tolerance=80)


def jxls():
    for name, pixels, kind in (("rgb", picture()[..., :3], 2), ("rgba", picture(alpha=True), 6)):
        source = tmp("s.png", png(pixels, kind)[0])
        run("cjxl", source, tmp("o.jxl"), "-d", "0", "-e", "3")
        full = picture(alpha=True) if kind == 6 else picture()
        # cjxl 0.7 writes 8-bit alpha.
        add(f"{name}.jxl", read(tmp("o.jxl")), full, "jxl", 16, tolerance=27 if kind == 6 else 0)
    # Floating-point samples from a portable float map, which stores rows from the bottom up.
    numbers = picture()[..., :3].astype(np.float32) / 65535
    source = tmp("s.pfm", b"PF\n%d %d\n-1.0\n" % (W, H) + numbers[::-1].astype("<f4").tobytes())
    run("cjxl", source, tmp("o.jxl"), "-d", "0", "-e", "3", "-x", "color_space=RGB_D65_SRG_Rel_SRG")
    add("float.jxl", read(tmp("o.jxl")), picture(), "jxl", 32, tolerance=1)


def colours():
    """An image in Display P3 with 16 bits. ImageMagick converts it in floating point with its own color engine."""
    folder = os.path.join(os.path.dirname(OUT), "colors")
    source = tmp("s.png", png(picture()[..., :3], 2)[0])
    run(CONVERT, source, "-strip", "+profile", "*", "-set", "colorspace", "sRGB", "-profile",
        os.path.join(folder, "p3.icc"), "png48:" + tmp("p3.png"))
    body = run(CONVERT, tmp("p3.png"), "-profile", os.path.join(folder, "srgb.icc"), "-depth", "16", "-endian", "LSB",
               "rgba:-")
    pixels = np.frombuffer(body, "<u2").reshape(H, W, 4)
    add("p3.png", read(tmp("p3.png")), pixels, "png", 16, tolerance=40)


if __name__ == "__main__":
    os.makedirs(OUT, exist_ok=True)
    for name in os.listdir(OUT):
        os.remove(os.path.join(OUT, name))
    for make in (pngs, tiffs, avifs, heifs, jxls, colours):
        make()
    with open(os.path.join(OUT, "manifest.json"), "w") as file:
        json.dump(entries, file, indent=1)
        file.write("\n")
