// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// A window that lists all keyboard shortcuts.
    @MainActor
    enum KeysWindow {
        private static let groups: [(String, [(String, String)])] = [
            (
                "Everywhere",
                [
                    ("&lt;Control&gt;f", "Search and sort"), ("F9", "Live figures"),
                    ("&lt;Control&gt;comma", "Settings"),
                    ("&lt;Control&gt;o", "Open pictures"), ("&lt;Control&gt;c", "Copy the picture"),
                    ("&lt;Control&gt;r", "Load anew"), ("F11", "Whole screen"), ("&lt;Control&gt;q", "Close"),
                ]
            ),
            (
                "Grid",
                [
                    ("Left Right Up Down", "Go from picture to picture"), ("Return", "Open"),
                    ("&lt;Control&gt;plus &lt;Control&gt;minus", "Larger and smaller cells"),
                ]
            ),
            (
                "One picture",
                [
                    ("Left Right", "Previous and next"), ("Home End", "First and last"), ("space", "Play or pause"),
                    ("plus minus", "Zoom in and out (with the wheel: Ctrl)"), ("0", "All of the picture"),
                    ("1", "A pixel of the picture a pixel of the screen"), ("Escape", "Back to the grid"),
                ]
            ),
        ]

        static func show(over window: UnsafeMutablePointer<GtkWindow>) {
            var text =
                "<interface><object class=\"GtkShortcutsWindow\" id=\"keys\"><property name=\"modal\">1</property>"
            text += "<child><object class=\"GtkShortcutsSection\"><property name=\"section-name\">all</property>"
            for (title, keys) in groups {
                text += "<child><object class=\"GtkShortcutsGroup\"><property name=\"title\">\(title)</property>"
                for (accelerator, what) in keys {
                    text +=
                        "<child><object class=\"GtkShortcutsShortcut\"><property name=\"accelerator\">\(accelerator)"
                    text += "</property><property name=\"title\">\(what)</property></object></child>"
                }
                text += "</object></child>"
            }
            text += "</object></child></object></interface>"
            guard let builder = gtk_builder_new_from_string(text, -1) else { return }
            if let keys = gtk_builder_get_object(builder, "keys") {
                let pointer = UnsafeMutableRawPointer(keys).assumingMemoryBound(to: GtkWindow.self)
                gtk_window_set_transient_for(pointer, window)
                gtk_window_present(pointer)
            }
            g_object_unref(UnsafeMutableRawPointer(builder))
        }
    }
#endif
