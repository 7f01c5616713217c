// SPDX-License-Identifier: MIT
#include "CLimits.h"
#include "consumer.h"
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    CURL *handle;
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    int number;
} Slot;

static size_t take(char *data, size_t one, size_t many, void *context) {
    Slot *slot = context;
    size_t count = one * many;
    if (slot->count == 0) {
        curl_off_t length = 0;
        curl_easy_getinfo(slot->handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
        if (length > 0 && (size_t)length > slot->capacity) {
            free(slot->bytes);
            slot->bytes = malloc((size_t)length);
            slot->capacity = slot->bytes ? (size_t)length : 0;
        }
    }
    if (slot->count + count > slot->capacity) {
        uint8_t *more = realloc(slot->bytes, (slot->count + count) * 2);
        if (!more) return 0;
        slot->bytes = more;
        slot->capacity = (slot->count + count) * 2;
    }
    memcpy(slot->bytes + slot->count, data, count);
    slot->count += count;
    return count;
}

static void start(CURLM *multi, Slot *slot, const char *url, int number) {
    slot->count = 0;
    slot->number = number;
    curl_easy_setopt(slot->handle, CURLOPT_URL, url);
    curl_multi_add_handle(multi, slot->handle);
}

int wi_load_all(
    const char *const *urls, int urlCount, int total, int connections, wi_consumer consume, void *context,
    wi_limit_loaded *loaded) {
    memset(loaded, 0, sizeof *loaded);
    CURLM *multi = curl_multi_init();
    Slot *slots = calloc((size_t)connections, sizeof *slots);
    if (!multi || !slots) return -1;
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)connections * 2);
    int next = 0, done = 0, running = 0;
    // The request has the same header fields as that of the downloader.
    struct curl_slist *fields = NULL;
    fields = curl_slist_append(fields, "Accept: image/webp,image/png,image/jpeg,image/gif,image/bmp;q=0.9,*/*;q=0.5");
    fields = curl_slist_append(fields, "User-Agent: WebImage/0.1");
    fields = curl_slist_append(fields, "Accept-Encoding: gzip, deflate, br, zstd");
    for (int i = 0; i < connections; i++) {
        CURL *handle = slots[i].handle = curl_easy_init();
        curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take);
        curl_easy_setopt(handle, CURLOPT_WRITEDATA, &slots[i]);
        curl_easy_setopt(handle, CURLOPT_PRIVATE, &slots[i]);
        curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(handle, CURLOPT_HTTPHEADER, fields);
        curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, 131072L);
        if (next < total) {
            start(multi, &slots[i], urls[next % urlCount], next);
            next++;
        }
    }
    while (done < total) {
        curl_multi_perform(multi, &running);
        int left;
        for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
            CURL *handle = message->easy_handle;
            CURLcode result = message->data.result;
            Slot *slot = NULL;
            long status = 0;
            curl_easy_getinfo(handle, CURLINFO_PRIVATE, (char **)&slot);
            curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
            if (result == CURLE_OK && status == 200) {
                loaded->answered++;
                loaded->bytes += (long)slot->count;
                if (consume && consume(context, slot->number, slot->bytes, slot->count)) {
                    slot->bytes = NULL;
                    slot->capacity = 0;
                }
            }
            done++;
            curl_multi_remove_handle(multi, handle);
            if (next < total) {
                start(multi, slot, urls[next % urlCount], next);
                next++;
            }
        }
        if (done < total) curl_multi_poll(multi, NULL, 0, 100, NULL);
    }
    for (int i = 0; i < connections; i++) {
        curl_easy_cleanup(slots[i].handle);
        free(slots[i].bytes);
    }
    free(slots);
    curl_slist_free_all(fields);
    curl_multi_cleanup(multi);
    return loaded->answered == total ? 0 : -1;
}

typedef struct {
    const long *lengths;
    int count;
    size_t step;
    int wrong;
} Check;

static int check(void *context, int number, uint8_t *bytes, size_t count) {
    Check *check = context;
    int file = number % check->count;
    if (!wi_has_pattern(file, bytes, count, (size_t)check->lengths[file], check->step)) check->wrong++;
    return 0;
}

int wi_limit_http(
    const char *const *urls, const long *lengths, int urlCount, int total, int connections, size_t step,
    wi_limit_loaded *loaded) {
    Check context = {lengths, urlCount, step, 0};
    int code = wi_load_all(urls, urlCount, total, connections, check, &context, loaded);
    return context.wrong ? -1 : code;
}

void wi_fill_pattern(int file, uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) bytes[i] = wi_pattern(file, i);
}

int wi_has_pattern(int file, const uint8_t *bytes, size_t count, size_t length, size_t step) {
    if (count != length || !count) return 0;
    for (size_t i = 0; i < count; i += step) {
        if (bytes[i] != wi_pattern(file, i)) return 0;
    }
    return bytes[count - 1] == wi_pattern(file, count - 1);
}
