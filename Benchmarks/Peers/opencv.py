# SPDX-License-Identifier: MIT
"""OpenCV on the calling thread."""
import cv2
import numpy

cv2.setNumThreads(1)


def thumbnail(data, side=256):
    """Returns the BGR samples of the image, decoded at full size and averaged down to fit a square."""
    image = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR)
    ratio = side / max(image.shape[:2])
    size = (round(image.shape[1] * ratio), round(image.shape[0] * ratio))
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA).tobytes()


def decode(data):
    return cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_UNCHANGED)
