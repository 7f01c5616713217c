# SPDX-License-Identifier: MIT
"""An encoder for still JPEG XL images with several layers, which cjxl can't write. It calls libjxl directly."""
import ctypes
from ctypes import POINTER, Structure, byref, c_float, c_int32, c_int64, c_size_t, c_uint8, c_uint32, c_void_p


class BasicInfo(Structure):
    """JxlBasicInfo of libjxl 0.7."""
    _fields_ = [("have_container", c_int32), ("xsize", c_uint32), ("ysize", c_uint32), ("bits_per_sample", c_uint32),
                ("exponent_bits", c_uint32), ("intensity_target", c_float), ("min_nits", c_float),
                ("relative_to_max_display", c_int32), ("linear_below", c_float), ("uses_original_profile", c_int32),
                ("have_preview", c_int32), ("have_animation", c_int32), ("orientation", c_int32),
                ("num_color_channels", c_uint32), ("rest", c_uint32 * 64)]


class FrameHeader(Structure):
    """JxlFrameHeader of libjxl 0.7."""
    _fields_ = [("duration", c_uint32), ("timecode", c_uint32), ("name_length", c_uint32), ("is_last", c_int32),
                ("have_crop", c_int32), ("crop_x0", c_int32), ("crop_y0", c_int32), ("xsize", c_uint32),
                ("ysize", c_uint32), ("blendmode", c_int32), ("source", c_uint32), ("alpha", c_uint32),
                ("clamp", c_int32), ("save_as_reference", c_uint32), ("rest", c_uint32 * 16)]


class PixelFormat(Structure):
    _fields_ = [("num_channels", c_uint32), ("data_type", c_int32), ("endianness", c_int32), ("align", c_size_t)]


UINT8 = 2


def layered(width, height, layers):
    """Returns a lossless file of RGB layers. Each layer is (x, y, width, height, bytes) and replaces the pixels below."""
    lib = ctypes.CDLL("libjxl.so.0.7")
    lib.JxlEncoderCreate.restype = lib.JxlEncoderFrameSettingsCreate.restype = c_void_p

    def check(status):
        assert status == 0, status

    encoder = c_void_p(lib.JxlEncoderCreate(None))
    info = BasicInfo()
    lib.JxlEncoderInitBasicInfo(byref(info))
    info.xsize, info.ysize, info.uses_original_profile = width, height, 1
    check(lib.JxlEncoderSetBasicInfo(encoder, byref(info)))
    colors = (c_uint8 * 256)()
    lib.JxlColorEncodingSetToSRGB(colors, 0)
    check(lib.JxlEncoderSetColorEncoding(encoder, colors))
    settings = c_void_p(lib.JxlEncoderFrameSettingsCreate(encoder, None))
    check(lib.JxlEncoderSetFrameLossless(settings, 1))
    EFFORT = 0
    check(lib.JxlEncoderFrameSettingsSetOption(settings, EFFORT, c_int64(3)))
    for x, y, w, h, content in layers:
        header = FrameHeader()
        lib.JxlEncoderInitFrameHeader(byref(header))
        header.have_crop, header.crop_x0, header.crop_y0, header.xsize, header.ysize = 1, x, y, w, h
        # Keep the result of each layer, so that the next layer is drawn onto it.
        header.source = header.save_as_reference = 1
        check(lib.JxlEncoderSetFrameHeader(settings, byref(header)))
        pixels = PixelFormat(3, UINT8, 0, 0)
        check(lib.JxlEncoderAddImageFrame(settings, byref(pixels), content, c_size_t(len(content))))
    lib.JxlEncoderCloseInput(encoder)
    room = c_size_t(8 << 20)
    buffer = (c_uint8 * room.value)()
    place = ctypes.cast(buffer, POINTER(c_uint8))
    check(lib.JxlEncoderProcessOutput(encoder, byref(place), byref(room)))
    lib.JxlEncoderDestroy(encoder)
    return bytes(buffer[:len(buffer) - room.value])
