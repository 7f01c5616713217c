# SPDX-License-Identifier: MIT
"""libvips with one worker and without its cache of operations. Debian 12 has no module for it, so call it directly."""
import ctypes
import os

os.environ["VIPS_CONCURRENCY"] = "1"
_vips = ctypes.CDLL("libvips.so.42")
_objects = ctypes.CDLL("libgobject-2.0.so.0")
_memory = ctypes.CDLL("libglib-2.0.so.0")
_vips.vips_error_buffer.restype = ctypes.c_char_p
_vips.vips_image_new_from_buffer.restype = ctypes.c_void_p
_vips.vips_image_write_to_memory.restype = ctypes.c_void_p
_vips.vips_cache_set_max_mem.argtypes = [ctypes.c_size_t]

if _vips.vips_init(b"benchmarks"):
    raise ImportError(_vips.vips_error_buffer().decode())
_vips.vips_cache_set_max(0)
_vips.vips_cache_set_max_mem(0)


def thumbnail(data, side=256):
    """Returns the samples of the image in all its bands, reduced to fit a square."""
    image = ctypes.c_void_p()
    if _vips.vips_thumbnail_buffer(
        data, ctypes.c_size_t(len(data)), ctypes.byref(image), side, b"height", side, None
    ):
        raise ValueError(_vips.vips_error_buffer().decode())
    size = ctypes.c_size_t()
    pixels = _vips.vips_image_write_to_memory(image, ctypes.byref(size))
    _objects.g_object_unref(image)
    if not pixels:
        raise ValueError(_vips.vips_error_buffer().decode())
    try:
        return ctypes.string_at(pixels, size.value)
    finally:
        _memory.g_free(ctypes.c_void_p(pixels))


def smart_crop(data, width, height, strategy):
    """Returns the position of the part that libvips selects. The strategy is "attention" or "entropy"."""
    image = _vips.vips_image_new_from_buffer(data, ctypes.c_size_t(len(data)), b"", None)
    if not image:
        raise ValueError(_vips.vips_error_buffer().decode())
    image, part = ctypes.c_void_p(image), ctypes.c_void_p()
    # The values of VipsInteresting.
    interesting = {"entropy": 2, "attention": 3}[strategy]
    failed = _vips.vips_smartcrop(image, ctypes.byref(part), width, height, b"interesting", interesting, None)
    _objects.g_object_unref(image)
    if failed:
        raise ValueError(_vips.vips_error_buffer().decode())
    # The offset is that of the original image relative to the part.
    position = -_vips.vips_image_get_xoffset(part), -_vips.vips_image_get_yoffset(part)
    _objects.g_object_unref(part)
    return position
