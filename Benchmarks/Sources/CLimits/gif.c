// SPDX-License-Identifier: MIT
#include "CLimits.h"
#include "palette.h"
#include <gif_lib.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint8_t *bytes;
    size_t count;
    size_t capacity;
} Memory;

static int take(GifFileType *file, GifByteType *target, int count) {
    Memory *memory = file->UserData;
    size_t part = (size_t)count < memory->count ? (size_t)count : memory->count;
    memcpy(target, memory->bytes, part);
    memory->bytes += part;
    memory->count -= part;
    return (int)part;
}

int wi_limit_gif(const uint8_t *bytes, size_t count, uint8_t *output, size_t capacity) {
    Memory memory = {(uint8_t *)bytes, count, 0};
    int error, frames = 0;
    GifFileType *file = DGifOpen(&memory, take, &error);
    if (!file) return -1;
    int width = file->SWidth;
    uint8_t *line = malloc((size_t)width);
    GifRecordType type = UNDEFINED_RECORD_TYPE;
    while (line && (size_t)width * file->SHeight * 4 <= capacity && DGifGetRecordType(file, &type) == GIF_OK
           && type != TERMINATE_RECORD_TYPE) {
        if (type == EXTENSION_RECORD_TYPE) {
            int code;
            GifByteType *block;
            DGifGetExtension(file, &code, &block);
            while (block) DGifGetExtensionNext(file, &block);
        } else if (type == IMAGE_DESC_RECORD_TYPE) {
            DGifGetImageDesc(file);
            ColorMapObject *map = file->Image.ColorMap ? file->Image.ColorMap : file->SColorMap;
            uint32_t colours[256] = {0};
            for (int i = 0; i < map->ColorCount; i++)
                colours[i] = 0xff000000u | (uint32_t)map->Colors[i].Blue << 16 | (uint32_t)map->Colors[i].Green << 8
                    | map->Colors[i].Red;
            for (int y = 0; y < file->Image.Height && DGifGetLine(file, line, file->Image.Width) == GIF_OK; y++) {
                uint32_t *row = (uint32_t *)output + (size_t)(y + file->Image.Top) * width + file->Image.Left;
                for (int x = 0; x < file->Image.Width; x++) row[x] = colours[line[x]];
            }
            frames++;
        }
    }
    free(line);
    DGifCloseFile(file, &error);
    return frames;
}

static int give(GifFileType *file, const GifByteType *source, int count) {
    Memory *memory = file->UserData;
    if (memory->count + (size_t)count > memory->capacity) {
        size_t capacity = (memory->count + (size_t)count) * 2;
        uint8_t *more = realloc(memory->bytes, capacity);
        if (!more) return 0;
        memory->bytes = more;
        memory->capacity = capacity;
    }
    memcpy(memory->bytes + memory->count, source, (size_t)count);
    memory->count += (size_t)count;
    return count;
}

uint8_t *wi_limit_make_gif(const uint8_t *pixels, int width, int height, int frames, size_t *count) {
    Memory memory = {NULL, 0, 0};
    GifColorType colours[256] = {{0, 0, 0}};
    for (int i = 0; i < wi_palette_count; i++) {
        uint8_t colour[3];
        wi_palette_colour(i, colour);
        colours[i] = (GifColorType){colour[0], colour[1], colour[2]};
    }
    int error;
    GifFileType *file = EGifOpen(&memory, give, &error);
    ColorMapObject *map = GifMakeMapObject(256, colours);
    uint8_t *line = malloc((size_t)width);
    if (!file || !map || !line) return NULL;
    EGifSetGifVersion(file, true);
    EGifPutScreenDesc(file, width, height, 8, 0, map);
    for (int frame = 0; frame < frames; frame++) {
        const GifByteType control[4] = {4, 4, 0, 0};
        EGifPutExtension(file, GRAPHICS_EXT_FUNC_CODE, 4, control);
        EGifPutImageDesc(file, 0, 0, width, height, false, NULL);
        for (int y = 0; y < height; y++) {
            const uint8_t *row = pixels + ((size_t)frame * height + y) * width * 4;
            for (int x = 0; x < width; x++, row += 4) line[x] = wi_palette_entry(row);
            EGifPutLine(file, line, width);
        }
    }
    free(line);
    GifFreeMapObject(map);
    EGifCloseFile(file, &error);
    *count = memory.count;
    return memory.bytes;
}
