// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Glibc
    import WebImage
    import WebImageGTK
    import WebImagePrograms

    /// The GtkApplication. It opens the window, defines the keyboard shortcuts, and handles signals.
    @MainActor
    final class GalleryApplication {
        private let application: UnsafeMutablePointer<GtkApplication>
        private let model: GalleryModel
        private var window: GalleryWindow?
        private var rest: IdleMeasurement?
        private var scroll: ScrollMeasurement?
        private var signals: [guint] = []

        init(_ model: GalleryModel) {
            self.model = model
            // Run every gallery in its own process, because each has its own command line.
            application = gtk_application_new("org.webimage.Gallery", G_APPLICATION_NON_UNIQUE)
        }

        func run() -> Int32 {
            var status = ExitStatus.ok
            on(UnsafeMutableRawPointer(application), "activate") { [weak self] _ in self?.open() }
            for (number, code) in [(SIGINT, ExitStatus.interrupted), (SIGTERM, ExitStatus.terminated)] {
                let source = g_unix_signal_add_full(
                    G_PRIORITY_DEFAULT, number,
                    { data in
                        // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
                        nonisolated(unsafe) let pointer = data
                        MainActor.assumeIsolated { Callback<Void, Void>.of(pointer)?.call(()) }
                        return 1
                    },
                    Callback<Void, Void> { [weak self] in
                        status = code
                        self?.window?.close()
                        if let self {
                            g_application_quit(gtkCast(application))
                        }
                    }.retained,
                    { data in
                        if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
                    })
                signals.append(source)
            }
            let result = g_application_run(gtkCast(application), 0, nil)
            for source in signals { g_source_remove(source) }
            window = nil
            rest = nil
            scroll = nil
            g_object_unref(UnsafeMutableRawPointer(application))
            return result == 0 ? status : ExitStatus.failed
        }

        private func open() {
            if let window { return window.present() }
            Style.install()
            gtk_window_set_default_icon_name("org.webimage.Gallery")
            for (action, keys) in Self.keys {
                var names = keys.map { strdup($0).map { UnsafePointer($0) } } + [nil]
                gtk_application_set_accels_for_action(application, action, &names)
                for name in names { free(UnsafeMutableRawPointer(mutating: name)) }
            }
            let window = GalleryWindow(model, application: application)
            self.window = window
            scroll = ScrollMeasurement.requested(of: window)
            window.present()
            rest = IdleMeasurement.requested(of: window)
        }

        /// The keyboard shortcuts of the whole window. The large view handles its own keys.
        static let keys: [(action: String, keys: [String])] = [
            ("win.search", ["<Control>f"]), ("win.figures", ["F9"]), ("win.settings", ["<Control>comma", "F10"]),
            ("win.copy", ["<Control>c"]), ("win.reload", ["<Control>r", "F5"]),
            ("win.larger", ["<Control>plus", "<Control>equal"]),
            ("win.smaller", ["<Control>minus"]), ("win.fullscreen", ["F11"]),
            ("win.keys", ["F1", "<Control>question"]),
            ("win.open", ["<Control>o"]), ("window.close", ["<Control>w"]), ("win.quit", ["<Control>q"]),
        ]
    }
#endif
