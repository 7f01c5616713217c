// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// An object that follows the scroll position of a widget.
    ///
    /// The object calls its closure after each frame in which the scroll position or the size of the visible area
    /// changed. At that time, the layout is up to date.
    @MainActor
    final class ScrollObserver {
        /// The adjustments of the scrolling widget, with their signal handlers.
        private var followed: [(adjustment: UnsafeMutablePointer<GtkAdjustment>, handlers: [gulong])] = []
        private var tick: guint = 0
        private var idle: guint = 0
        /// Whether something changed between a tick and its idle callback.
        private var isStale = false
        /// The widget, or `nil` after `stop()`.
        private var widget: UnsafeMutablePointer<GtkWidget>?
        private let settled: @MainActor () -> Void

        /// Creates a follower. Call `stop()` before `widget` is destroyed.
        init(_ widget: UnsafeMutablePointer<GtkWidget>, _ settled: @escaping @MainActor () -> Void) {
            self.widget = widget
            self.settled = settled
        }

        /// Replaces the adjustments to follow. `nil` elements are ignored.
        func follow(_ adjustments: [UnsafeMutablePointer<GtkAdjustment>?]) {
            unfollow()
            let changed: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
                ScrollObserver.isolated(data) { $0.schedule() }
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

        /// Stops following. The closure isn't called again.
        func stop() {
            unfollow()
            if let widget, tick != 0 { gtk_widget_remove_tick_callback(widget, tick) }
            if idle != 0 { g_source_remove(idle) }
            (tick, idle, widget) = (0, 0, nil)
        }

        /// Schedules a call after the next frame.
        func schedule() {
            guard let widget, tick == 0 else { return }
            // A change after the tick may not be part of the layout before the next frame.
            guard idle == 0 else { return isStale = true }
            // A tick runs before the layout of its frame. An idle callback with the priority of redrawing runs right
            // after the frame. With a lower priority, it would never run if frames take longer than their interval.
            tick = gtk_widget_add_tick_callback(
                widget,
                { _, _, data in
                    ScrollObserver.isolated(data) { $0.ticked() }
                    return 0
                }, unretained, nil)
        }

        private func ticked() {
            tick = 0
            idle = g_idle_add_full(
                GDK_PRIORITY_REDRAW,
                { data in
                    ScrollObserver.isolated(data) { follower in
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

        nonisolated private static func isolated(_ data: gpointer?, _ body: @MainActor (ScrollObserver) -> Void) {
            guard let data else { return }
            let follower = Unmanaged<ScrollObserver>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { body(follower) }
        }
    }

    /// The place of a widget relative to an ancestor.
    struct RelativePlace {
        /// The distance between the centers on both axes, as fractions of the size of the ancestor.
        let x, y: Float
        /// Whether at least a part of the widget is inside the ancestor.
        let isVisible: Bool
    }

    /// Returns the place of `widget` relative to `ancestor`, or `nil` if either widget has no layout.
    @MainActor
    func place(
        of widget: UnsafeMutablePointer<GtkWidget>, within ancestor: UnsafeMutablePointer<GtkWidget>
    ) -> RelativePlace? {
        var bounds = graphene_rect_t()
        let (width, height) = (Float(gtk_widget_get_width(ancestor)), Float(gtk_widget_get_height(ancestor)))
        guard gtk_widget_get_mapped(widget) != 0, gtk_widget_compute_bounds(widget, ancestor, &bounds) != 0,
            width > 0, height > 0, bounds.size.width > 0, bounds.size.height > 0
        else { return nil }
        return RelativePlace(
            x: abs(bounds.origin.x + bounds.size.width / 2 - width / 2) / width,
            y: abs(bounds.origin.y + bounds.size.height / 2 - height / 2) / height,
            isVisible: bounds.origin.x < width && bounds.origin.x + bounds.size.width > 0 && bounds.origin.y < height
                && bounds.origin.y + bounds.size.height > 0)
    }
#endif
