// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// Follows where a widget is scrolled to. Calls back once behind each frame in which that, or the size of what is visible,
    /// has changed: then the layout is right again.
    @MainActor
    final class ScrollFollower {
        /// The two adjustments of something that scrolls.
        private var followed: [(adjustment: UnsafeMutablePointer<GtkAdjustment>, handlers: [gulong])] = []
        private var idle: guint = 0
        private let settled: @MainActor () -> Void

        init(_ settled: @escaping @MainActor () -> Void) { self.settled = settled }

        isolated deinit { stop() }

        /// Follows these instead of those before; nil for none.
        func follow(_ adjustments: [UnsafeMutablePointer<GtkAdjustment>?]) {
            stop()
            let changed: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
                guard let data else { return }
                let follower = Unmanaged<ScrollFollower>.fromOpaque(data).takeUnretainedValue()
                MainActor.assumeIsolated { follower.schedule() }
            }
            let data = Unmanaged.passUnretained(self).toOpaque()
            for adjustment in adjustments.compactMap({ $0 }) {
                g_object_ref(UnsafeMutableRawPointer(adjustment))
                let handlers = ["value-changed", "changed"].map { (signal: String) in
                    g_signal_connect_data(
                        UnsafeMutableRawPointer(adjustment), signal, unsafeBitCast(changed, to: GCallback.self), data,
                        nil,
                        GConnectFlags(rawValue: 0))
                }
                followed.append((adjustment, handlers))
            }
            schedule()
        }

        /// Follows nothing any more.
        func stop() {
            if idle != 0 { g_source_remove(idle) }
            idle = 0
            for (adjustment, handlers) in followed {
                let object = UnsafeMutableRawPointer(adjustment)
                for handler in handlers { g_signal_handler_disconnect(object, handler) }
                g_object_unref(object)
            }
            followed = []
        }

        /// Calls back behind the next frame.
        func schedule() {
            guard idle == 0 else { return }
            // Right behind frames, which lay out and draw at GDK_PRIORITY_REDRAW.
            idle = g_idle_add_full(
                GDK_PRIORITY_REDRAW + 1,
                { data in
                    guard let data else { return 0 }
                    let follower = Unmanaged<ScrollFollower>.fromOpaque(data).takeUnretainedValue()
                    MainActor.assumeIsolated {
                        follower.idle = 0
                        follower.settled()
                    }
                    return 0
                }, Unmanaged.passUnretained(self).toOpaque(), nil)
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
