// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageGTK
    import WebImagePrograms

    /// The actions of the keys, buttons, and menus. Each is a GAction.
    extension GalleryWindow {
        func addActions() {
            action("open") { $0.chooseFiles() }
            action("back") { $0.goBack() }
            action("next") { $0.step(by: 1) }
            action("previous") { $0.step(by: -1) }
            action("play") { $0.full.togglePlaying() }
            action("copy") { $0.copy() }
            action("retry") { $0.isFull ? $0.full.view.retry() : $0.grid.retry() }
            action("reload") { $0.reload() }
            action("larger") { window in
                if window.isFull { window.perform("zoom-in") } else { window.model.settings.cellSize += 24 }
            }
            action("smaller") { window in
                if window.isFull { window.perform("zoom-out") } else { window.model.settings.cellSize -= 24 }
            }
            addZoomActions { action($0, $1) }
            action("settings") { gtk_menu_button_popup($0.settingsButton.opaque) }
            action("keys") { ShortcutsWindow.show(over: $0.window) }
            action("fullscreen") { window in
                let pointer = window.window
                gtk_window_is_fullscreen(pointer) != 0
                    ? gtk_window_unfullscreen(pointer) : gtk_window_fullscreen(pointer)
            }
            action("forget-memory") { window in
                window.model.manager.memoryCache.removeAll()
                window.toast.show("Memory cache cleared")
            }
            action("forget-all") { $0.clearAllCaches() }
            // The application ends with its only window.
            action("quit") { gtk_window_close($0.window) }
            toggle("search", { $0.search.isOpen }) { $0.search.isOpen = $1 }
            toggle("figures", { $0.figures.isVisible }) { window, isVisible in
                window.figures.isVisible = isVisible
                WidgetFactory.describe(window.figuresButton, isVisible ? "Hide Statistics" : "Show Statistics")
            }
            search.onOpenChange { [weak self] in self?.setState("search", $0) }
        }

        func updateActions() {
            let count = model.contents.visibleItems.count
            let place = isFull ? index : nil
            enable("back", isFull)
            enable("next", place.map { $0 + 1 < count } ?? false)
            enable("previous", place.map { $0 > 0 } ?? false)
            for name in ["play", "zoom-in", "zoom-out", "zoom-fit", "zoom-actual"] { enable(name, isFull) }
        }

        /// Performs an action by its name. Returns `false` if the action doesn't exist or is disabled.
        @discardableResult
        func perform(_ name: String) -> Bool {
            guard let action = find(name), g_action_get_enabled(action) != 0 else { return false }
            g_action_activate(action, nil)
            return true
        }

        // MARK: - Creating actions

        /// The action map with the prefix `win`. It's created on the first access.
        private var map: OpaquePointer {
            let object = gtkCast(window, to: GObject.self)
            if let group = g_object_get_data(object, "webimage-actions") { return OpaquePointer(group) }
            let group = g_simple_action_group_new()
            let pointer = UnsafeMutableRawPointer(group)
            gtk_widget_insert_action_group(gtkCast(window), "win", OpaquePointer(pointer))
            g_object_set_data_full(object, "webimage-actions", pointer) { data in
                if let data { g_object_unref(data) }
            }
            return pointer.map { OpaquePointer($0) } ?? OpaquePointer(UnsafeMutableRawPointer(window))
        }

        private func find(_ name: String) -> OpaquePointer? { g_action_map_lookup_action(map, name) }

        private func enable(_ name: String, _ isEnabled: Bool) {
            if let action = find(name) { g_simple_action_set_enabled(action, isEnabled ? 1 : 0) }
        }

        private func setState(_ name: String, _ state: Bool) {
            if let action = find(name) { g_simple_action_set_state(action, g_variant_new_boolean(state ? 1 : 0)) }
        }

        private func action(_ name: String, _ body: @escaping @MainActor (GalleryWindow) -> Void) {
            guard let action = g_simple_action_new(name, nil) else { return }
            add(action) { body($0) }
        }

        private func toggle(
            _ name: String, _ get: @escaping @MainActor (GalleryWindow) -> Bool,
            _ set: @escaping @MainActor (GalleryWindow, Bool) -> Void
        ) {
            guard let action = g_simple_action_new_stateful(name, nil, g_variant_new_boolean(get(self) ? 1 : 0)) else {
                return
            }
            add(action) { window in
                let next = !get(window)
                set(window, next)
                window.setState(name, next)
            }
        }

        private func add(_ action: OpaquePointer, _ body: @escaping @MainActor (GalleryWindow) -> Void) {
            onNotify(UnsafeMutableRawPointer(action), "activate") { [weak self] _ in
                if let self { body(self) }
            }
            g_action_map_add_action(map, action)
            g_object_unref(UnsafeMutableRawPointer(action))
        }

        // MARK: - Performing actions

        private func reload() {
            if isFull, let index {
                full.reload(index: index, count: model.contents.visibleItems.count)
            } else {
                grid.reload()
            }
        }

        private func clearAllCaches() {
            Task { [weak self, model] in
                await model.manager.removeAllCachedImages()
                guard let self, !isClosed else { return }
                reload()
                toast.show("Caches cleared")
            }
        }

        private func chooseFiles() {
            let chooser = gtk_file_chooser_native_new(
                "Open Images", window, GTK_FILE_CHOOSER_ACTION_OPEN, "Open", "Cancel")
            guard let chooser else { return }
            gtk_file_chooser_set_select_multiple(chooser, 1)
            let function: @convention(c) (gpointer?, gint, gpointer?) -> Void = { _, response, data in
                guard let data else { return }
                // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
                nonisolated(unsafe) let pointer = data
                MainActor.assumeIsolated { Callback<Int32, Void>.of(pointer)?.call(response) }
            }
            connect(
                UnsafeMutableRawPointer(chooser), "response", unsafeBitCast(function, to: GCallback.self),
                Callback<Int32, Void> { [weak self] response in
                    if response == GTK_RESPONSE_ACCEPT.rawValue, let files = gtk_file_chooser_get_files(chooser) {
                        self?.add(Dropped.addresses(of: files))
                        g_object_unref(UnsafeMutableRawPointer(files))
                    }
                    g_object_unref(UnsafeMutableRawPointer(chooser))
                })
            gtk_native_dialog_show(gtkCast(chooser))
        }
    }
#endif
