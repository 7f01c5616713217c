// SPDX-License-Identifier: MIT
#include "CLimits.h"
#include "consumer.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUE = 32, SCRATCH = 64 << 20 };

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint8_t *bodies[QUEUE];
    size_t counts[QUEUE];
    int numbers[QUEUE];
    int head, length, closed;
    int side;
    const char *folder;
    uint8_t **thumbnails;
} Line;

static int push(void *context, int number, uint8_t *bytes, size_t count) {
    Line *line = context;
    pthread_mutex_lock(&line->lock);
    while (line->length == QUEUE) pthread_cond_wait(&line->changed, &line->lock);
    int at = (line->head + line->length++) % QUEUE;
    line->bodies[at] = bytes;
    line->counts[at] = count;
    line->numbers[at] = number;
    pthread_cond_broadcast(&line->changed);
    pthread_mutex_unlock(&line->lock);
    return 1;
}

static void *work(void *context) {
    Line *line = context;
    uint8_t *scratch = malloc(SCRATCH);
    uint8_t *output = malloc((size_t)line->side * line->side * 4);
    for (;;) {
        pthread_mutex_lock(&line->lock);
        while (!line->length && !line->closed) pthread_cond_wait(&line->changed, &line->lock);
        if (!line->length) break;
        uint8_t *bytes = line->bodies[line->head];
        size_t count = line->counts[line->head];
        int number = line->numbers[line->head];
        line->head = (line->head + 1) % QUEUE;
        line->length--;
        pthread_cond_broadcast(&line->changed);
        pthread_mutex_unlock(&line->lock);
        char temporary[1024], path[1024];
        snprintf(temporary, sizeof temporary, "%s/temporary-%d", line->folder, number);
        snprintf(path, sizeof path, "%s/%d", line->folder, number);
        wi_limit_put(temporary, path, bytes, count);
        wi_limit_size size;
        if (scratch && output
            && !wi_limit_jpeg_thumbnail(bytes, count, line->side, 2, scratch, SCRATCH, output, &size)) {
            size_t kept = (size_t)size.width * size.height * 4;
            if ((line->thumbnails[number] = malloc(kept))) memcpy(line->thumbnails[number], output, kept);
        }
        free(bytes);
    }
    pthread_mutex_unlock(&line->lock);
    free(output);
    free(scratch);
    return NULL;
}

int wi_limit_cold_load(
    const char *const *urls, int urlCount, int connections, int workers, int side, const char *folder,
    wi_limit_loaded *loaded) {
    Line line = {.side = side, .folder = folder, .thumbnails = calloc((size_t)urlCount, sizeof(uint8_t *))};
    pthread_t threads[8];
    if (!line.thumbnails || workers > 8) return -1;
    pthread_mutex_init(&line.lock, NULL);
    pthread_cond_init(&line.changed, NULL);
    for (int i = 0; i < workers; i++) pthread_create(&threads[i], NULL, work, &line);
    int code = wi_load_all(urls, urlCount, urlCount, connections, push, &line, loaded);
    pthread_mutex_lock(&line.lock);
    line.closed = 1;
    pthread_cond_broadcast(&line.changed);
    pthread_mutex_unlock(&line.lock);
    for (int i = 0; i < workers; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < urlCount; i++) {
        if (!line.thumbnails[i]) code = -1;
        free(line.thumbnails[i]);
    }
    free(line.thumbnails);
    return code;
}
