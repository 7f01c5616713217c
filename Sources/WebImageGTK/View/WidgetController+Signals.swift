// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageUI

    extension WidgetController {
        /// Connects the signal handlers. They're disconnected with the widget, before it releases this controller,
        /// which is their user data.
        func connectSignals() {
            let widget = UnsafeMutableRawPointer(widget)
            let mapping: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
                WidgetController.isolated(data) { $0.mappingChanged() }
            }
            connect(widget, "map", unsafeBitCast(mapping, to: GCallback.self), unretained)
            // Run after the default handler of the class, which unmaps the widget.
            g_signal_connect_data(
                widget, "unmap", unsafeBitCast(mapping, to: GCallback.self), unretained, nil, G_CONNECT_AFTER)
            let destroy: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
                WidgetController.isolated(data) { $0.destroyed() }
            }
            connect(widget, "destroy", unsafeBitCast(destroy, to: GCallback.self), unretained)
            let scale: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, _, data in
                WidgetController.isolated(data) { $0.scaleChanged() }
            }
            connect(widget, "notify::scale-factor", unsafeBitCast(scale, to: GCallback.self), unretained)
            let state: @convention(c) (gpointer?, guint, gpointer?) -> Void = { _, _, data in
                WidgetController.isolated(data) { controller in
                    controller.updateAdapter()
                    controller.accessibility.stateChanged()
                }
            }
            connect(widget, "state-flags-changed", unsafeBitCast(state, to: GCallback.self), unretained)
            let direction: @convention(c) (gpointer?, GtkTextDirection, gpointer?) -> Void = { _, _, data in
                WidgetController.isolated(data) { $0.redrawAll() }
            }
            connect(widget, "direction-changed", unsafeBitCast(direction, to: GCallback.self), unretained)
            connectClick()
        }

        private func connectClick() {
            guard let click = gtk_gesture_click_new() else { return }
            let released: @convention(c) (OpaquePointer?, gint, Double, Double, gpointer?) -> Void = {
                gesture, _, _, _, data in
                // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
                nonisolated(unsafe) let gesture = gesture
                WidgetController.isolated(data) { controller in
                    guard controller.clicked(), let gesture else { return }
                    gtk_gesture_set_state(gesture, GTK_EVENT_SEQUENCE_CLAIMED)
                }
            }
            connect(UnsafeMutableRawPointer(click), "released", unsafeBitCast(released, to: GCallback.self), unretained)
            gtk_widget_add_controller(widget, click)
        }

        /// Retries failed loads after a click or a key. Returns `false` if there's nothing to retry.
        func clicked() -> Bool {
            let failed = failedSlots
            guard retriesOnClick, !failed.isEmpty else { return false }
            accessibility.userRetries()
            retry(failed)
            return true
        }

        var failedSlots: [ImageSlot] {
            binders.slots.filter { slot in
                if case .failed = binders[slot].snapshot.state { return true }
                return false
            }
        }
    }
#endif
