// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// An object that recognizes all gestures and keys that open the context menu of a widget.
    @MainActor
    final class ContextMenuGesture {
        var action: (@MainActor (_ x: Double, _ y: Double) -> Void)?

        private struct Request {
            let gesture: OpaquePointer?
            let x: Double
            let y: Double
        }

        init(_ widget: UnsafeMutablePointer<GtkWidget>) {
            let pressed = SignalAction<Request> { [self] ask in
                guard let action else { return }
                if let gesture = ask.gesture { gtk_gesture_set_state(gesture, GTK_EVENT_SEQUENCE_CLAIMED) }
                action(ask.x, ask.y)
            }
            if let click = gtk_gesture_click_new() {
                gtk_gesture_single_set_button(click, guint(GDK_BUTTON_SECONDARY))
                let handler: @convention(c) (OpaquePointer?, gint, Double, Double, gpointer?) -> Void = {
                    gesture, _, x, y, data in
                    ContextMenuGesture.notify(gesture, x, y, data)
                }
                connect(
                    UnsafeMutableRawPointer(click), "pressed", unsafeBitCast(handler, to: GCallback.self),
                    action: pressed)
                gtk_widget_add_controller(widget, click)
            }
            if let press = gtk_gesture_long_press_new() {
                gtk_gesture_single_set_touch_only(press, 1)
                let handler: @convention(c) (OpaquePointer?, Double, Double, gpointer?) -> Void = {
                    gesture, x, y, data in
                    ContextMenuGesture.notify(gesture, x, y, data)
                }
                connect(
                    UnsafeMutableRawPointer(press), "pressed", unsafeBitCast(handler, to: GCallback.self),
                    action: pressed)
                gtk_widget_add_controller(widget, press)
            }
            connectKeys(widget)
        }

        nonisolated private static func notify(_ gesture: OpaquePointer?, _ x: Double, _ y: Double, _ data: gpointer?) {
            // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
            nonisolated(unsafe) let gesture = gesture
            // Safe: as for the gesture.
            nonisolated(unsafe) let data = data
            MainActor.assumeIsolated { SignalAction<Request>.of(data)?.call(Request(gesture: gesture, x: x, y: y)) }
        }

        private func connectKeys(_ widget: UnsafeMutablePointer<GtkWidget>) {
            guard let keys = gtk_event_controller_key_new() else { return }
            let pressed = SignalAction<Request> { [self] ask in
                // The event controller belongs to the widget and emits this signal, so the widget exists.
                guard let widget = ask.gesture.flatMap({ gtk_event_controller_get_widget($0) }) else { return }
                action?(Double(gtk_widget_get_width(widget)) / 2, Double(gtk_widget_get_height(widget)) / 2)
            }
            let handler: @convention(c) (OpaquePointer?, guint, guint, GdkModifierType, gpointer?) -> gboolean = {
                keys, value, _, modifiers, data in
                let isMenu = value == guint(GDK_KEY_Menu)
                let isShiftF10 = value == guint(GDK_KEY_F10) && modifiers.rawValue & GDK_SHIFT_MASK.rawValue != 0
                guard isMenu || isShiftF10 else { return 0 }
                ContextMenuGesture.notify(keys, 0, 0, data)
                return 1
            }
            connect(
                UnsafeMutableRawPointer(keys), "key-pressed", unsafeBitCast(handler, to: GCallback.self),
                action: pressed)
            gtk_widget_add_controller(widget, keys)
        }
    }
#endif
