// SPDX-License-Identifier: MIT
#ifdef WI_IS_ON
#define _GNU_SOURCE
#include "CWebImageGTK.h"

#include <glib-unix.h>
#include <sys/syscall.h>
#include <unistd.h>

// libdispatch exports both functions for the run loop of CoreFoundation, which drives the main queue with them.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *);

bool wi_gtk_is_process_main_thread(void) { return syscall(SYS_gettid) == getpid(); }

// Accessed only on the main thread.
static unsigned long dispatches;

unsigned long wi_gtk_main_queue_dispatches(void) { return dispatches; }

static gboolean drain(gint descriptor, GIOCondition condition, gpointer data) {
    (void)condition;
    (void)data;
    guint64 count;
    // libdispatch doesn't reset the eventfd. If it stayed readable, it would wake the loop indefinitely. Reading
    // doesn't block.
    while (read(descriptor, &count, sizeof count) > 0) {
    }
    dispatches++;
    _dispatch_main_queue_callback_4CF(NULL);
    return G_SOURCE_CONTINUE;
}

void *wi_gtk_main_queue_source_new(void) {
    GSource *source = g_unix_fd_source_new(_dispatch_get_main_queue_handle_4CF(), G_IO_IN);
    g_source_set_callback(source, G_SOURCE_FUNC(drain), NULL, NULL);
    g_source_set_static_name(source, "webimage: main queue");
    return source;
}
#endif
