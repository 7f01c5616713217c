#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates the images for the tests of WebImageCodecs: Tests/Fixtures/codecs and its manifest.json.

The files are written by independent encoders (ImageMagick, cjpeg, ffmpeg, cwebp, gif2webp, img2webp, gifsicle, apngasm)
or by the small writers below, whose pixels are known. A reference contains the uncompressed, straight RGBA of all
frames and is stored once per content. It comes from the source pixels if the format is lossless, and from an
independent decoder otherwise.
"""
import hashlib, json, os, random, shutil, struct, zlib

from common import CONVERT, ROOT, TMP, run, tmp

OUT = os.path.join(ROOT, "Tests", "Fixtures", "codecs")
entries = []


def add(name, content, width, height, frames, *, format, tolerance=0, **facts):
    """Adds a fixture. `frames`: straight RGBA of each frame, with the EXIF orientation applied."""
    with open(os.path.join(OUT, name), "wb") as file:
        file.write(content)
    pixels = b"".join(frames)
    assert len(pixels) == width * height * 4 * len(frames), name
    reference = hashlib.sha256(pixels).hexdigest()[:16] + ".rgba"
    with open(os.path.join(OUT, reference), "wb") as file:
        file.write(pixels)
    entries.append(dict(file=name, format=format, width=width, height=height, frames=len(frames),
                        reference=reference, tolerance=tolerance, **facts))


# --- Images -----------------------------------------------------------------------------------------------------------

def photo(width, height, seed=1):
    """An image that resembles a photograph: gradients, edges, and a little noise."""
    noise = random.Random(seed)
    rows = []
    for y in range(height):
        for x in range(width):
            u, v = x / max(1, width - 1), y / max(1, height - 1)
            red, green, blue = 40 + 180 * u, 60 + 150 * v, 200 - 120 * u * v
            if (u - 0.6) ** 2 + (v - 0.45) ** 2 < 0.06:
                red, green, blue = 230 - 60 * v, 90 + 40 * u, 40
            if v > 0.8:
                red, green, blue = 30 + 20 * u, 110, 50 + 40 * u
            rows.append(tuple(max(0, min(255, int(c + noise.uniform(-4, 4)))) for c in (red, green, blue)))
    return rows


def ramp_alpha(pixels, width, height):
    """The pixels with alpha: opaque on the left, partly transparent in the middle, and transparent on the right."""
    out = []
    for i, (r, g, b) in enumerate(pixels):
        x = i % width
        a = 255 if x < width // 3 else 0 if x >= width - width // 4 else (x * 37 + i) % 256
        out.append((r, g, b, a))
    return out


def rgba(pixels):
    return b"".join(bytes(p) if len(p) == 4 else bytes(p) + b"\xff" for p in pixels)


def ppm(pixels, width, height):
    return b"P6\n%d %d\n255\n" % (width, height) + b"".join(bytes(p[:3]) for p in pixels)


def pam(pixels, width, height):
    return (b"P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n" % (width, height)
            + rgba(pixels))


def decoded_by_ffmpeg(path):
    return run("ffmpeg", "-v", "error", "-i", path, "-frames:v", "1", "-vf",
               "scale=flags=accurate_rnd+full_chroma_int+full_chroma_inp+bilinear", "-f", "rawvideo", "-pix_fmt",
               "rgba", "-")


def decoded_by_djpeg(content):
    data = run("djpeg", "-ppm", stdin=content)
    kind, size, _, body = data.split(b"\n", 3)
    if kind == b"P5":
        return b"".join(bytes((v, v, v, 255)) for v in body)
    return b"".join(body[i:i + 3] + b"\xff" for i in range(0, len(body), 3))


# --- JPEG -------------------------------------------------------------------------------------------------------------

W, H = 40, 30
PHOTO = photo(W, H)


def with_exif(content, orientation, order):
    o = "<" if order == "II" else ">"
    tiff = order.encode() + struct.pack(o + "HIHHHIHHI", 42, 8, 1, 0x0112, 3, 1, orientation, 0, 0)
    body = b"Exif\0\0" + tiff
    return content[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + content[2:]


def stored_for(pixels, width, height, orientation):
    """The pixels to store so that applying `orientation` results in `pixels`."""
    sw, sh = (height, width) if orientation >= 5 else (width, height)
    out = [None] * (sw * sh)
    for y in range(height):
        for x in range(width):
            sx, sy = {1: (x, y), 2: (width - 1 - x, y), 3: (width - 1 - x, height - 1 - y), 4: (x, height - 1 - y),
                      5: (y, x), 6: (y, width - 1 - x), 7: (height - 1 - y, width - 1 - x),
                      8: (height - 1 - y, x)}[orientation]
            out[sy * sw + sx] = pixels[y * width + x]
    return out, sw, sh


def jpegs():
    source = ppm(PHOTO, W, H)
    for name, options in {"444": ["-sample", "1x1"], "422": ["-sample", "2x1"], "420": ["-sample", "2x2"],
                          "440": ["-sample", "1x2"], "411": ["-sample", "4x1"], "gray": ["-grayscale"],
                          "rgb": ["-rgb"], "restart": ["-restart", "2B"]}.items():
        content = run("cjpeg", "-quality", "90", *options, stdin=source)
        # Gray images and images without subsampling need no upsampling, so a second decoder agrees with the first.
        independent = name in ("444", "gray")
        pixels = decoded_by_ffmpeg(tmp("a.jpg", content)) if independent else decoded_by_djpeg(content)
        add(f"{name}.jpg", content, W, H, [pixels], format="jpeg", tolerance=1)
        progressive = run("jpegtran", "-progressive", stdin=content)
        add(f"{name}-progressive.jpg", progressive, W, H, [pixels], format="jpeg", tolerance=1)
        if name in ("420", "gray"):
            for kind, flags in (("arithmetic", []), ("arithmetic-progressive", ["-progressive"])):
                add(f"{name}-{kind}.jpg", run("jpegtran", "-arithmetic", *flags, stdin=content), W, H, [pixels],
                    format="jpeg", tolerance=1)
    by_ffmpeg = tmp("ffmpeg.jpg")
    run("ffmpeg", "-v", "error", "-y", "-i", tmp("s.ppm", source), "-pix_fmt", "yuvj420p", "-q:v", "2",
        "-bitexact", by_ffmpeg)
    content = open(by_ffmpeg, "rb").read()
    add("420-ffmpeg.jpg", content, W, H, [decoded_by_ffmpeg(by_ffmpeg)], format="jpeg", tolerance=2)
    cmyk = run(CONVERT, "ppm:-", "-colorspace", "CMYK", "-quality", "92", "-strip", "jpeg:-", stdin=source)
    naive = run(CONVERT, "jpeg:-", "-colorspace", "sRGB", "-depth", "8", "rgba:-", stdin=cmyk)
    add("cmyk.jpg", cmyk, W, H, [naive], format="jpeg", tolerance=2)
    for side in range(1, 18):
        other = 18 - side
        small = ppm(photo(side, other, side), side, other)
        content = run("cjpeg", "-quality", "85", "-sample", "2x2", stdin=small)
        add(f"odd-{side}x{other}.jpg", content, side, other, [decoded_by_djpeg(content)], format="jpeg", tolerance=1)
    for orientation in range(1, 9):
        stored, sw, sh = stored_for(PHOTO, W, H, orientation)
        content = run("cjpeg", "-quality", "95", "-sample", "1x1", stdin=ppm(stored, sw, sh))
        content = with_exif(content, orientation, "II" if orientation % 2 else "MM")
        add(f"orientation-{orientation}.jpg", content, W, H, [rgba(PHOTO)], format="jpeg", tolerance=3,
            orientation=orientation)


# --- PNG --------------------------------------------------------------------------------------------------------------

def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def packed(samples, depth):
    if depth == 16:
        return b"".join(struct.pack(">H", s) for s in samples)
    out, bits, count = bytearray(), 0, 0
    for sample in samples:
        bits, count = bits << depth | sample, count + depth
        if count == 8:
            out.append(bits)
            bits, count = 0, 0
    if count:
        out.append(bits << (8 - count))
    return bytes(out)


def filtered(rows, bytes_per_pixel, first=0):
    """The rows, filtered with all five filters in turn (PNG specification, section 9)."""
    out, before = bytearray(), None
    for n, row in enumerate(rows):
        kind = (n + first) % 5
        before = before or bytes(len(row))
        out.append(kind)
        for i, value in enumerate(row):
            a = row[i - bytes_per_pixel] if i >= bytes_per_pixel else 0
            b = before[i]
            c = before[i - bytes_per_pixel] if i >= bytes_per_pixel else 0
            p = a + b - c
            nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            out.append((value - (0, a, b, (a + b) // 2, nearest)[kind]) & 255)
        before = row
    return bytes(out)


def png(grid, width, height, depth, color_type, extra=b"", interlaced=False, idat_size=None):
    """A PNG file. `grid`: a tuple of samples per pixel."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color_type]
    step = max(1, channels * depth // 8)
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    raw = b""
    for x0, y0, dx, dy in passes if interlaced else [(0, 0, 1, 1)]:
        rows = [packed([s for x in range(x0, width, dx) for s in grid[y * width + x]], depth)
                for y in range(y0, height, dy)]
        if x0 < width and rows:
            raw += filtered(rows, step)
    data = zlib.compress(raw, 9)
    parts = [data] if idat_size is None else [data[i:i + idat_size] for i in range(0, len(data), idat_size)]
    header = struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + b"".join(chunk(b"IDAT", p) for p in parts)
            + chunk(b"IEND", b""))


def to8(value, depth):
    maximum = (1 << depth) - 1
    return (value * 255 + maximum // 2) // maximum


def pngs():
    w, h = 19, 13
    alpha = ramp_alpha(photo(w, h, 2), w, h)
    noise = random.Random(7)
    for interlaced in (False, True):
        tail = "-interlaced" if interlaced else ""
        for depth in (1, 2, 4, 8, 16):
            top = (1 << depth) - 1
            gray = [(noise.randrange(top + 1),) for _ in range(w * h)]
            shown = [(to8(v, depth),) * 3 for (v,) in gray]
            add(f"gray{depth}{tail}.png", png(gray, w, h, depth, 0, interlaced=interlaced), w, h, [rgba(shown)],
                format="png", depth=depth)
            key = gray[5][0]
            cut = [s + (0 if v == key else 255,) for s, (v,) in zip(shown, gray)]
            add(f"gray{depth}-key{tail}.png",
                png(gray, w, h, depth, 0, chunk(b"tRNS", struct.pack(">H", key)), interlaced), w, h, [rgba(cut)],
                format="png", depth=depth, hasAlpha=True)
            if depth <= 8:
                colours = min(1 << depth, 200)
                table = [tuple(noise.randrange(256) for _ in range(3)) for _ in range(colours)]
                index = [(noise.randrange(colours),) for _ in range(w * h)]
                plte = chunk(b"PLTE", b"".join(map(bytes, table)))
                add(f"palette{depth}{tail}.png", png(index, w, h, depth, 3, plte, interlaced), w, h,
                    [rgba([table[i] for (i,) in index])], format="png", depth=depth)
                trns = bytes(noise.randrange(256) for _ in range(colours // 2))
                faded = [table[i] + (trns[i] if i < len(trns) else 255,) for (i,) in index]
                add(f"palette{depth}-alpha{tail}.png",
                    png(index, w, h, depth, 3, plte + chunk(b"tRNS", trns), interlaced), w, h, [rgba(faded)],
                    format="png", depth=depth, hasAlpha=True)
            else:
                wide = lambda p: tuple(c * 257 for c in p)
                add(f"rgb16{tail}.png", png([wide(p[:3]) for p in alpha], w, h, 16, 2, interlaced=interlaced), w, h,
                    [rgba([p[:3] for p in alpha])], format="png", depth=16)
                add(f"rgba16{tail}.png", png([wide(p) for p in alpha], w, h, 16, 6, interlaced=interlaced), w, h,
                    [rgba(alpha)], format="png", depth=16, hasAlpha=True)
        add(f"rgb8{tail}.png", png([p[:3] for p in alpha], w, h, 8, 2, interlaced=interlaced, idat_size=100), w, h,
            [rgba([p[:3] for p in alpha])], format="png", depth=8)
        add(f"rgba8{tail}.png", png(alpha, w, h, 8, 6, interlaced=interlaced), w, h, [rgba(alpha)], format="png",
            depth=8, hasAlpha=True)
        add(f"gray-alpha8{tail}.png", png([(p[0], p[3]) for p in alpha], w, h, 8, 4, interlaced=interlaced), w, h,
            [rgba([(p[0],) * 3 + (p[3],) for p in alpha])], format="png", depth=8, hasAlpha=True)
    key = alpha[3][:3]
    add("rgb8-key.png", png([p[:3] for p in alpha], w, h, 8, 2, chunk(b"tRNS", struct.pack(">HHH", *key))), w, h,
        [rgba([p[:3] + (0 if p[:3] == key else 255,) for p in alpha])], format="png", depth=8, hasAlpha=True)
    source = pam(alpha, w, h)
    add("rgba8-imagemagick.png", run(CONVERT, "pam:-", "-strip", "png32:-", stdin=source), w, h,
        [decoded_by_ffmpeg(tmp("i.pam", source))], format="png", depth=8, hasAlpha=True)


# --- Animated PNG -----------------------------------------------------------------------------------------------------

def chunks(content):
    place = 8
    while place < len(content):
        size = struct.unpack(">I", content[place:place + 4])[0]
        yield content[place + 4:place + 8], content[place + 8:place + 8 + size]
        place += size + 12


def apng(frames, width, height, kind, prefix=b"", loops=0, cover=None, interlaced=False):
    """An APNG file. `frames`: (x, y, width, height, dispose, blend, pixels). `cover`: an image that isn't a frame."""
    out = b"\x89PNG\r\n\x1a\n"
    number = 0
    bodies = [[body for name, body in chunks(png(f[6], f[2], f[3], 8, kind, prefix, interlaced, idat_size=90))
               if name == b"IDAT"] for f in frames]
    out += chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 1 if interlaced else 0))
    out += chunk(b"acTL", struct.pack(">II", len(frames), loops)) + prefix
    if cover:
        still = png(cover, width, height, 8, kind, prefix, interlaced)
        out += b"".join(chunk(name, body) for name, body in chunks(still) if name == b"IDAT")
    for n, (x, y, w, h, dispose, blend, _) in enumerate(frames):
        out += chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, w, h, x, y, 1, 20, dispose, blend))
        number += 1
        for body in bodies[n]:
            if n == 0 and not cover:
                out += chunk(b"IDAT", body)
            else:
                out += chunk(b"fdAT", struct.pack(">I", number) + body)
                number += 1
    return out + chunk(b"IEND", b"")


def composed(frames, width, height, straight):
    """The frames as composed on their canvas, if every alpha is 0 or 255."""
    canvas, shown = [(0, 0, 0, 0)] * (width * height), []
    for x, y, w, h, dispose, blend, pixels in frames:
        before = list(canvas)
        for i, value in enumerate(pixels):
            pixel, place = straight(value), (y + i // w) * width + x + i % w
            if blend == 0 or pixel[3]:
                canvas[place] = pixel if pixel[3] else (0, 0, 0, 0)
        shown.append(rgba(canvas))
        if dispose == 1:
            for i in range(w * h):
                canvas[(y + i // w) * width + x + i % w] = (0, 0, 0, 0)
        if dispose == 2:
            canvas = before
    return shown


def apngs():
    w, h = 33, 21
    frames = [tmp(f"apng{n}.png", png(photo(w, h, n + 20), w, h, 8, 2)) for n in range(2)]
    run("apngasm", tmp("o.png"), *frames, "1", "10", "-z0")
    add("animated.png", open(tmp("o.png"), "rb").read(), w, h, [rgba(photo(w, h, n + 20)) for n in range(2)],
        format="apng", depth=8, loop=0)
    noise = random.Random(19)
    table = [tuple(noise.randrange(256) for _ in range(3)) for _ in range(16)]
    kinds = [("rgba", 6, b"", lambda v: v), ("rgb", 2, b"", lambda v: v + (255,)),
             ("gray-alpha", 4, b"", lambda v: (v[0],) * 3 + (v[1],)),
             ("palette", 3, chunk(b"PLTE", b"".join(map(bytes, table))) + chunk(b"tRNS", b"\0"),
              lambda v: table[v[0]] + (255 if v[0] else 0,))]
    for name, kind, prefix, straight in kinds:
        def pixel():
            opaque = noise.random() < 0.6
            if kind == 3:
                return (noise.randrange(1, 16) if opaque else 0,)
            colour = tuple(noise.randrange(256) for _ in range(1 if kind == 4 else 3))
            return colour + ((255 if opaque else 0,) if kind & 4 else ())
        for cover in (False, True):
            frames = []
            for n in range(14):
                whole = n % 5 == 4 or (n == 0 and not cover)
                x, y = (0, 0) if whole else (noise.randrange(w - 1), noise.randrange(h - 1))
                fw = w if whole else noise.randrange(1, w - x + 1)
                fh = h if whole else noise.randrange(1, h - y + 1)
                frames.append((x, y, fw, fh, noise.randrange(3), noise.randrange(2), [pixel() for _ in range(fw * fh)]))
            still = [pixel() for _ in range(w * h)] if cover else None
            content = apng(frames, w, h, kind, prefix, 3 if cover else 0, still, interlaced=kind == 2 and cover)
            add(f"apng-{name}{'-cover' if cover else ''}.png", content, w, h, composed(frames, w, h, straight),
                format="apng", depth=8, loop=3 if cover else 0)


# --- GIF --------------------------------------------------------------------------------------------------------------

def gif_frames(path, width, height):
    data = run(CONVERT, path, "-coalesce", "-depth", "8", "rgba:-")
    size = width * height * 4
    frames = [data[i:i + size] for i in range(0, len(data), size)]
    # The colors of fully transparent pixels don't matter.
    clean = lambda f: b"".join(f[i:i + 4] if f[i + 3] else b"\0\0\0\0" for i in range(0, len(f), 4))
    return [clean(f) for f in frames]


def add_gif(name, path, width, height, loop, **facts):
    add(name, open(path, "rb").read(), width, height, gif_frames(path, width, height), format="gif", loop=loop, **facts)


def plays(path):
    """The number of plays. The file contains the number of repetitions after the first play."""
    data = open(path, "rb").read()
    at = data.index(b"NETSCAPE2.0\x03\x01") + 13
    return (data[at] | data[at + 1] << 8) + 1


def gifs():
    w, h = 32, 24
    tmp("p.ppm", ppm(photo(w, h, 3), w, h))
    for name, options in {"still": [], "still-interlaced": ["-interlace", "GIF"]}.items():
        path = tmp(name + ".gif")
        run(CONVERT, tmp("p.ppm"), *options, "-colors", "64", path)
        add_gif(name + ".gif", path, w, h, 1)
    path = tmp("still-transparent.gif")
    run(CONVERT, "-size", "32x24", "xc:none", "-fill", "orange", "-draw", "circle 12,12 20,12", path)
    add_gif("still-transparent.gif", path, w, h, 1, hasAlpha=True)
    patches = []
    for n, colour in enumerate(("red", "lime", "blue", "yellow", "purple")):
        patches += ["(", "-size", "11x9", f"xc:{colour}", "-fill", "none", "-stroke", "black", "-draw",
                    "line 0,0 10,8", "-repage", f"32x24+{2 + n * 4}+{1 + n * 3}", "-set", "delay", str(n * 4), ")"]
    for dispose in ("none", "background", "previous"):
        for base in ("opaque", "clear"):
            first = [tmp("p.ppm")] if base == "opaque" else ["-size", "32x24", "xc:none"]
            path = tmp("a.gif")
            own = "none" if base == "opaque" else dispose
            run(CONVERT, "(", *first, "-repage", "32x24+0+0", "-set", "dispose", own, "-set", "delay", "7", ")", "(",
                *patches, "-set", "dispose", dispose, ")", "-loop", "3", path)
            add_gif(f"dispose-{dispose}-{base}.gif", path, w, h, plays(path), hasAlpha=base == "clear")
    stills = []
    for n in range(4):
        path = tmp(f"s{n}.gif")
        run(CONVERT, tmp("q.ppm", ppm(photo(w, h, 30 + n), w, h)), "-colors", "32", path)
        stills.append(path)
    for name, options, loop in (("local-palettes", ["--loopcount=0"], 0), ("no-loop", ["--no-loopcount"], 1),
                                ("loop-65535", ["--loopcount=65535"], 65536),
                                ("interlaced", ["--interlace", "--loopcount=2"], 3)):
        path = tmp("g.gif")
        run("gifsicle", *options, "--delay=5", "--no-warnings", *stills, "-o", path)
        add_gif(f"{name}.gif", path, w, h, loop)
    path = tmp("mixed.gif")
    run("gifsicle", "--loopcount=0", "--no-warnings", "-D", "none", stills[0], "-D", "previous", "--crop", "4,4+12x10",
        stills[1], "-D", "background", "--crop", "10,2+20x20", stills[2], "-D", "none", stills[3], "-o", path)
    add_gif("mixed.gif", path, w, h, 0)
    path = tmp("f.gif")
    run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=size=32x24:rate=5:duration=1", "-bitexact", path)
    add_gif("ffmpeg.gif", path, w, h, 0)


# --- WebP -------------------------------------------------------------------------------------------------------------

def webps():
    alpha = ramp_alpha(PHOTO, W, H)
    visible = [p if p[3] else (0, 0, 0, 0) for p in alpha]
    tmp("opaque.ppm", ppm(PHOTO, W, H))
    tmp("alpha.png", png(alpha, W, H, 8, 6))

    def cwebp(source, *options):
        run("cwebp", "-quiet", *options, tmp(source), "-o", tmp("o.webp"))
        return open(tmp("o.webp"), "rb").read()

    def dwebp(content):
        data = run("dwebp", "-quiet", tmp("d.webp", content), "-pam", "-o", "-")
        return data.split(b"ENDHDR\n", 1)[1]

    add("lossless.webp", cwebp("opaque.ppm", "-lossless"), W, H, [rgba(PHOTO)], format="webp")
    add("lossless-alpha.webp", cwebp("alpha.png", "-lossless"), W, H, [rgba(visible)], format="webp", hasAlpha=True)
    add("lossless-exact.webp", cwebp("alpha.png", "-lossless", "-exact", "-z", "9"), W, H, [rgba(visible)],
        format="webp", hasAlpha=True)
    for quality in (30, 80):
        content = cwebp("opaque.ppm", "-q", str(quality))
        add(f"lossy-{quality}.webp", content, W, H, [decoded_by_ffmpeg(tmp("l.webp", content))], format="webp",
            tolerance=2)
    for name, options in (("lossy-alpha", []), ("lossy-alpha-raw", ["-alpha_method", "0"]),
                          ("lossy-alpha-lossy", ["-alpha_q", "20"])):
        content = cwebp("alpha.png", "-q", "85", *options)
        add(f"{name}.webp", content, W, H, [dwebp(content)], format="webp", tolerance=1, hasAlpha=True)
    pictures = [photo(W, H, n + 40) for n in range(4)]
    names = [tmp(f"w{n}.png", png(p, W, H, 8, 2)) for n, p in enumerate(pictures)]
    run("img2webp", "-lossless", "-loop", "5", "-d", "50", *names, "-o", tmp("a.webp"))
    add("animated.webp", open(tmp("a.webp"), "rb").read(), W, H, [rgba(p) for p in pictures], format="webp", loop=5)
    for dispose in ("background", "none"):
        gif = os.path.join(OUT, f"dispose-{dispose}-clear.gif")
        run("gif2webp", "-quiet", gif, "-o", tmp("g.webp"))
        add(f"animated-{dispose}.webp", open(tmp("g.webp"), "rb").read(), 32, 24, gif_frames(gif, 32, 24),
            format="webp", loop=3, hasAlpha=True)


# --- BMP --------------------------------------------------------------------------------------------------------------

def bmp_rows(grid, width, height, depth, top_down=False):
    rows = []
    for y in range(height) if top_down else reversed(range(height)):
        values = grid[y * width:(y + 1) * width]
        if depth <= 8:
            row = packed(values, depth)
        else:
            row = b"".join(v.to_bytes(depth // 8, "little") for v in values)
        rows.append(row + bytes(-len(row) % 4))
    return b"".join(rows)


def bmp(width, height, depth, body, *, header=40, compression=0, masks=(), table=b"", colours=0, top_down=False):
    h = -height if top_down else height
    if header == 12:
        dib = struct.pack("<IHHHH", 12, width, height, 1, depth)
    else:
        dib = struct.pack("<IiiHHIIiiII", header, width, h, 1, depth, compression, len(body), 2835, 2835, colours, 0)
        dib += b"".join(struct.pack("<I", m) for m in masks)
        dib = dib + bytes(max(0, header - len(dib)))
    offset = 14 + len(dib) + len(table)
    return b"BM" + struct.pack("<IHHI", offset + len(body), 0, 0, offset) + dib + table + body


def rle(grid, width, height, depth):
    """The rows in run-length encoding: runs for repeated pixels, literals for all others."""
    out = bytearray()
    for y in reversed(range(height)):
        row, x = grid[y * width:(y + 1) * width], 0
        while x < width:
            n = 1
            while x + n < width and row[x + n] == row[x] and n < 255:
                n += 1
            if n >= 3 or width - x < 3:
                out += bytes((n, row[x] if depth == 8 else row[x] << 4 | row[x]))
                x += n
                continue
            n = 3
            while x + n < width and n < 20 and not row[x + n] == row[x + n - 1] == row[x + n - 2]:
                n += 1
            body = bytes(row[x:x + n]) if depth == 8 else packed(row[x:x + n], 4)
            out += bytes((0, n)) + body + bytes(len(body) % 2)
            x += n
        out += b"\0\0"
    return bytes(out) + b"\0\1"


def scaled(value, bits):
    return (value * 255 + ((1 << bits) - 1) // 2) // ((1 << bits) - 1)


def bmps():
    w, h = 21, 11
    noise = random.Random(11)
    colour = photo(w, h, 5)
    word = [r << 16 | g << 8 | b for r, g, b in colour]
    whole = [rgba(colour)]

    def save(name, content, frames, **facts):
        add(name + ".bmp", content, w, h, frames, format="bmp", **facts)

    for depth in (1, 2, 4, 8):
        count = min(1 << depth, 100)
        table = [tuple(noise.randrange(256) for _ in range(3)) for _ in range(count)]
        index = [noise.randrange(count) if noise.random() < 0.5 else (i // 9) % count for i in range(w * h)]
        shown = [rgba([table[i] for i in index])]
        four = b"".join(bytes((b, g, r, 0)) for r, g, b in table)
        three = b"".join(bytes((b, g, r)) for r, g, b in table)
        stated = 0 if count == 1 << depth else count
        save(f"palette{depth}", bmp(w, h, depth, bmp_rows(index, w, h, depth), table=four, colours=stated), shown)
        save(f"palette{depth}-top-down",
             bmp(w, h, depth, bmp_rows(index, w, h, depth, True), table=four, colours=stated, top_down=True), shown)
        if count == 1 << depth and depth != 2:
            save(f"palette{depth}-core", bmp(w, h, depth, bmp_rows(index, w, h, depth), header=12, table=three), shown)
        save(f"palette{depth}-v5",
             bmp(w, h, depth, bmp_rows(index, w, h, depth), header=124, table=four, colours=stated), shown)
        if depth in (4, 8):
            save(f"rle{depth}", bmp(w, h, depth, rle(index, w, h, depth), compression=1 if depth == 8 else 2,
                                    table=four, colours=stated), shown)
            save(f"rle{depth}-os2", bmp(w, h, depth, rle(index, w, h, depth), compression=1 if depth == 8 else 2,
                                        header=64, table=four, colours=stated), shown)
    jump = bytes((5, 1, 0, 2, 3, 1, 4, 0, 0, 1))
    holes = [(0, 0, 0, 0)] * (w * h)
    for x in range(5):
        holes[(h - 1) * w + x] = (10, 20, 30, 255)
    for x in range(8, 12):
        holes[(h - 2) * w + x] = (200, 100, 50, 255)
    save("rle8-delta", bmp(w, h, 8, jump, compression=1, colours=2, table=bytes((50, 100, 200, 0, 30, 20, 10, 0))),
         [rgba(holes)], hasAlpha=True)
    save("rgb24", bmp(w, h, 24, bmp_rows(word, w, h, 24)), whole)
    save("rgb24-core", bmp(w, h, 24, bmp_rows(word, w, h, 24), header=12), whole)
    save("rgb24-top-down", bmp(w, h, 24, bmp_rows(word, w, h, 24, True), top_down=True), whole)
    save("rgb32", bmp(w, h, 32, bmp_rows(word, w, h, 32)), whole)
    save("rgb32-junk", bmp(w, h, 32, bmp_rows([v | 0x77000000 for v in word], w, h, 32)), whole)
    alpha = ramp_alpha(colour, w, h)
    four = [a << 24 | r << 16 | g << 8 | b for r, g, b, a in alpha]
    masks = (0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    for header in (56, 108, 124):
        save(f"rgba32-{header}", bmp(w, h, 32, bmp_rows(four, w, h, 32), header=header, compression=3, masks=masks),
             [rgba(alpha)], hasAlpha=True)
    save("rgba32-v4-plain", bmp(w, h, 32, bmp_rows(four, w, h, 32), header=108, masks=masks), [rgba(alpha)],
         hasAlpha=True)
    save("rgb32-alpha-zero",
         bmp(w, h, 32, bmp_rows(word, w, h, 32), header=108, masks=masks), whole)
    for name, bits in (("555", (5, 5, 5)), ("565", (5, 6, 5)), ("444", (4, 4, 4)), ("123", (1, 2, 3))):
        low = [tuple(c >> (8 - n) for c, n in zip(p, bits)) for p in colour]
        words = [r << (bits[1] + bits[2]) | g << bits[2] | b for r, g, b in low]
        shown = [rgba([tuple(scaled(c, n) for c, n in zip(p, bits)) for p in low])]
        places = (((1 << bits[0]) - 1) << (bits[1] + bits[2]), ((1 << bits[1]) - 1) << bits[2], (1 << bits[2]) - 1)
        save(f"fields16-{name}", bmp(w, h, 16, bmp_rows(words, w, h, 16), compression=3,
                                     table=b"".join(struct.pack("<I", m) for m in places)), shown)
        if name == "555":
            save("rgb16", bmp(w, h, 16, bmp_rows(words, w, h, 16)), shown)
    ten = [(r * 1023 // 255) << 20 | (g * 1023 // 255) << 10 | (b * 1023 // 255) for r, g, b in colour]
    places = (0x3FF << 20, 0x3FF << 10, 0x3FF)
    save("fields32-10", bmp(w, h, 32, bmp_rows(ten, w, h, 32), compression=3,
                            table=b"".join(struct.pack("<I", m) for m in places)), whole, tolerance=1)
    save("imagemagick", run(CONVERT, "ppm:-", "bmp3:-", stdin=ppm(colour, w, h)), whole)
    run("ffmpeg", "-v", "error", "-y", "-i", tmp("b.ppm", ppm(colour, w, h)), "-bitexact", tmp("f.bmp"))
    save("ffmpeg", open(tmp("f.bmp"), "rb").read(), whole)


def qois():
    """QOI files of ffmpeg, with every kind of chunk, runs up to the maximum length, and the table of seen pixels."""
    w, h = 30, 20
    colour = photo(w, h, 12)
    flat = [((i // 70) * 40 % 256, 20, (i // 140) * 9) for i in range(w * h)]
    few = [colour[(i * 7 + i // 9) % 11] for i in range(w * h)]
    for name, pixels, kind in (("rgb", colour, ppm), ("runs", flat, ppm), ("seen", few, ppm),
                               ("rgba", ramp_alpha(colour, w, h), pam)):
        run("ffmpeg", "-v", "error", "-y", "-i", tmp("q." + kind.__name__, kind(pixels, w, h)), "-c:v", "qoi", "-f",
            "image2", tmp("q.qoi"))
        facts = dict(hasAlpha=True) if kind is pam else {}
        with open(tmp("q.qoi"), "rb") as file:
            add(name + ".qoi", file.read(), w, h, [rgba(pixels)], format="qoi", **facts)


def netpbm(kind, maximum, samples, w, comment=b""):
    """A file of `P1` to `P6`. `samples` has a list for each row."""
    head = b"P%d\n" % kind + comment + b"%d %d\n" % (w, len(samples)) + (b"" if kind in (1, 4) else b"%d\n" % maximum)
    if kind == 1:
        return head + b"".join(b"".join(b"%d" % s for s in row) + b"\n" for row in samples)
    if kind < 4:
        return head + b"".join(b" ".join(b"%d" % s for s in row) + b"\n" for row in samples)
    if kind == 4:
        rows = [row + [1] * (-w % 8) for row in samples]
        return head + b"".join(bytes(int("".join(map(str, row[i:i + 8])), 2) for i in range(0, len(row), 8))
                               for row in rows)
    return head + b"".join(struct.pack(">H" if maximum > 255 else "B", s) for row in samples for s in row)


def arbitrary(channels, maximum, tuples, samples, w, h):
    """A PAM file. `samples` has a tuple for each pixel."""
    head = b"P7\n# made for tests\nHEIGHT %d\nWIDTH %d\n\nDEPTH %d\nMAXVAL %d\n" % (h, w, channels, maximum)
    head += (b"TUPLTYPE %s\n" % tuples if tuples else b"") + b"ENDHDR\n"
    return head + b"".join(struct.pack(">H" if maximum > 255 else "B", s) for pixel in samples for s in pixel)


def pnms():
    """Files of Netpbm with every signature, maxima with 1 to 16 bits, comments, and every tuple type of PAM."""
    w, h = 29, 17
    colour = photo(w, h, 13)
    clear = ramp_alpha(colour, w, h)

    def stored(values, maximum):
        return [v * maximum // 255 for v in values]

    def shown(values, maximum):
        return tuple((v * 255 + maximum // 2) // maximum for v in values)

    def rows(pixels):
        return [[s for p in pixels[y * w:(y + 1) * w] for s in p] for y in range(h)]

    bits = [(int((p[0] * 5 + i) % 256 > 127),) for i, p in enumerate(colour)]
    black = [rgba([(255 * (1 - b),) * 3 for b, in bits])]
    for name, kind, comment in (("binary.pbm", 4, b""), ("text.pbm", 1, b"# one\n#two\n")):
        add(name, netpbm(kind, 1, rows(bits), w, comment), w, h, black, format="pbm", depth=1, hasAlpha=False)
    for name, kind, maximum, depth in (("gray8.pgm", 5, 255, 8), ("gray16.pgm", 5, 65535, 16),
                                       ("gray10.pgm", 5, 1000, 10), ("text4.pgm", 2, 15, 4),
                                       ("text16.pgm", 2, 65535, 16)):
        gray = [stored((p[1],), maximum) for p in colour]
        add(name, netpbm(kind, maximum, rows(gray), w, b"# gray\n"), w, h,
            [rgba([shown(g, maximum) * 3 for g in gray])], format="pgm", depth=depth, hasAlpha=False)
    for name, kind, maximum, depth in (("rgb8.ppm", 6, 255, 8), ("rgb16.ppm", 6, 65535, 16), ("rgb5.ppm", 6, 31, 5),
                                       ("text8.ppm", 3, 255, 8)):
        deep = [stored(p, maximum) for p in colour]
        add(name, netpbm(kind, maximum, rows(deep), w), w, h, [rgba([shown(p, maximum) for p in deep])], format="ppm",
            depth=depth, hasAlpha=False)
    for name, tuples, maximum, depth in (
            ("bits.pam", b"BLACKANDWHITE", 1, 1), ("bits-alpha.pam", b"BLACKANDWHITE_ALPHA", 1, 1),
            ("gray8.pam", b"GRAYSCALE", 255, 8), ("gray8-alpha.pam", b"GRAYSCALE_ALPHA", 255, 8),
            ("rgb8.pam", b"RGB", 255, 8), ("rgba8.pam", b"RGB_ALPHA", 255, 8), ("rgba16.pam", b"RGB_ALPHA", 65535, 16),
            ("rgba12.pam", b"", 4095, 12)):
        alpha = not tuples or tuples.endswith(b"_ALPHA")
        gray = tuples.startswith((b"B", b"G"))
        pixels = [stored((p[:1] if gray else p[:3]) + (p[3:] if alpha else ()), maximum) for p in clear]
        values = [shown(p, maximum) for p in pixels]
        full = [(v[:1] * 3 if gray else v[:3]) + (v[-1:] if alpha else (255,)) for v in values]
        add(name, arbitrary(len(pixels[0]), maximum, tuples, pixels, w, h), w, h, [rgba(full)], format="pam",
            depth=depth, hasAlpha=alpha)


shutil.rmtree(OUT, ignore_errors=True)
os.makedirs(OUT)
try:
    for make in (jpegs, pngs, apngs, gifs, webps, bmps, qois, pnms):
        make()
finally:
    shutil.rmtree(TMP)
with open(os.path.join(OUT, "manifest.json"), "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(e, sort_keys=True) for e in entries) + "\n]\n")
total = sum(os.path.getsize(os.path.join(OUT, n)) for n in os.listdir(OUT))
print(f"{len(entries)} images, {total // 1024} KiB")
