// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// Something in a window moves all the time, and every frame takes longer than it may: the loop is never idle.
    @MainActor
    struct SlowFrames {
        private let widget: UnsafeMutablePointer<GtkWidget>
        private let tick: guint

        /// Until ``end()``.
        init(_ widget: UnsafeMutablePointer<GtkWidget>) {
            self.widget = widget
            tick = gtk_widget_add_tick_callback(
                widget,
                { widget, _, _ in
                    let end = g_get_monotonic_time() + 30_000
                    while g_get_monotonic_time() < end {}
                    gtk_widget_queue_draw(widget)
                    return 1
                }, nil, nil)
        }

        func end() { gtk_widget_remove_tick_callback(widget, tick) }
    }
#endif
