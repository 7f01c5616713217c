// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImageGTK
    import WebImagePrograms

    /// Keys and pointer events in the large view, in which arrow keys have another meaning than in the grid.
    extension GalleryWindow {
        /// Returns the action for a key in the large view, or `nil` if it has none.
        static func action(forKey key: UInt32) -> String? {
            switch Int32(bitPattern: key) {
            case GDK_KEY_Right, GDK_KEY_KP_Right, GDK_KEY_Page_Down, GDK_KEY_Down: "next"
            case GDK_KEY_Left, GDK_KEY_KP_Left, GDK_KEY_Page_Up, GDK_KEY_Up: "previous"
            case GDK_KEY_Home: "first"
            case GDK_KEY_End: "last"
            case GDK_KEY_Escape, GDK_KEY_BackSpace: "back"
            case GDK_KEY_space: "play"
            case GDK_KEY_plus, GDK_KEY_equal, GDK_KEY_KP_Add: "zoom-in"
            case GDK_KEY_minus, GDK_KEY_KP_Subtract: "zoom-out"
            case GDK_KEY_0, GDK_KEY_KP_0: "zoom-fit"
            case GDK_KEY_1, GDK_KEY_KP_1: "zoom-actual"
            default: nil
            }
        }

        func addKeys() {
            let last = { [weak self] in (self?.model.contents.visibleItems.count ?? 0) - 1 }
            onKey(gtkCast(window)) { [weak self] key, hasModifiers in
                guard let self, isFull, !hasModifiers, !search.hasFocus else { return false }
                // If a part of the image is hidden, arrow keys pan the image.
                if full.area.zoom.isCut, let way = Self.pan(forKey: key) {
                    full.area.change { $0.pan(x: way.x, y: way.y) }
                    return true
                }
                switch Self.action(forKey: key) {
                case "first"?: open(0)
                case "last"?: open(last())
                case "play"?: full.togglePlaying()
                case let name?: perform(name)
                case nil: return false
                }
                return true
            }
            gtk_widget_set_focusable(full.widget, 1)
            onClick(full.widget, button: 8) { [weak self] in self?.goBack() }
            onClick(full.widget, button: 2) { [weak self] in self?.goBack() }
            onScroll(full.widget) { [weak self] in self?.step(by: $0) }
            addZooming()
        }

        /// Handles keys before the focused widget receives them.
        private func onKey(_ widget: Widget, _ action: @escaping (UInt32, Bool) -> Bool) {
            guard let keys = gtk_event_controller_key_new() else { return }
            gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
            let function: @convention(c) (gpointer?, guint, guint, GdkModifierType, gpointer?) -> gboolean = {
                _, key, _, modifiers, data in
                guard let data else { return 0 }
                // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
                nonisolated(unsafe) let pointer = data
                let held = GDK_CONTROL_MASK.rawValue | GDK_ALT_MASK.rawValue | GDK_SUPER_MASK.rawValue
                let hasModifiers = modifiers.rawValue & held != 0
                return MainActor.assumeIsolated {
                    Callback<(UInt32, Bool), Bool>.of(pointer)?.call((key, hasModifiers)) ?? false
                } ? 1 : 0
            }
            connect(
                UnsafeMutableRawPointer(keys), "key-pressed", unsafeBitCast(function, to: GCallback.self),
                Callback<(UInt32, Bool), Bool> { action($0.0, $0.1) })
            gtk_widget_add_controller(widget, keys)
        }

        private func onClick(_ widget: Widget, button: UInt32, _ action: @escaping () -> Void) {
            guard let click = gtk_gesture_click_new() else { return }
            gtk_gesture_single_set_button(click, button)
            let function: @convention(c) (gpointer?, gint, Double, Double, gpointer?) -> Void = { _, _, _, _, data in
                guard let data else { return }
                // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
                nonisolated(unsafe) let pointer = data
                MainActor.assumeIsolated { Callback<Void, Void>.of(pointer)?.call(()) }
            }
            connect(
                UnsafeMutableRawPointer(click), "pressed", unsafeBitCast(function, to: GCallback.self),
                Callback<Void, Void> { action() })
            gtk_widget_add_controller(widget, click)
        }

        /// Moves by one image for each notch of the scroll wheel.
        private func onScroll(_ widget: Widget, _ action: @escaping (Int) -> Void) {
            let flags = GtkEventControllerScrollFlags(
                rawValue: GTK_EVENT_CONTROLLER_SCROLL_VERTICAL.rawValue | GTK_EVENT_CONTROLLER_SCROLL_DISCRETE.rawValue)
            guard let scroll = gtk_event_controller_scroll_new(flags) else { return }
            let function: @convention(c) (gpointer?, Double, Double, gpointer?) -> gboolean = { _, _, down, data in
                guard let data else { return 0 }
                // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
                nonisolated(unsafe) let pointer = data
                MainActor.assumeIsolated { Callback<Double, Void>.of(pointer)?.call(down) }
                return 1
            }
            connect(
                UnsafeMutableRawPointer(scroll), "scroll", unsafeBitCast(function, to: GCallback.self),
                Callback<Double, Void> { down in if down != 0 { action(down > 0 ? 1 : -1) } })
            gtk_widget_add_controller(widget, scroll)
        }
    }
#endif
