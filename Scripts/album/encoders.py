# SPDX-License-Identifier: MIT
"""Writes arrays with independent encoders: ImageMagick, cwebp, img2webp, and gifsicle."""
import os
import struct
import subprocess
import tempfile
import numpy as np

MAGICK = '/usr/bin/convert'


def run(*command, data=None):
    subprocess.run([str(part) for part in command], input=data, check=True, stdout=subprocess.PIPE)


def magick(picture, *options, depth=8):
    """Runs ImageMagick. `options` end with the target, which can have a format prefix (PNG8:file)."""
    height, width, channels = picture.shape
    scale, kind = ((255, np.uint8), (65535, '<u2'))[depth == 16]
    data = (np.clip(picture, 0, 1) * scale + 0.5).astype(kind).tobytes()
    run(MAGICK, '-size', f'{width}x{height}', '-depth', depth, '-endian', 'LSB', ('rgb:-', 'rgba:-')[channels == 4],
        *options, data=data)


def jpeg(picture, path, quality, sampling='4:2:0', progressive=False, gray=False):
    magick(picture, *(['-colorspace', 'Gray'] if gray else []), '-quality', quality, '-sampling-factor', sampling,
           '-interlace', 'JPEG' if progressive else 'None', '-strip', f'JPEG:{path}')


def webp(picture, path, *options):
    with tempfile.NamedTemporaryFile(suffix='.png') as png:
        magick(picture, f'PNG:{png.name}')
        run('cwebp', '-quiet', *options, png.name, '-o', path)


def animated_gif(frames, path, delay, colors, dither='none'):
    """Writes a GIF that loops indefinitely. `delay` is in hundredths of a second."""
    with tempfile.TemporaryDirectory() as folder:
        for index, frame in enumerate(frames):
            magick(frame, os.path.join(folder, f'{index:03}.png'))
        whole = os.path.join(folder, 'all.gif')
        run('ffmpeg', '-v', 'error', '-framerate', f'100/{delay}', '-i', os.path.join(folder, '%03d.png'), '-vf',
            f'split[a][b];[a]palettegen=max_colors={colors}:reserve_transparent=0[p];[b][p]paletteuse=dither={dither}',
            '-loop', 0, whole)
        run('gifsicle', '-O3', '--no-warnings', '--loopcount=forever', whole, '-o', path)


def animated_webp(frames, path, delay, quality):
    """Writes an animated WebP that loops indefinitely. `delay` is in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        # Store complete frames only, because differences between lossy frames leave visible blocks on smooth areas.
        arguments = ['-loop', 0, '-kmin', 0, '-kmax', 1]
        for index, frame in enumerate(frames):
            name = os.path.join(folder, f'{index:03}.png')
            magick(frame, name)
            arguments += ['-d', delay, '-lossy', '-q', quality, '-m', 6, name]
        run('img2webp', *arguments, '-o', path)


def set_orientation(path, value):
    """Inserts an EXIF block that contains only the orientation after the first marker of a JPEG file."""
    tiff = b'II*\0' + struct.pack('<IHHHIHHI', 8, 1, 0x0112, 3, 1, value, 0, 0)
    block = b'Exif\0\0' + tiff
    with open(path, 'rb') as file:
        data = file.read()
    with open(path, 'wb') as file:
        file.write(data[:2] + b'\xff\xe1' + struct.pack('>H', len(block) + 2) + block + data[2:])
