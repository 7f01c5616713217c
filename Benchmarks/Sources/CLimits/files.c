// SPDX-License-Identifier: MIT
#include "CLimits.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int wi_limit_put(const char *temporary, const char *path, const uint8_t *bytes, size_t count) {
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    size_t done = 0;
    while (done < count) {
        ssize_t written = write(file, bytes + done, count - done);
        if (written <= 0) break;
        done += (size_t)written;
    }
    close(file);
    return done == count && rename(temporary, path) == 0 ? 0 : -1;
}

long wi_limit_get(const char *path, uint8_t *buffer, size_t capacity) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    struct stat facts;
    size_t done = 0;
    if (fstat(file, &facts) == 0 && (size_t)facts.st_size <= capacity) {
        while (done < (size_t)facts.st_size) {
            ssize_t got = read(file, buffer + done, (size_t)facts.st_size - done);
            if (got <= 0) break;
            done += (size_t)got;
        }
    }
    close(file);
    return (long)done;
}

int wi_limit_unlink(const char *path) { return unlink(path); }
