#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates images with color profiles and code points: Tests/Fixtures/colors and its manifest.json.

This script writes the profiles. A reference contains straight RGBA in sRGB. For an embedded profile, ImageMagick
computes it with its own calls of a color engine, in floating point. For code points, the formulas below compute it.
"""
import hashlib, json, math, os, struct, zlib

import numpy as np

from common import CONVERT, ROOT, read, run, tmp
from light import CODED, NITS, PRIMARIES, WHITE, in_gamut, limited, srgb_light, srgb_sample, to_xyz, xyz

OUT = os.path.join(ROOT, "Tests", "Fixtures", "colors")
W, H = 48, 32
entries = []


def add(name, content, reference, format, tolerance=1.0, **facts):
    """Adds a fixture. `reference`: straight RGBA bytes, or an array of shape H, W, 4 with numbers from 0 to 1."""
    with open(os.path.join(OUT, name), "wb") as file:
        file.write(content)
    if not isinstance(reference, bytes):
        reference = np.clip(np.rint(reference * 255), 0, 255).astype(np.uint8).tobytes()
    assert len(reference) == W * H * 4, name
    digest = hashlib.sha256(reference).hexdigest()[:16] + ".rgba"
    with open(os.path.join(OUT, digest), "wb") as file:
        file.write(reference)
    entries.append(dict(file=name, format=format, width=W, height=H, frames=1, reference=digest, tolerance=tolerance,
                        **facts))


# --- Light ------------------------------------------------------------------------------------------------------------

D50 = np.array([0.9642, 1, 0.8249])


def bradford(source, target):
    cones = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
    return np.linalg.inv(cones) @ np.diag((cones @ target) / (cones @ source)) @ cones


def to_d50(name):
    return bradford(xyz(PRIMARIES[name][3]), D50) @ to_xyz(name)


def to_srgb(name):
    return np.linalg.inv(to_d50("srgb")) @ to_d50(name)


LIGHT = {
    1: lambda v: np.where(v < 0.08124286, v / 4.5, ((v + 0.09929683) / 1.09929683) ** (1 / 0.45)),
    4: lambda v: v ** 2.2,
    5: lambda v: v ** 2.8,
    8: lambda v: v,
    13: srgb_light,
}


def shown(samples, primaries, transfer):
    """Converts samples (0...1, shape H, W, 4) with code points to sRGB samples."""
    if transfer in NITS:
        nits = NITS[transfer](samples[..., :3]) @ to_srgb(CODED[primaries]).T
        light = limited(in_gamut(nits, "srgb"), 1) / WHITE
    else:
        light = LIGHT[transfer](samples[..., :3]) @ to_srgb(CODED[primaries]).T
    return np.concatenate([srgb_sample(light), samples[..., 3:]], axis=-1)


# --- Images -----------------------------------------------------------------------------------------------------------

def picture():
    """Straight sRGB samples, 0...1: gradients of hue and lightness, a disc, and a gray ramp at the bottom."""
    out = np.ones((H, W, 4))
    for y in range(H):
        for x in range(W):
            u, v = x / (W - 1), y / (H - 1)
            colour = [0.5 + 0.45 * math.sin(6.3 * u + k * 2.1) * (1 - 0.6 * v) for k in range(3)]
            if (u - 0.3) ** 2 + (v - 0.4) ** 2 < 0.05:
                colour = [0.9, 0.55 + 0.2 * u, 0.15]
            if v > 0.8:
                colour = [u, u, u]
            out[y, x, :3] = colour
    return out


PICTURE = picture()
ALPHA = PICTURE.copy()
ALPHA[..., 3] = np.clip(np.linspace(-0.2, 1.4, W), 0, 1)[None, :]


def coded(pixels, name, curve):
    """Converts sRGB pixels to samples in another color space. `curve` converts light to samples."""
    light = np.clip(srgb_light(pixels[..., :3]) @ np.linalg.inv(to_srgb(name)).T, 0, 1)
    return np.concatenate([curve(light), pixels[..., 3:]], axis=-1)


def quantized(samples, depth=8):
    top = 2**depth - 1
    return np.rint(np.clip(samples, 0, 1) * top) / top


# --- Profiles ---------------------------------------------------------------------------------------------------------

def icc(space, kind, version, tags, connection=b"XYZ "):
    tags = [(b"desc", text("desc", space.decode().strip() + " made for tests", version)), (b"wtpt", point(D50))] + tags
    table, body, place = b"", b"", 128 + 4 + 12 * len(tags)
    for name, content in tags:
        content += b"\0" * (-len(content) % 4)
        table += name + struct.pack(">II", place + len(body), len(content))
        body += content
    size = place + len(body)
    head = struct.pack(">I4sI4s4s4s", size, b"\0" * 4, version << 24, kind, space, connection)
    head += struct.pack(">6H", 2026, 1, 1, 0, 0, 0) + b"acsp" + b"\0" * 28
    head += struct.pack(">3i", *(round(v * 65536) for v in D50)) + b"\0" * 48
    return head + struct.pack(">I", len(tags)) + table + body


def text(kind, words, version):
    if version >= 4:
        words = words.encode("utf-16-be")
        return struct.pack(">4sIII2s2sII", b"mluc", 0, 1, 12, b"en", b"US", len(words), 28) + words
    words = words.encode() + b"\0"
    return struct.pack(">4sII", b"desc", 0, len(words)) + words + b"\0" * 78


def point(values):
    return struct.pack(">4sI3i", b"XYZ ", 0, *(round(float(v) * 65536) for v in values))


def power(gamma):
    return struct.pack(">4sIIH", b"curv", 0, 1, round(gamma * 256))


def sampled(function, count):
    values = [round(float(function(i / (count - 1))) * 65535) for i in range(count)]
    return struct.pack(">4sII", b"curv", 0, count) + struct.pack(">%dH" % count, *values)


def parametric():
    numbers = (2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
    return struct.pack(">4sIHH", b"para", 0, 3, 0) + struct.pack(">5i", *(round(v * 65536) for v in numbers))


def matrix_profile(name, curve, version=2):
    colorants = to_d50(name)
    tags = [(b"rXYZ", point(colorants[:, 0])), (b"gXYZ", point(colorants[:, 1])), (b"bXYZ", point(colorants[:, 2]))]
    return icc(b"RGB ", b"mntr", version, tags + [(b"rTRC", curve), (b"gTRC", curve), (b"bTRC", curve)])


def lab(values):
    ratio = np.maximum(values / D50, 0)
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def table_profile(space, kind, channels, steps, function):
    """A profile with 16-bit tables to Lab (ICC.1:2001 6.5.8) and linear curves."""
    content = struct.pack(">4sI4B", b"mft2", 0, channels, 3, steps, 0)
    content += struct.pack(">9i", 65536, 0, 0, 0, 65536, 0, 0, 0, 65536) + struct.pack(">HH", 2, 2)
    content += struct.pack(">HH", 0, 65535) * channels
    for index in np.ndindex(*[steps] * channels):
        lightness, a, b = lab(function(np.array(index) / (steps - 1)))
        content += struct.pack(">3H", *(int(min(65535, max(0, round(v)))) for v in
                                        (lightness * 652.8, (a + 128) * 256, (b + 128) * 256)))
    content += struct.pack(">HH", 0, 65535) * 3
    return icc(space, kind, 2, [(b"A2B0", content)], b"Lab ")


INKS = np.array([[0.03, 0.30, 0.72], [0.62, 0.04, 0.20], [0.87, 0.74, 0.02], [0.02, 0.02, 0.02]])


def printed(inks):
    return to_d50("srgb") @ np.prod(1 - inks[:, None] * (1 - INKS), axis=0) * 0.95


PROFILES = {
    "srgb": matrix_profile("srgb", sampled(srgb_light, 1024)),
    "srgb-v4": matrix_profile("srgb", parametric(), 4),
    "p3": matrix_profile("p3", parametric(), 4),
    "adobe": matrix_profile("adobe", power(563 / 256)),
    "prophoto": matrix_profile("prophoto", power(1.8), 4),
    "linear": matrix_profile("2020", power(1)),
    "gray": icc(b"GRAY", b"mntr", 2, [(b"kTRC", power(2.2))]),
    "scanner": table_profile(b"RGB ", b"scnr", 3, 9, lambda v: to_d50("p3") @ v ** 2),
    "cmyk": table_profile(b"CMYK", b"prtr", 4, 6, printed),
}
CURVES = {"srgb": srgb_sample, "srgb-v4": srgb_sample, "p3": srgb_sample, "adobe": lambda v: v ** (256 / 563),
          "prophoto": lambda v: v ** (1 / 1.8), "linear": lambda v: v, "scanner": np.sqrt}
SPACES = {"srgb-v4": "srgb", "linear": "2020", "scanner": "p3"}


# --- Files ------------------------------------------------------------------------------------------------------------

def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(samples, depth=8, before=b"", gray=False):
    """A PNG file of samples 0...1 with 3 or 4 channels, and with `before` between IHDR and IDAT."""
    has_alpha = not np.all(samples[..., 3] == 1)
    chosen = samples[..., [1, 3] if gray else [0, 1, 2, 3]]
    chosen = chosen if has_alpha else chosen[..., :-1]
    values = np.rint(np.clip(chosen, 0, 1) * (2**depth - 1)).astype(">u2" if depth == 16 else np.uint8)
    rows = b"".join(b"\0" + values[y].tobytes() for y in range(H))
    kind = (0 if gray else 2) + (4 if has_alpha else 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", W, H, depth, kind, 0, 0, 0)) + before
            + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def iccp(profile):
    return chunk(b"iCCP", b"icc\0\0" + zlib.compress(profile, 9))


def by_imagemagick(path, *more):
    """The straight RGBA in sRGB that ImageMagick converts from the embedded profile."""
    target = tmp("target.icc", PROFILES["srgb-v4"])
    return run(CONVERT, path, *more, "-intent", "perceptual", "-black-point-compensation", "-profile", target,
               "-depth", "8", "rgba:-")


def in_space(name, pixels=PICTURE):
    return coded(pixels, SPACES.get(name, name), CURVES[name])


def pngs():
    for name in CURVES:
        for depth in (8, 16):
            content = png(in_space(name), depth, iccp(PROFILES[name]))
            path = tmp("in.png", content)
            # sRGB images aren't converted, so every byte stays the same.
            is_plain = name.startswith("srgb") and depth == 8
            reference = quantized(in_space(name)) if is_plain else by_imagemagick(path)
            add(f"{name}-{depth}.png", content, reference, "png", 0 if is_plain else 1, profile=name)
    for name in ("p3", "adobe", "linear"):
        for depth in (8, 16):
            content = png(in_space(name, ALPHA), depth, iccp(PROFILES[name]))
            add(f"{name}-alpha-{depth}.png", content, by_imagemagick(tmp("in.png", content)), "png", profile=name)
    gray = PICTURE.copy()
    gray[..., :3] = (srgb_light(PICTURE[..., :3]) @ [0.2126, 0.7152, 0.0722])[..., None] ** (1 / 2.2)
    for depth in (8, 16):
        content = png(gray, depth, iccp(PROFILES["gray"]), gray=True)
        reference = np.concatenate([srgb_sample(quantized(gray, depth)[..., :3] ** 2.2), gray[..., 3:]], axis=-1)
        add(f"gray-{depth}.png", content, reference, "png", 0.6, profile="gray")


def numbered():
    pixels = quantized(PICTURE)
    for primaries, transfer in [(1, 13), (12, 13), (9, 1), (1, 1), (12, 4), (9, 5), (9, 8), (9, 16), (9, 18), (12, 16)]:
        before = chunk(b"cICP", bytes((primaries, transfer, 0, 1)))
        content = png(pixels, 8, before)
        add(f"cicp-{primaries}-{transfer}.png", content, shown(pixels, primaries, transfer), "png", 0.6,
            cicp=[primaries, transfer])
    deep = quantized(PICTURE, 16)
    for transfer in (8, 16, 18):
        content = png(deep, 16, chunk(b"cICP", bytes((9, transfer, 0, 1))))
        add(f"cicp-9-{transfer}-16.png", content, shown(deep, 9, transfer), "png", 0.6, cicp=[9, transfer])


def chunks():
    """Files that test the precedence of the color chunks."""
    pixels = quantized(PICTURE)
    gamma = lambda value: chunk(b"gAMA", struct.pack(">I", value))
    corners = lambda name: chunk(b"cHRM", struct.pack(">8I", *(
        round(v * 100000) for index in (3, 0, 1, 2) for v in PRIMARIES[name][index])))
    cicp, srgb = chunk(b"cICP", bytes((12, 13, 0, 1))), chunk(b"sRGB", b"\0")
    p3 = shown(pixels, 12, 13)
    LIGHT["g18"] = lambda v: v ** 1.8
    CODED["adobe"] = "adobe"
    LIGHT["g22"] = lambda v: v ** (1 / 0.45471)
    add("chunk-gama.png", png(pixels, 8, gamma(55556)), shown(pixels, 1, "g18"), "png", 0.6)
    add("chunk-gama-srgb.png", png(pixels, 8, gamma(45455)), pixels, "png", 0)
    add("chunk-chrm-gama.png", png(pixels, 8, gamma(55556) + corners("p3")), shown(pixels, 12, "g18"), "png", 0.6)
    add("chunk-chrm.png", png(pixels, 8, corners("p3")), p3, "png", 0.6)
    add("chunk-srgb-gama.png", png(pixels, 8, srgb + gamma(100000)), pixels, "png", 0)
    add("chunk-cicp-iccp.png", png(pixels, 8, cicp + iccp(PROFILES["linear"]) + gamma(100000)), p3, "png", 0.6)
    content = png(in_space("p3"), 8, gamma(100000) + iccp(PROFILES["p3"]))
    add("chunk-iccp-gama.png", content, by_imagemagick(tmp("in.png", png(in_space("p3"), 8, iccp(PROFILES["p3"])))),
        "png")


def jpegs():
    for name in ("srgb", "p3", "adobe", "prophoto", "linear", "scanner"):
        source = tmp("in.png", png(in_space(name), 8, iccp(PROFILES[name])))
        path = tmp("out.jpg")
        run(CONVERT, source, "-sampling-factor", "1x1", "-quality", "95", path)
        reference = run("djpeg", "-ppm", path).split(b"\n", 3)[3]
        reference = b"".join(reference[i:i + 3] + b"\xff" for i in range(0, len(reference), 3))
        is_plain = name == "srgb"
        add(f"{name}.jpg", read(path), reference if is_plain else by_imagemagick(path), "jpeg", 0 if is_plain else 1,
            profile=name)
    gray = (srgb_light(PICTURE[..., :3]) @ [0.2126, 0.7152, 0.0722]) ** (1 / 2.2)
    raw = tmp("in.gray", np.rint(gray * 255).astype(np.uint8).tobytes())
    path = tmp("out.jpg")
    run(CONVERT, "-size", f"{W}x{H}", "-depth", "8", "gray:" + raw, "-profile", tmp("gray.icc", PROFILES["gray"]),
        "-quality", "95", path)
    samples = np.frombuffer(run("djpeg", path).split(b"\n", 3)[3], np.uint8).reshape(H, W, 1) / 255
    add("gray.jpg", read(path), np.concatenate([np.repeat(srgb_sample(samples ** 2.2), 3, 2), samples * 0 + 1], 2),
        "jpeg", 0.6, profile="gray")
    inks = np.zeros((H, W, 4))
    inks[..., 3] = 0.6 * (1 - PICTURE[..., :3].max(axis=-1))
    inks[..., :3] = (1 - PICTURE[..., :3] - inks[..., 3:]) / (1 - inks[..., 3:])
    raw = tmp("in.cmyk", np.rint(inks * 255).astype(np.uint8).tobytes())
    for name, more in (("cmyk.jpg", []), ("ycck.jpg", ["-define", "jpeg:colorspace=YCCK"])):
        run(CONVERT, "-size", f"{W}x{H}", "-depth", "8", "cmyk:" + raw, "-profile", tmp("c.icc", PROFILES["cmyk"]),
            "-quality", "95", *more, path)
        add(name, read(path), by_imagemagick(path), "jpeg", profile="cmyk")
    path = tmp("out.tif")
    run(CONVERT, "-size", f"{W}x{H}", "-depth", "8", "cmyk:" + raw, "-profile", tmp("c.icc", PROFILES["cmyk"]),
        "-compress", "lzw", path)
    add("cmyk.tif", read(path), by_imagemagick(path), "tiff", profile="cmyk")


def others():
    """Files in other formats, encoded without loss from the P3 and AdobeRGB images."""
    for name in ("p3", "adobe"):
        for kind, pixels in (("", PICTURE), ("-alpha", ALPHA)):
            source = tmp("in.png", png(in_space(name, pixels), 8, iccp(PROFILES[name])))
            reference = by_imagemagick(source)
            path = tmp("out.webp")
            run("cwebp", "-quiet", "-lossless", "-exact", "-metadata", "icc", source, "-o", path)
            add(f"{name}{kind}.webp", read(path), reference, "webp", profile=name)
            path = tmp("out.tif")
            run(CONVERT, source, "-compress", "lzw", path)
            add(f"{name}{kind}.tif", read(path), reference, "tiff", profile=name)
            path = tmp("out.avif")
            run("avifenc", "-l", "-s", "8", "--ignore-exif", source, path)
            add(f"{name}{kind}.avif", read(path), reference, "avif", profile=name)
            path = tmp("out.jxl")
            run("cjxl", "-d", "0", "-e", "3", source, path)
            add(f"{name}{kind}.jxl", read(path), reference, "jxl", profile=name)
    for depth, primaries, transfer in [(8, 12, 13), (10, 9, 16), (10, 9, 18), (12, 9, 16), (8, 1, 1)]:
        # With the identity matrix, the samples don't change.
        pixels = quantized(PICTURE, depth)
        source = tmp("in.png", png(pixels, 8 if depth == 8 else 16))
        path = tmp("out.avif")
        run("avifenc", "-l", "-s", "8", "-d", str(depth), "--cicp", f"{primaries}/{transfer}/0", source, path)
        add(f"cicp-{primaries}-{transfer}-{depth}.avif", read(path), shown(pixels, primaries, transfer), "avif", 1,
            cicp=[primaries, transfer])
    for name in ("p3", "adobe"):
        source = tmp("in.png", png(in_space(name), 8, iccp(PROFILES[name])))
        path = tmp("out.heic")
        run("heif-enc", "-L", "--matrix_coefficients=0", "-p", "chroma=444", source, "-o", path)
        add(f"{name}.heic", read(path), by_imagemagick(source), "heif", profile=name)
    for depth, primaries, transfer in [(8, 12, 13), (10, 9, 16)]:
        pixels = quantized(PICTURE, depth)
        source = tmp("in.png", png(pixels, 8 if depth == 8 else 16, iccp(PROFILES["p3"])))
        run("heif-enc", "-L", "-b", str(depth), "--matrix_coefficients=0", "-p", "chroma=444", source, "-o", path)
        content = read(path)
        # heif-enc writes no code points for compatibility with old readers, so replace the profile with them.
        numbers = b"colrnclx" + struct.pack(">HHHB", primaries, transfer, 0, 0x80)
        place = content.index(b"colrprof")
        content = content[:place] + numbers + content[place + len(numbers):]
        add(f"cicp-{primaries}-{transfer}-{depth}.heic", content, shown(pixels, primaries, transfer), "heif", 1,
            cicp=[primaries, transfer])
    for words, primaries, transfer in [("RGB_D65_DCI_Rel_SRG", 12, 13), ("RGB_D65_202_Rel_PeQ", 9, 16),
                                       ("RGB_D65_202_Rel_HLG", 9, 18), ("RGB_D65_202_Rel_Lin", 9, 8)]:
        pixels = quantized(PICTURE, 16)
        source = tmp("in.png", png(pixels, 16))
        path = tmp("out.jxl")
        run("cjxl", "-d", "0", "-e", "3", "-x", "color_space=" + words, source, path)
        add(f"cicp-{primaries}-{transfer}.jxl", read(path), shown(pixels, primaries, transfer), "jxl", 1,
            cicp=[primaries, transfer])


def main():
    os.makedirs(OUT, exist_ok=True)
    for name in os.listdir(OUT):
        os.remove(os.path.join(OUT, name))
    for name, content in PROFILES.items():
        with open(os.path.join(OUT, name + ".icc"), "wb") as file:
            file.write(content)
    pngs()
    numbered()
    chunks()
    jpegs()
    others()
    with open(os.path.join(OUT, "manifest.json"), "w") as file:
        json.dump(entries, file, indent=1)
        file.write("\n")


main()
