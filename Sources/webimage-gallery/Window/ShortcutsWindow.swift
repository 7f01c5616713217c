// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImageGTK

    /// A window that lists all keyboard shortcuts.
    @MainActor
    enum ShortcutsWindow {
        private static let groups: [(String, [(String, String)])] = [
            (
                "General",
                [
                    ("&lt;Control&gt;f", "Search"), ("F9", "Show Statistics"),
                    ("&lt;Control&gt;comma", "Preferences"),
                    ("&lt;Control&gt;o", "Open"), ("&lt;Control&gt;c", "Copy"),
                    ("&lt;Control&gt;r", "Reload"), ("F11", "Fullscreen"),
                    ("&lt;Control&gt;question", "Keyboard Shortcuts"), ("&lt;Control&gt;w", "Close Window"),
                    ("&lt;Control&gt;q", "Quit"),
                ]
            ),
            (
                "Grid",
                [
                    ("Left Right Up Down", "Select Image"), ("Return", "Open Image"),
                    ("&lt;Control&gt;plus &lt;Control&gt;minus", "Increase or Decrease Thumbnail Size"),
                ]
            ),
            (
                "Image",
                [
                    ("Left Right", "Previous or Next Image"), ("Home End", "First or Last Image"),
                    ("space", "Play or Pause"),
                    ("plus minus", "Zoom In or Out"), ("0", "Best Fit"),
                    ("1", "Original Size"), ("Escape", "Back to Grid"),
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
                let pointer = gtkCast(keys, to: GtkWindow.self)
                gtk_window_set_transient_for(pointer, window)
                gtk_window_present(pointer)
            }
            g_object_unref(UnsafeMutableRawPointer(builder))
        }
    }
#endif
