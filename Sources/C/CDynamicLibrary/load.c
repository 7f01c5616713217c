// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include "CDynamicLibrary.h"

enum { NEW = 0, LOADED = 1, MISSING = 2 };

static int note(wi_library *library, const char *text) {
    snprintf(library->message, sizeof library->message, "%s", text ? text : "The dynamic linker reported no reason.");
    return MISSING;
}

static int load(wi_library *library) {
    // Lazy binding only resolves the functions that are called, which is faster for libraries with many functions.
    void *handle = dlopen(library->file, RTLD_LAZY | RTLD_LOCAL);
    if (!handle) return note(library, dlerror());
    for (unsigned index = 0; index < library->count; index++) {
        void *address = dlsym(handle, library->names[index]);
        // The library remains open, because some libraries can't be unloaded after they were initialized.
        if (!address) return note(library, dlerror());
        library->addresses[index] = address;
    }
    return LOADED;
}

int wi_library_load(wi_library *library) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int state = __atomic_load_n(&library->state, __ATOMIC_ACQUIRE);
    if (state == NEW) {
        pthread_mutex_lock(&lock);
        state = library->state;
        if (state == NEW) {
            state = load(library);
            __atomic_store_n(&library->state, state, __ATOMIC_RELEASE);
        }
        pthread_mutex_unlock(&lock);
    }
    return state == LOADED;
}
