#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Generates the album of the demo in Sources/webimage/Album.

This script draws the images, and independent encoders write the files. The last files are invalid on purpose and show
which errors a loader reports. Arguments are the names of the files to generate, or none for all files. Needs the
packages of `Scripts/setup fixtures`.
"""
import binascii
import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'album'))
sys.dont_write_bytecode = True

import fractals  # noqa: E402
import landscapes  # noqa: E402
import motion  # noqa: E402
import patterns  # noqa: E402
import posters  # noqa: E402
from blurhash import blur_hash  # noqa: E402
from encoders import MAGICK, animated_gif, animated_webp, jpeg, magick, run, set_orientation, webp  # noqa: E402

ALBUM = os.path.normpath(os.path.join(HERE, '..', '..', 'Sources', 'webimage', 'Album'))


def dusk(path):
    jpeg(landscapes.dusk(1500, 1000), path, 82)


def peaks(path):
    """An image of ten megapixels. It's drawn smaller and enlarged, which keeps the file small."""
    magick(landscapes.peaks(2000, 1300), '-filter', 'Mitchell', '-resize', '4000x2600', '-sampling-factor', '4:2:0',
           '-quality', 34, '-strip', f'JPEG:{path}')


def pines(path):
    """An image that is stored rotated, with the EXIF orientation 6."""
    jpeg(landscapes.pines(800, 1200).swapaxes(0, 1)[::-1], path, 84)
    set_orientation(path, 6)


def shapes(path):
    run(MAGICK, *posters.shapes(path))


def ampersand(path):
    run(MAGICK, *posters.ampersand(f'PNG8:{path}'))


PICTURES = [
    ('dusk.jpg', 'Seven ranges at dusk', dusk),
    ('moonrise.webp', 'Moonrise', lambda p: webp(landscapes.moonrise(1200, 800), p, '-q', 78, '-m', 6)),
    ('mandelbrot.jpg', 'Seahorse valley', lambda p: jpeg(fractals.mandelbrot(840, 630), p, 82, '4:4:4')),
    ('globe.gif', 'A small planet', lambda p: animated_gif(motion.globe(168, 36), p, 8, 160, 'bayer:bayer_scale=4')),
    ('ampersand.png', 'The shape of letters', ampersand),
    ('aurora.jpg', 'Aurora', lambda p: jpeg(landscapes.aurora(1200, 800), p, 80, progressive=True)),
    ('saturn.png', 'Rings', lambda p: magick(patterns.planet(640, 440), '-quality', 95, p)),
    ('peaks.jpg', 'Morning in the mountains (10 megapixels)', peaks),
    ('flow.webp', 'Flow field', lambda p: webp(patterns.flow(720, 480), p, '-q', 82, '-alpha_q', 90, '-m', 6)),
    ('julia.webp', 'Lace', lambda p: webp(fractals.julia(480, 320), p, '-lossless', '-z', 9)),
    ('orbits.gif', 'Orbits', lambda p: animated_gif(motion.orbit(220, 30), p, 5, 64)),
    ('firs.jpg', 'Firs in the evening (EXIF orientation 6)', pines),
    ('glass.jpg', 'Rose window', lambda p: jpeg(patterns.glass(720, 720), p, 84, '4:2:2')),
    ('lava.webp', 'Lava lamp', lambda p: animated_webp(motion.lava(320, 200, 40), p, 60, 80)),
    ('shapes.png', 'Circles and quarters', shapes),
    ('dunes.jpg', 'Dunes (gray)', lambda p: jpeg(landscapes.dunes(900, 1125), p, 84, gray=True)),
    ('bubble.webp', 'Soap bubble', lambda p: webp(patterns.bubble(520, 520), p, '-q', 84, '-alpha_q', 100, '-m', 6)),
    ('contours.png', 'Unclimbed hills (interlaced palette)', lambda p: magick(
        patterns.contours(720, 480), '+dither', '-colors', 48, '-interlace', 'PNG', f'PNG8:{p}')),
    ('attractor.jpg', 'Strange attractor', lambda p: jpeg(fractals.attractor(720, 720), p, 84, progressive=True)),
    ('lake.jpg', 'Village under the galaxy', lambda p: jpeg(landscapes.lake(1200, 800), p, 80, '4:2:2', True)),
    ('mesh.png', 'Colors melting (16 bits per channel)', lambda p: magick(
        patterns.mesh(252, 168, ['#ff9a5a', '#ff5d8f', '#7b5cff', '#ffd166', '#ff2e63', '#18c8ff'], 4),
        '-quality', 95, f'PNG48:{p}', depth=16)),
    ('outrun.gif', 'Night drive', lambda p: magick(
        motion.outrun(480, 320), '-dither', 'FloydSteinberg', '-colors', 96, f'GIF:{p}')),
    ('guilloche.png', 'Guilloche', lambda p: magick(patterns.guilloche(320, 320), '-quality', 95, p)),
    ('waves.bmp', 'Red sun', lambda p: magick(patterns.waves(210, 140), f'BMP3:{p}')),
]
ANIMATED = {'globe.gif', 'orbits.gif', 'lava.webp'}


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', binascii.crc32(kind + data))


def truncated(path):
    with open(os.path.join(ALBUM, 'dusk.jpg'), 'rb') as whole, open(path, 'wb') as part:
        part.write(whole.read(24_000))


def page(path):
    with open(path, 'w', encoding='utf-8') as file:
        file.write('<!DOCTYPE html>\n<html><head><title>Sign in</title></head>\n'
                   '<body><h1>Please sign in to see this picture</h1></body></html>\n')  # prose-lint: allow


def bomb(path):
    """A file whose header claims 50,000 x 50,000 pixels, followed by almost no data."""
    head = chunk(b'IHDR', struct.pack('>IIBBBBB', 50_000, 50_000, 8, 6, 0, 0, 0))
    with open(path, 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n' + head + chunk(b'IDAT', b'\x78\x9c\x03\0\0\0\0\x01') + chunk(b'IEND', b''))


def corrupt(path):
    """A file that is corrupt in 600 bytes from the middle on."""
    with open(os.path.join(ALBUM, 'shapes.png'), 'rb') as file:
        data = bytearray(file.read())
    for index in range(len(data) // 2, len(data) // 2 + 600):
        data[index] = (data[index] * 7 + 91) & 255
    with open(path, 'wb') as file:
        file.write(data)


BROKEN = [
    ('truncated.jpg', 'A download that broke off', truncated, 'decode'),
    ('sign-in.jpg', 'A web page called .jpg', page, 'decode'),
    ('bomb.png', '65 bytes that claim 2.5 billion pixels', bomb, 'limit'),
    ('corrupt.png', 'A file with 600 corrupt bytes', corrupt, 'decode'),
    ('empty.png', 'Nothing at all', lambda path: open(path, 'wb').close(), 'network'),
]


def main():
    only = set(sys.argv[1:])
    os.makedirs(ALBUM, exist_ok=True)
    for name, _, make, *_ in PICTURES + BROKEN:
        if not only or name in only:
            make(os.path.join(ALBUM, name))
    entries = [{'file': name, 'title': title, 'kind': 'animated' if name in ANIMATED else 'picture'}
               for name, title, _ in PICTURES]
    for entry in entries:
        entry['blurHash'], entry['aspectRatio'] = blur_hash(os.path.join(ALBUM, entry['file']))
    entries += [{'file': name, 'title': title, 'kind': 'broken', 'expect': family} for name, title, _, family in BROKEN]
    with open(os.path.join(ALBUM, 'album.json'), 'w', encoding='utf-8') as file:
        json.dump(entries, file, indent=2, ensure_ascii=False)
        file.write('\n')


main()
