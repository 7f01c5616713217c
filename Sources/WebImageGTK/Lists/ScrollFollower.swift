// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// Follows where a widget is scrolled to. Calls back once behind each frame in which that, or the size of what is
    /// visible, has changed: then the layout is right again.
    @MainActor
    final class ScrollFollower {
        /// The adjustments of something that scrolls.
        private var followed: [(adjustment: UnsafeMutablePointer<GtkAdjustment>, handlers: [gulong])] = []
        private var tick: guint = 0
        private var idle: guint = 0
        /// Whether something changed between a tick and its idle call.
        private var isStale = false
        /// Nil when it has gone.
        private var widget: UnsafeMutablePointer<GtkWidget>?
        private let settled: @MainActor () -> Void

        /// `stop()` must be called before `widget` goes.
        init(_ widget: UnsafeMutablePointer<GtkWidget>, _ settled: @escaping @MainActor () -> Void) {
            self.widget = widget
            self.settled = settled
        }

        /// Follows these instead of those before; nil for none.
        func follow(_ adjustments: [UnsafeMutablePointer<GtkAdjustment>?]) {
            unfollow()
            let changed: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
                ScrollFollower.isolated(data) { $0.schedule() }
            }
            for adjustment in adjustments.compactMap({ $0 }) {
                g_object_ref(UnsafeMutableRawPointer(adjustment))
                let handlers = ["value-changed", "changed"].map { (signal: String) in
                    g_signal_connect_data(
                        UnsafeMutableRawPointer(adjustment), signal, unsafeBitCast(changed, to: GCallback.self),
                        unretained, nil, GConnectFlags(rawValue: 0))
                }
                followed.append((adjustment, handlers))
            }
            schedule()
        }

        private func unfollow() {
            for (adjustment, handlers) in followed {
                let object = UnsafeMutableRawPointer(adjustment)
                for handler in handlers { g_signal_handler_disconnect(object, handler) }
                g_object_unref(object)
            }
            followed = []
        }

        /// Follows nothing any more, and never calls back again.
        func stop() {
            unfollow()
            if let widget, tick != 0 { gtk_widget_remove_tick_callback(widget, tick) }
            if idle != 0 { g_source_remove(idle) }
            (tick, idle, widget) = (0, 0, nil)
        }

        /// Calls back behind the next frame.
        func schedule() {
            guard let widget, tick == 0 else { return }
            // What changes behind the tick may be laid out only in the next frame.
            guard idle == 0 else { return isStale = true }
            // Ticks come before the layout of their frame; what is idle at the priority of frames comes right behind it. With a
            // lower one it would not come at all where frames take longer than they may.
            tick = gtk_widget_add_tick_callback(
                widget,
                { _, _, data in
                    ScrollFollower.isolated(data) { $0.ticked() }
                    return 0
                }, unretained, nil)
        }

        private func ticked() {
            tick = 0
            idle = g_idle_add_full(
                GDK_PRIORITY_REDRAW,
                { data in
                    ScrollFollower.isolated(data) { follower in
                        follower.idle = 0
                        follower.settled()
                        guard follower.isStale else { return }
                        follower.isStale = false
                        follower.schedule()
                    }
                    return 0
                }, unretained, nil)
        }

        private var unretained: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

        nonisolated private static func isolated(_ data: gpointer?, _ body: @MainActor (ScrollFollower) -> Void) {
            guard let data else { return }
            let follower = Unmanaged<ScrollFollower>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { body(follower) }
        }
    }

    /// Whether any of `widget` lies within `ancestor`; false where either is not laid out.
    @MainActor
    func isVisible(_ widget: UnsafeMutablePointer<GtkWidget>, within ancestor: UnsafeMutablePointer<GtkWidget>) -> Bool
    {
        var bounds = graphene_rect_t()
        guard gtk_widget_get_mapped(widget) != 0, gtk_widget_compute_bounds(widget, ancestor, &bounds) != 0 else {
            return false
        }
        let (width, height) = (Float(gtk_widget_get_width(ancestor)), Float(gtk_widget_get_height(ancestor)))
        return bounds.origin.x < width && bounds.origin.x + bounds.size.width > 0 && bounds.origin.y < height
            && bounds.origin.y + bounds.size.height > 0
    }
#endif
