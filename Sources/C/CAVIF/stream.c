// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#include <avif/avif.h>
#include <stdlib.h>
#include "CAVIF.h"
#include "library.h"
#include "status.h"

struct wi_avif_stream {
    avifDecoder *decoder;
    avifIO io;
    /// The available data, which is valid only during a call of wi_avif_stream_advance.
    const uint8_t *data;
    size_t count;
    uint8_t *out;
    size_t stride;
    uint32_t width, height;
    wi_avif_progress progress;
    const char *message;
};

/// Provides a range of the file, or reports that it hasn't arrived yet.
static avifResult read_range(avifIO *io, uint32_t flags, uint64_t offset, size_t size, avifROData *out) {
    const wi_avif_stream *own = io->data;
    if (flags) return AVIF_RESULT_IO_ERROR;
    if (offset > own->count || size > own->count - offset) return AVIF_RESULT_WAITING_ON_IO;
    out->data = own->data + offset;
    out->size = size;
    return AVIF_RESULT_OK;
}

wi_avif_stream *wi_avif_stream_open(uint8_t *out, size_t stride, uint32_t width, uint32_t height, uint32_t max_pixels,
                                    uint32_t max_side, uint64_t max_bytes) {
    if (!width || stride < (size_t)width * 4 || stride > UINT32_MAX) return NULL;
    wi_avif_stream *own = calloc(1, sizeof *own);
    if (!own) return NULL;
    own->out = out;
    own->stride = stride;
    own->width = width;
    own->height = height;
    own->decoder = libavif.avifDecoderCreate();
    if (!own->decoder) {
        free(own);
        return NULL;
    }
    own->io.read = read_range;
    own->io.sizeHint = max_bytes;
    // libavif copies what it reads, because the data moves as it grows.
    own->io.persistent = AVIF_FALSE;
    own->io.data = own;
    own->decoder->requestedSource = AVIF_DECODER_SOURCE_PRIMARY_ITEM;
    own->decoder->allowIncremental = AVIF_TRUE;
    own->decoder->allowProgressive = AVIF_TRUE;
    own->decoder->ignoreExif = AVIF_TRUE;
    own->decoder->ignoreXMP = AVIF_TRUE;
    own->decoder->imageSizeLimit =
        max_pixels < AVIF_DEFAULT_IMAGE_SIZE_LIMIT ? max_pixels : AVIF_DEFAULT_IMAGE_SIZE_LIMIT;
    own->decoder->imageDimensionLimit = max_side;
    own->decoder->strictFlags &= ~(avifStrictFlags)(AVIF_STRICT_PIXI_REQUIRED | AVIF_STRICT_CLAP_VALID);
    libavif.avifDecoderSetIO(own->decoder, &own->io);
    return own;
}

void wi_avif_stream_close(wi_avif_stream *own) {
    if (!own) return;
    libavif.avifDecoderDestroy(own->decoder);
    free(own);
}

const char *wi_avif_stream_message(const wi_avif_stream *own) { return own->message ? own->message : "out of memory"; }

/// Writes the first `rows` rows of the current image to the canvas.
static avifResult draw(wi_avif_stream *own, uint32_t rows) {
    const avifImage *image = own->decoder->image;
    if (image->width != own->width || image->height != own->height) return AVIF_RESULT_BMFF_PARSE_FAILED;
    // A part of an image with chroma subsampling must have an even number of rows.
    if (rows < own->height) rows &= ~1u;
    if (!rows) return AVIF_RESULT_OK;
    avifImage *part = libavif.avifImageCreateEmpty();
    if (!part) return AVIF_RESULT_OUT_OF_MEMORY;
    const avifCropRect area = {0, 0, own->width, rows};
    avifResult status = libavif.avifImageSetViewRect(part, image, &area);
    if (status == AVIF_RESULT_OK) {
        avifRGBImage rgb;
        libavif.avifRGBImageSetDefaults(&rgb, part);
        rgb.depth = 8;
        rgb.format = AVIF_RGB_FORMAT_RGBA;
        rgb.alphaPremultiplied = part->alphaPremultiplied;
        rgb.pixels = own->out;
        rgb.rowBytes = (uint32_t)own->stride;
        status = libavif.avifImageYUVToRGB(part, &rgb);
    }
    libavif.avifImageDestroy(part);
    if (status == AVIF_RESULT_OK && rows > own->progress.rows) own->progress.rows = rows;
    own->progress.is_premultiplied = image->alphaPremultiplied;
    return status;
}

static avifResult parse(wi_avif_stream *own) {
    avifResult status = libavif.avifDecoderParse(own->decoder);
    if (status != AVIF_RESULT_OK) return status;
    own->progress.has_header = 1;
    own->progress.layer_count = own->decoder->imageCount > 0 ? (uint32_t)own->decoder->imageCount : 1;
    wi_avif_describe(own->decoder, &own->progress.image);
    return AVIF_RESULT_OK;
}

static avifResult decode(wi_avif_stream *own) {
    while (own->progress.layers < own->progress.layer_count) {
        avifResult status = libavif.avifDecoderNextImage(own->decoder);
        uint32_t rows = libavif.avifDecoderDecodedRowCount(own->decoder);
        if (status == AVIF_RESULT_OK) {
            status = draw(own, own->height);
            own->progress.layers++;
        } else if (status == AVIF_RESULT_WAITING_ON_IO && rows > own->progress.rows) {
            avifResult drawn = draw(own, rows < own->height ? rows : own->height);
            if (drawn != AVIF_RESULT_OK) return drawn;
        }
        if (status != AVIF_RESULT_OK) return status;
    }
    return AVIF_RESULT_OK;
}

wi_avif_status wi_avif_stream_advance(wi_avif_stream *own, const uint8_t *data, size_t count,
                                      wi_avif_progress *progress) {
    own->data = data;
    own->count = count;
    avifResult status = own->progress.has_header ? AVIF_RESULT_OK : parse(own);
    if (status == AVIF_RESULT_OK) status = decode(own);
    own->data = NULL;
    own->count = 0;
    own->message = libavif.avifResultToString(status);
    *progress = own->progress;
    return wi_avif_status_of(status);
}
#endif
