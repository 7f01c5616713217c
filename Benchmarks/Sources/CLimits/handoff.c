// SPDX-License-Identifier: MIT
#include "CLimits.h"
#include "consumer.h"
#include <pthread.h>
#include <stdlib.h>

// The limit of a loader that runs libcurl on a dedicated thread: the thread passes each body to another thread, which
// sleeps between them.

typedef struct Body {
    struct Body *next;
    uint8_t *bytes;
    size_t count;
    int number;
} Body;

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    Body *first;
    Body **last;
    int isDone;
    const long *lengths;
    int files;
    size_t step;
    int wrong;
} Queue;

static int pass(void *context, int number, uint8_t *bytes, size_t count) {
    Queue *queue = context;
    Body *body = malloc(sizeof *body);
    if (!body) return 0;
    *body = (Body){NULL, bytes, count, number};
    pthread_mutex_lock(&queue->lock);
    *queue->last = body;
    queue->last = &body->next;
    pthread_mutex_unlock(&queue->lock);
    pthread_cond_signal(&queue->arrived);
    return 1;
}

static void *receive(void *context) {
    Queue *queue = context;
    pthread_mutex_lock(&queue->lock);
    while (queue->first || !queue->isDone) {
        Body *body = queue->first;
        if (!body) {
            pthread_cond_wait(&queue->arrived, &queue->lock);
            continue;
        }
        queue->first = body->next;
        if (!queue->first) queue->last = &queue->first;
        pthread_mutex_unlock(&queue->lock);
        int file = body->number % queue->files;
        int isRight = wi_has_pattern(file, body->bytes, body->count, (size_t)queue->lengths[file], queue->step);
        free(body->bytes);
        free(body);
        pthread_mutex_lock(&queue->lock);
        if (!isRight) queue->wrong++;
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

int wi_limit_http_handoff(
    const char *const *urls, const long *lengths, int urlCount, int total, int connections, size_t step,
    wi_limit_loaded *loaded) {
    Queue queue = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .arrived = PTHREAD_COND_INITIALIZER, .lengths = lengths, .files = urlCount,
        .step = step};
    queue.last = &queue.first;
    pthread_t thread;
    if (pthread_create(&thread, NULL, receive, &queue) != 0) return -1;
    int code = wi_load_all(urls, urlCount, total, connections, pass, &queue, loaded);
    pthread_mutex_lock(&queue.lock);
    queue.isDone = 1;
    pthread_mutex_unlock(&queue.lock);
    pthread_cond_signal(&queue.arrived);
    pthread_join(thread, NULL);
    return queue.wrong ? -1 : code;
}
