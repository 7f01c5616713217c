// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// An animation in a window whose frames take longer than the frame interval, so that the main loop is never idle.
    @MainActor
    struct SlowFrames {
        private let widget: UnsafeMutablePointer<GtkWidget>
        private let tick: guint

        /// Starts the animation, which runs until ``end()``.
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
