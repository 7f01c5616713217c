// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// An action that runs at the beginning of each frame of a window.
    @MainActor
    final class FrameScript {
        private let widget: UnsafeMutablePointer<GtkWidget>
        private let action: @MainActor () -> Void
        private var tick: guint = 0

        /// Starts to call `action` in each frame, until ``end()``. The object must exist until then.
        init(_ widget: UnsafeMutablePointer<GtkWidget>, _ action: @escaping @MainActor () -> Void) {
            self.widget = widget
            self.action = action
            tick = gtk_widget_add_tick_callback(
                widget,
                { _, _, data in
                    guard let data else { return 0 }
                    // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
                    nonisolated(unsafe) let pointer = data
                    MainActor.assumeIsolated {
                        Unmanaged<FrameScript>.fromOpaque(pointer).takeUnretainedValue().action()
                    }
                    return 1
                }, Unmanaged.passUnretained(self).toOpaque(), nil)
        }

        func end() { gtk_widget_remove_tick_callback(widget, tick) }
    }
#endif
